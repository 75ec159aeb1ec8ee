"""Why a test fails: a category, and the first line of the error.

The rules read the error's type and text, and the line of the test file that raised it. They are a first sorting, from which a person
goes on: an error that no rule knows is "other", and none is hidden.
"""

import re
import traceback
import unittest
from collections.abc import Sequence

CRASH, TIME_OUT = "crash", "time-out"
CATEGORIES = {
    CRASH: "the process ended",
    TIME_OUT: "no answer in time",
    "import": "the file can't be imported, or a class not be set up",
    "missing operator": "the backend doesn't have the operator",
    "dtype": "the operator doesn't take the dtype",
    "wrong value": "results differ a lot",
    "tolerance": "results differ a little",
    "error text": "an error is not raised, or has another text",
    "hard-coded device": "the test names a device that is not this one",
    "CUDA only": "the test uses torch.cuda",
    "other": "everything else",
}
# Above it, the difference isn't rounding: a relative difference of results.
LITTLE = 0.05

_DTYPE = re.compile(
    r"not implemented for '\w+'|dtypes?\b.{0,80}\b(not|n't|incorrect|unsupported)\b|unsupported.{0,30}\b(dtype|ScalarType)"
    r"|\b(doesn't|does not|not) support\w*\b.{0,60}\b(dtype|float\w*|bfloat16|half|complex\w*|u?int\d+|bool)\b|expected scalar type"
    r"|values for attribute 'dtype' do not match",
    re.I,
)
_MISSING = re.compile(
    r"Could not run '\w+::|not (currently )?implemented for the|no kernel|has no (kernel|implementation)|not registered"
    r"|unsupported operator|operator .{0,80}(isn't|is not|not) (supported|implemented)",
    re.I,
)
_TEXT = re.compile(r'" does not match "|\bnot raised\b|not triggered|does not match expected', re.S)
_VALUES = re.compile(r"are not (close|equal)|not allclose|not almost equal|jacobian mismatch", re.I)
_CUDA_MISSING = re.compile(
    r"not compiled with CUDA|no NVIDIA|CUDA (driver|error)|libcuda|no CUDA GPUs|torch\.cuda|_cuda_", re.I
)
_DEVICES = re.compile(
    r"same device|values for attribute 'device' do not match|different device|device type .{0,40}(cuda|cpu|generator)"
    r"|expected a?n? ?'?\w+'? device type|device\(type='",
    re.I,
)
_NAMED_DEVICE = re.compile(
    r"""device\s*[=(]\s*f?["'](cuda|xpu|mps|cpu)|\.to\(\s*["'](cuda|cpu|xpu)|\.cuda\(\)|["'](cuda|xpu|mps)(:\d+)?["']"""
)
_RELATIVE = re.compile(r"(?:Greatest relative|Relative) difference: ([\d.einfa+-]+)")


def first_line(error: BaseException) -> str:
    """The type and the first line of what an error says, and how much values differ."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    more = [line for line in lines[1:] if _RELATIVE.match(line)]
    return f"{type(error).__name__}: {' '.join([lines[0], *more[:1]])}"[:400]


def last_words(detail: str, root: str) -> str:
    """Of a crash or a hang: how it ended, and the innermost frame."""
    parts = [part for part in detail.split(" | ") if not part.startswith("Current thread")]
    frame = next((i for i, part in enumerate(parts) if part.startswith("File ")), len(parts))
    return " | ".join(parts[: frame + 1]).replace(root.rstrip("/") + "/", "")


def categorize(error: BaseException, source: Sequence[str] = ()) -> str:
    """The category of an error; `source`: the lines of the test file that it passed through, the innermost last."""
    text, line = str(error), source[-1] if source else ""
    if isinstance(error, ImportError) and not source:
        return "import"
    if _CUDA_MISSING.search(text) or "torch.cuda." in line:
        return "hard-coded device" if _NAMED_DEVICE.search(line) and "torch.cuda." not in line else "CUDA only"
    if isinstance(error, AssertionError) and _TEXT.search(text):
        return "error text"
    if "values for attribute 'device' do not match" in text:
        return "hard-coded device" if _NAMED_DEVICE.search(line) or " != cpu" in text or "cpu !=" in text else "other"
    if _DTYPE.search(text):
        return "dtype"
    if isinstance(error, NotImplementedError) or _MISSING.search(text):
        return "missing operator"
    if isinstance(error, (AssertionError, RuntimeError)) and _VALUES.search(text):
        return "tolerance" if _little(text) else "wrong value"
    if _DEVICES.search(text) and (_NAMED_DEVICE.search(line) or "device=" not in line):
        return "hard-coded device"
    return "other"


def _little(text: str) -> bool:
    try:
        return any(float(number) <= LITTLE for number in _RELATIVE.findall(text))
    except ValueError:
        return False


def lines_of(error: BaseException, file: str) -> list[str]:
    """The lines of a file that an error passed through, the innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.line or "" for frame in frames if frame.filename == file]


def root(error: BaseException) -> BaseException:
    """The error that a test failed by. PyTorch's OpInfo tests raise another one from it, which names the sample."""
    seen: set[int] = set()
    while (
        isinstance(error.__cause__, BaseException)
        and id(error) not in seen
        and not isinstance(error, unittest.SkipTest)
    ):
        seen.add(id(error))
        if "Caused by sample input" not in str(error) and "Caused by reference input" not in str(error):
            break
        error = error.__cause__
    return error
