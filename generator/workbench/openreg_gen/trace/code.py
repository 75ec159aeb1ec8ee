"""The code that is traced: an expression, whose free names become tensors, or a script with its arguments."""

import ast
import builtins
import contextlib
import importlib
import linecache
import re
import runpy
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..device import DeviceError, first_line
from ..exits import program

EXPRESSION = "<expression>"
# Modules by the names that people have for them.
_MODULES = {name: name for name in ("math", "os", "random", "sys", "time")} | {
    "np": "numpy",
    "functional": "torch.nn.functional",
    "optim": "torch.optim",
}


class CodeError(Exception):
    """Code that can't be traced; the text says where it is wrong, and the hint what to do."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class ScriptExit(Exception):
    """A script called sys.exit() with something other than 0; the cause is the SystemExit."""


@dataclass(frozen=True)
class Shape:
    """The shape and dtype of the tensor that a free name becomes."""

    sizes: tuple[int, ...] = (4, 4)
    dtype: torch.dtype = torch.float32


@dataclass(frozen=True)
class Code:
    """Something to run under a trace. `inputs` are tensors by the names that the code has for them."""

    kind: str  # "expression" or "script"
    text: str
    file: str
    arguments: tuple[str, ...]
    inputs: Mapping[str, torch.Tensor]
    run: Callable[[], object]


def parse_shape(word: str) -> tuple[str, Shape]:
    """`2x3`, `a=2x3` or `a=2x3:int64`, as a name ("" for all) and a shape. `scalar` is a tensor of no dimensions.

    Raises CodeError for anything else.
    """
    match = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?(scalar|\d+(?:x\d+)*)(?::(\w+))?", word)
    dtype = getattr(torch, match[3] or "float32", None) if match else None
    if match is None:
        raise CodeError(f"--shape {word}: is not a shape", "write 2x3, a=2x3, a=2x3:int64 or a=scalar")
    if not isinstance(dtype, torch.dtype):
        raise CodeError(f"--shape {word}: PyTorch has no dtype {match[3]}", "such as float32, bfloat16 or int64")
    sizes = () if match[2] == "scalar" else tuple(int(size) for size in match[2].split("x"))
    return match[1] or "", Shape(sizes, dtype)


def expression(text: str, device: str, shapes: Mapping[str, Shape], grad: bool) -> Code:
    """Python code whose free names are made as tensors on the device; `torch`, `F` and `nn` are there.

    shapes: by name; "" is for the names that have no shape of their own. grad: floating-point tensors require a gradient;
    they do in any case where the code calls for one (`backward`, `grad`).
    Raises CodeError for a syntax error, for a free name that is used as no tensor is (`relu(a)`), or a shape of a name that the code
    does not have; DeviceError if the device can't hold
    the tensors.
    """
    tree = _parse(text)
    names = free_names(tree)
    _check_uses(tree, names, text, device)
    unknown = sorted(set(shapes) - set(names) - {""})
    if unknown:
        raise CodeError(f"--shape {unknown[0]}=...: {text!r} has no free name {unknown[0]!r}", _names_hint(names))
    grad = grad or bool(re.search(r"\b(backward|grad)\(", text))
    generator = torch.Generator().manual_seed(0)
    inputs = {name: _tensor(shapes.get(name, shapes.get("", Shape())), device, grad, generator) for name in names}
    space: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, **inputs}
    is_value = isinstance(tree, ast.Expression)
    linecache.cache[EXPRESSION] = (len(text), None, text.splitlines(keepends=True), EXPRESSION)  # for tracebacks
    code = compile(tree, EXPRESSION, "eval" if is_value else "exec")
    return Code("expression", text, EXPRESSION, (), inputs, lambda: eval(code, space))


def script(path: Path, arguments: Sequence[str]) -> Code:
    """A file, run as `python path arguments...`. Raises CodeError if it can't be read or is not Python."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CodeError(
            f"{path}: {reason}", "name a Python file, or quote an expression: 'torch.relu(a + b)'"
        ) from error
    _parse(text, str(path))

    def run() -> None:
        argv, folder = sys.argv, str(path.resolve().parent)
        sys.argv = [str(path), *arguments]
        sys.path.insert(0, folder)
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise ScriptExit(f"the script ended with exit code {end.code}") from end
        finally:
            sys.argv = argv
            if folder in sys.path:
                sys.path.remove(folder)

    return Code("script", text, str(path), tuple(arguments), {}, run)


def free_names(tree: ast.AST) -> list[str]:
    """Names that the code uses and nothing defines, in the order in which they stand there."""
    known = {"torch", "F", "nn", *dir(builtins)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            known.add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)):
            known.add(node.name or "")
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in known]
    used.sort(key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.id for node in used))


