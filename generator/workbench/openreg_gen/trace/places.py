"""Which line of the user's code a call comes from."""

import linecache
import os
import sys
from itertools import islice
from types import CodeType, FrameType, TracebackType

import torch

from .code import EXPRESSION
from .events import Place

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep


def is_users(file: str) -> bool:
    """Whether a file belongs to the user, rather than to PyTorch, to the trace or to Python's start of a script."""
    if file == EXPRESSION:
        return True
    if file.startswith(_PYTHON) and "site-packages" not in file and "dist-packages" not in file:
        return False
    return not file.startswith((_TORCH, _OWN, "<"))


def caller() -> Place | None:
    """The innermost line of the user's code that is running in this thread; None in a thread of PyTorch's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else _place(frame.f_code, frame.f_lineno, frame.f_lasti)


def of_error(error: BaseException) -> Place | None:
    """The innermost line of the user's code that an exception passed through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = _of_traceback(trace)
        trace = trace.tb_next
    return found


def _of_traceback(trace: TracebackType) -> Place:
    return _place(trace.tb_frame.f_code, trace.tb_lineno, trace.tb_lasti)


def _place(code: CodeType, line: int, instruction: int) -> Place:
    return Place(code.co_filename, line, code.co_name, _text(code, line, instruction))


def _text(code: CodeType, line: int, instruction: int) -> str:
    """What stands in the code where an instruction comes from ("a + b"); "" where Python does not say, before 3.11."""
    if not hasattr(code, "co_positions"):
        return ""
    first, last, start, end = next(islice(code.co_positions(), instruction // 2, None))
    if first is None or start is None or end is None:
        return ""
    if last != first:
        return linecache.getline(code.co_filename, first).strip()
    source = linecache.getline(code.co_filename, first).encode()  # columns count bytes
    return source[start:end].decode(errors="replace")
