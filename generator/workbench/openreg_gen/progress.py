"""A line of progress: a bar in a terminal, elsewhere a line now and then."""

import sys
import time


class Progress:
    """`total` may grow while it runs."""

    def __init__(self, label: str, total: int, unit: str) -> None:
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.begun = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.next_line = 0.1

    def step(self, at: str, counts: str, steps: int = 1) -> None:
        """So many more are done; `at`: what was done last, `counts`: what was found so far."""
        self.done += steps
        part = min(self.done / max(self.total, 1), 1)
        seconds = time.monotonic() - self.begun
        left = seconds / part - seconds if part else 0
        text = f"{self.done}/{self.total} {self.unit}, {counts}, {seconds:.0f} s, {left:.0f} s left"
        if self.terminal:
            bar = "█" * round(part * 24)
            print(f"\r{self.label} {bar:░<24} {text}  {at[:40]:40}", end="", file=sys.stderr, flush=True)
        elif part >= self.next_line or self.done == self.total:
            self.next_line = part + 0.1
            print(f"{self.label}: {text}", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.terminal and self.done:
            print(file=sys.stderr)