def _check_uses(tree: ast.AST, names: Sequence[str], text: str, device: str) -> None:
    """Refuse a free name that is called, or has an attribute that no tensor has: it would be a tensor. Raises CodeError."""
    called = [x.func for x in ast.walk(tree) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)]
    called = sorted((x for x in called if x.id in names), key=lambda x: (x.lineno, x.col_offset))
    if called:
        wrong = list(dict.fromkeys(x.id for x in called))
        homes = {name: _home(name) for name in wrong}
        said = (
            f"{', '.join(map(repr, wrong))} {'is' if len(wrong) == 1 else 'are'} called, but free names become tensors"
        )
        raise CodeError(said, _next(_qualified(text, called, homes), device, [x for x in wrong if not homes[x]]))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names):
            continue
        name, attribute = node.value.id, node.attr
        meant = _is_of_module(name, attribute)
        if isinstance(node.ctx, ast.Load) and (meant or not hasattr(torch.Tensor, attribute)):
            bring = f"import {_MODULES.get(name, name)}" + (f" as {name}" if _MODULES.get(name, name) != name else "")
            said = f"{name!r} is a free name, and becomes a tensor"
            said += "" if meant else f", which has no attribute {attribute!r}"
            raise CodeError(said, _next(f"{bring}; {text}", device, [] if meant else [name]))


def _is_of_module(name: str, attribute: str) -> bool:
    """Whether people mean a module by this name, and it has the attribute."""
    with contextlib.suppress(ImportError):
        return name in _MODULES and hasattr(importlib.import_module(_MODULES[name]), attribute)
    return False


def _home(name: str) -> str:
    """The module of a PyTorch function; "" if no function has that name."""
    homes = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "torch.Tensor": torch.Tensor}
    return next((home for home, module in homes.items() if callable(getattr(module, name, None))), "")


def _qualified(text: str, names: Sequence[ast.Name], homes: Mapping[str, str]) -> str:
    """The code with each of these names, which are in the order of the text, behind its home."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for name in reversed(names):
        if home := homes[name.id]:
            line = lines[name.lineno - 1]
            lines[name.lineno - 1] = line[: name.col_offset] + f"{home}.".encode() + line[name.col_offset :]
    return b"".join(lines).decode()


def _next(text: str, device: str, undefined: Sequence[str]) -> str:
    """The hint to names that PyTorch does not have, else the command to type."""
    if undefined:
        return f"define {', '.join(undefined)} in the code, or trace a script that does"
    return f"{program('trace')} {shlex.quote(text)} --device {device}"


def _parse(text: str, file: str = EXPRESSION) -> ast.Expression | ast.Module:
    """The code's tree: of an expression where it is one, else of statements."""
    if file == EXPRESSION:
        try:
            return ast.parse(text, file, "eval")
        except SyntaxError:
            pass
    try:
        tree = ast.parse(text, file)
    except (SyntaxError, ValueError) as error:
        raise CodeError(_where(error, text, file), "write Python, and quote it for the shell") from error
    if not tree.body:
        raise CodeError("no code to trace", "write an expression, such as 'torch.relu(a + b)'")
    return tree


def _where(error: SyntaxError | ValueError, text: str, file: str) -> str:
    """An error's text, with its line and a caret below the column."""
    if not isinstance(error, SyntaxError):
        return f"{file}: {error}"
    number = error.lineno or 1
    lines = text.splitlines() or [""]
    line = lines[min(number, len(lines)) - 1]
    column = min(max((error.offset or 1) - 1, 0), len(line))
    return f"{file}:{number}: {error.msg}\n    {line}\n    {' ' * column}^"


def _names_hint(names: Sequence[str]) -> str:
    return (
        f"its free names are {', '.join(names)}" if names else "it has no free names: all that it uses is defined in it"
    )


def _tensor(shape: Shape, device: str, grad: bool, generator: torch.Generator) -> torch.Tensor:
    """Small numbers that are the same in each run: made by the CPU, whatever the device."""
    floating = shape.dtype.is_floating_point or shape.dtype.is_complex
    if floating:
        made = torch.randn(shape.sizes, generator=generator).to(shape.dtype)
    else:
        made = torch.randint(0, 2, shape.sizes, generator=generator).to(shape.dtype)
    try:
        there = made.to(device)
    except Exception as error:  # foreign code
        what = f"{str(shape.dtype).removeprefix('torch.')}{list(shape.sizes)}"
        raise DeviceError(f"a tensor {what} can't be copied to device {device!r}: {first_line(error)}") from error
    return there.requires_grad_(grad and floating)
