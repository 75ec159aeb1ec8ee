"""Runs tests with many seeds of OPENREG_SCHEDULE, which order the threads of the simulated device: scripts/nightly.sh schedules.

seeds.py TREE PROGRAM ... [--seeds 1000] [--first 0] [--plain] [--limit 120]        run by the backend's Python

A program is `device`, `allocator` or `runtime`, C++ tests of a tree that is installed with -DOPENREG_BUILD_TESTS=ON, or a file of its
Python tests. Each run is a process. A seed that fails is printed with the tests that failed; OPENREG_SCHEDULE=SEED runs it again. With
--plain the threads run as they like, for comparison.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import programs


class Failure(NamedTuple):
    seed: int  # or the number of the run
    how: str
    said: str

    def tests(self) -> list[str]:
        """The tests of GoogleTest or pytest that failed."""
        return re.findall(r"^(?:\[  FAILED  \] |FAILED )([\w./:\[\]-]+)(?= \(\d+ ms\)| - |$)", self.said, re.MULTILINE)


def run(command: list[str], seed: int, plain: bool, limit: float) -> Failure | None:
    environment = {**os.environ, **programs.SETTINGS}
    environment.pop("OPENREG_SCHEDULE", None)
    if not plain:
        environment["OPENREG_SCHEDULE"] = str(seed)
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            said, _ = process.communicate()
            return Failure(seed, f"it took more than {limit:g} s", said)
        except BaseException:
            os.killpg(process.pid, 9)
            raise
    if process.returncode == 0:
        return None
    return Failure(
        seed, f"signal {-process.returncode}" if process.returncode < 0 else f"it ended with {process.returncode}", said
    )


def run_seeds(command: list[str], seeds: range, plain: bool = False, limit: float = 120) -> list[Failure]:
    """In as many processes as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(run, command, seed, plain, limit) for seed in seeds]
        try:
            return [failure for each in futures if (failure := each.result()) is not None]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument(
        "program", nargs="+", help=f"{', '.join(programs.PROGRAMS)}, or a file such as tests/test_streams.py"
    )
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="without seeds")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one run may take")
    given = parser.parse_args()
    status = 0
    for program in given.program:
        command = programs.command(program, given.tree.resolve())
        failures = run_seeds(command, range(given.first, given.first + given.seeds), given.plain, given.limit)
        for failure in failures:
            print(f"seed {failure.seed}: {failure.how}: {', '.join(failure.tests()) or failure.said[-2000:]}")
        if failures:
            print(failures[0].said[-4000:])
            status = 1
        print(f"figures: {program}: {given.seeds} seeds, {len(failures)} failed", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
