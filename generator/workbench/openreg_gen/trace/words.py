"""How places, paths and errors are written in answers and in the terminal."""

import os
import re

from .code import EXPRESSION
from .events import Place


def short(path: str) -> str:
    """A path that fits a line: without the folders that PyTorch was built or is installed in."""
    for mark in ("/pytorch/pytorch/", "/site-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def at(place: Place | None) -> str:
    """A line of the user's code as text: "`a + b` (train.py:3)"."""
    if place is None:
        return "PyTorch's own code"
    if place.file == EXPRESSION and place.text:
        return f"`{place.text}`"
    where = f"{short(place.file)}:{place.line}"
    return f"`{place.text}` ({where})" if place.text else where


def first_sentence(text: str) -> str:
    """The start of an error's text, before advice and lists: its first line, to the first full stop."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return re.split(r"\.\s", line, maxsplit=1)[0].strip()
