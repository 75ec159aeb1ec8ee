"""A probe: one call of an interface of PyTorch's on a device, and what became of it."""

import re
from collections.abc import Callable
from typing import NamedTuple

ANSWERS, MISSING, WRONG, CRASHES, HANGS, INAPPLICABLE = (
    "answers",
    "not implemented",
    "wrong",
    "crashes",
    "hangs",
    "does not apply",
)
VERDICTS = (ANSWERS, MISSING, WRONG, CRASHES, HANGS, INAPPLICABLE)


class Probe(NamedTuple):
    """One call.

    name: the interface as a user of PyTorch writes it; unique among all probes.
    call: takes the device type; returns what it saw, in a few words. It raises whatever the backend raises, Wrong for an
        answer that can't be right, and Inapplicable where the device has no such thing.
    needs: what of PyTorch does not work without it.
    provide: what the backend has to implement, as PyTorch calls it.
    """

    group: str
    name: str
    call: Callable[[str], object]
    needs: str
    provide: str


class Outcome(NamedTuple):
    """What became of a probe; `message` is its answer, or what was raised."""

    verdict: str
    message: str


class Wrong(Exception):
    """The interface answered, and the answer can't be right."""


class Inapplicable(Exception):
    """The device does not have this feature, and doesn't need it."""


_NOT_IMPLEMENTED = re.compile(
    r"not implemented|n't implement|not supported|n't support|unsupported|should register|has not been registered"
    r"|not registered|n't registered|no kernel|Could not run|has no attribute|is missing|no backend|needs? to be registered"
    r"|not available|must be registered|must register|Please register|is not a DeviceAllocator|Unknown device type",
    re.IGNORECASE,
)


def first_line(text: str) -> str:
    """A message of PyTorch's without its C++ stack trace, its advice and the list of all dispatch keys."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    line = lines[0].partition(" This could be because")[0] if lines else ""
    line = line.partition("please report a bug to PyTorch. ")[2] or line  # of an internal assertion, what it says
    return line if len(line) <= 400 else line[:397] + "..."


def run(probe: Probe, kind: str) -> Outcome:
    """Call it here. Crashes and calls without an end are seen by the parent process alone."""
    try:
        return Outcome(ANSWERS, first_line(str(probe.call(kind))))
    except Inapplicable as error:
        return Outcome(INAPPLICABLE, str(error))
    except Wrong as error:
        return Outcome(WRONG, str(error))
    except Exception as error:  # foreign code raises whatever it likes
        return judge(error)


def says_missing(text: str) -> bool:
    """Whether an error says that something is not implemented."""
    return _NOT_IMPLEMENTED.search(text) is not None


def judge(error: BaseException) -> Outcome:
    """NotImplementedError, and messages that say as much, are "not implemented"; anything else that is raised is "wrong"."""
    text = first_line(str(error)) or type(error).__name__
    missing = isinstance(error, (NotImplementedError, AttributeError, ImportError))
    if missing or says_missing(str(error)):
        return Outcome(MISSING, text)
    return Outcome(WRONG, f"{type(error).__name__}: {text}")
