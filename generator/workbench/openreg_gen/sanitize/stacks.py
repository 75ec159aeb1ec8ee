"""Stacks of the user's code, cheap to take: text is made when a race is reported."""

import linecache
import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

import torch

from ..trace.places import is_users

MOST = 32  # frames of a stack that are kept

_users: dict[str, bool] = {}


class Stack(NamedTuple):
    frames: tuple[tuple[CodeType, int], ...]
    """The user's functions and the lines that run, the innermost first."""
    node: str
    """The node of autograd that runs; "" outside of backward."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the innermost frame; the node's name where there is none."""
        if not self.frames:
            return self.node, 0
        code, line = self.frames[0]
        return code.co_filename, line

    def lines(self, most: int) -> list[str]:
        """ "train.py:12 in forward: y = x + 1", the innermost first."""
        found = [f"in backward, {self.node}"] if self.node else []
        for code, line in self.frames[:most]:
            text = linecache.getline(code.co_filename, line).strip()
            name = "" if code.co_name == "<module>" else f" in {code.co_name}"
            found.append(f"{_short(code.co_filename)}:{line}{name}" + (f": {text}" if text else ""))
        if len(self.frames) > most:
            found.append(f"and {len(self.frames) - most} more; --frames {len(self.frames)} shows them")
        return found or ["outside of Python code"]


def take() -> Stack:
    """The stack of the calling thread."""
    frames: list[tuple[CodeType, int]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(frames) < MOST:
        code = frame.f_code
        users = _users.get(code.co_filename)
        if users is None:
            users = _users[code.co_filename] = is_users(code.co_filename)
        if users:
            frames.append((code, frame.f_lineno))
        frame = frame.f_back
    node = torch._C._current_autograd_node()
    return Stack(tuple(frames), "" if node is None else node.name())


def _short(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
