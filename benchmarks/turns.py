"""Times several sides in turns, in one process, so that other load on the machine affects all of them."""

import time


def timed(fn, wait, repeat: int) -> float:
    """Seconds for each of `repeat` calls, with one wait at their end."""
    start = time.perf_counter()
    for _ in range(repeat):
        fn()
    wait()
    return (time.perf_counter() - start) / repeat


def compare(sides, repeat: int, rounds: int) -> list[float]:
    """The best round of each side, a function and how to wait for it; the first calls are not counted."""
    best = [float("inf")] * len(sides)
    for fn, wait in sides:
        timed(fn, wait, 1)
    for _ in range(rounds):
        for i, (fn, wait) in enumerate(sides):
            best[i] = min(best[i], timed(fn, wait, repeat))
    return best
