"""Runs commands and keeps the operating system's figures about them."""

import dataclasses
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable


@dataclasses.dataclass
class Sample:
    wall: float  # seconds
    cpu: float  # seconds, user and system, with the children it waited for
    memory: float  # MiB, largest resident set of the process itself


def run(argv, cwd=None, env=None, codes=(0,)) -> Sample:
    """Runs a command to its end; raises with its output if its exit code is not in `codes`."""
    argv = [str(a) for a in argv]
    env = {key: str(value) for key, value in (env or {}).items()}
    start = time.perf_counter()
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(argv)} ended with {process.returncode}:\n{output}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class Table:
    def __init__(self, title: str):
        self.title = title
        self.rows = []

    def measure(self, name: str, once: Callable[[], Sample], runs: int, against: float | None = None) -> float:
        """Adds a row; `against` is the median wall time that the ratio is to. Returns this row's median."""
        once()
        samples = [once() for _ in range(runs)]
        walls = [s.wall for s in samples]
        median = statistics.median(walls)
        ratio = f"{median / against:.1f}x" if against else ""
        cpu = statistics.median(s.cpu for s in samples)
        memory = max(s.memory for s in samples)
        spread = f"{min(walls):.3f}..{max(walls):.3f}"
        self.rows.append((name, f"{median:.3f}", spread, f"{cpu:.3f}", f"{memory:.0f}", ratio))
        print(f"  {name}: {median:.3f} s", file=sys.stderr)
        return median

    def note(self, name: str, value: str) -> None:
        self.rows.append((name, value, "", "", "", ""))

    def print(self, out) -> None:
        heads = (self.title, "wall s (median)", "min..max", "cpu s", "peak MiB", "ratio")
        widths = [max(len(str(row[i])) for row in [heads, *self.rows]) for i in range(len(heads))]
        for row in [heads, tuple("-" * w for w in widths), *self.rows]:
            cells = [
                str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
            ]
            print("  ".join(cells).rstrip(), file=out)
        print(file=out)
