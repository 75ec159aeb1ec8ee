"""Makes comparisons with "cuda" true of the device: `device.type == "cuda"` asks a torch.device, whose type can't be patched.

Applies to the script and to modules in its folder. A comparison that has a literal "cuda", "cuda:0" or "nccl" sees its other
operands by the names that the script expects; so does `.startswith("cuda")`. Nothing else of the source changes.
"""

import ast
import importlib.abc
import importlib.machinery
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..cuda_names import is_cuda
from .patches import Patches

_HELPER = "__as_cuda_said__"


def _says_cuda(node: ast.AST) -> bool:
    """Whether a literal names CUDA: "cuda", or a tuple of literals with it."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(_says_cuda(element) for element in node.elts)
    return isinstance(node, ast.Constant) and (is_cuda(node.value) or node.value in ("nccl", "cuda:"))


class _Comparisons(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if any(map(_says_cuda, sides)):
            node.left, *node.comparators = (side if _says_cuda(side) else _asked(side) for side in sides)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "startswith" and any(map(_says_cuda, node.args)):
            node.func.value = _asked(node.func.value)
        return node


def _asked(node: ast.expr) -> ast.expr:
    call = ast.Call(ast.Name(_HELPER, ast.Load()), [node], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def compile_source(source: str | bytes, path: str) -> CodeType:
    """Compile a file whose comparisons with "cuda" ask `builtins.__as_cuda_said__`."""
    return compile(_Comparisons().visit(ast.parse(source, path)), path, "exec", dont_inherit=True)


def _said(kind: str, library: str | None) -> Callable[[Any], Any]:
    def said(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value == kind or value.startswith(f"{kind}:"):
            return "cuda" + value[len(kind) :]
        return "nccl" if value == library else value

    return said


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)  # never by way of a cached .pyc, which programs share
        return compile_source(self.get_data(path), path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        inside = Path(spec.origin).resolve().relative_to(self._folder) if self._holds(spec.origin) else None
        if inside is None or "site-packages" in inside.parts:
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec

    def _holds(self, origin: str) -> bool:
        return Path(origin).resolve().is_relative_to(self._folder)


def patch_sources(patches: Patches, kind: str, library: str | None, folder: Path) -> Callable[[], None]:
    """Make scripts and the modules of `folder` see "cuda" in comparisons. Returns what undoes the part that Patches can't."""
    import builtins

    patches.set(builtins, _HELPER, _said(kind, library))

    def code_of(real: Any) -> Any:
        # Of runpy.run_path(), and of multiprocessing's, which runs the script again in a child.
        def function(*args: Any) -> Any:
            found = real(*args)
            code = compile_source(Path(args[-1]).read_bytes(), args[-1]) if str(args[-1]).endswith(".py") else None
            if code is None:
                return found
            return (code, *found[1:]) if isinstance(found, tuple) else code

        return function

    patches.wrap(runpy, "_get_code_from_file", code_of)
    finder = _Finder(folder.resolve())
    sys.meta_path.insert(0, finder)
    return lambda: sys.meta_path.remove(finder)
