"""The one constant of a file that the fixes use: what it is called, and where it is defined.

    DEVICE = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

A file that already has such a variable keeps it. `check_available` matters: a PyTorch that was built for CUDA names "cuda" also on
a machine without a driver. The device has no index, so it means the current device, as `.cuda()` does.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count

from .source import Edit, Source

DEFINITION = 'torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")'
VARIABLES = {"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_ORDER", "PYTORCH_CUDA_ALLOC_CONF"}
_NAMES = ("DEVICE", "ACCELERATOR", "TORCH_DEVICE", "ACCELERATOR_DEVICE")
_LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Accelerator:
    """The constant of one source. `own`: whether a variable of the file may serve."""

    def __init__(self, source: Source, own: bool = True) -> None:
        self._source = source
        self._own = _own_variable(source) if own else None
        taken = set(source.aliases) | set(_names(source))
        names = chain(_NAMES, map("DEVICE_{}".format, count(2)))
        self.name = self._own[0] if self._own else next(name for name in names if name not in taken)
        self.type = f"{self.name}.type"
        self.present = f"{self.type} != {source.quoted('cpu')}"

    @property
    def own(self) -> bool:
        return self._own is not None

    @property
    def own_value(self) -> ast.expr | None:
        """The value of the file's variable, if it has yet to be rewritten."""
        value = self._own[1].value if self._own else None
        return value if value is not None and not _is_definition(self._source, value) else None

    def used_by(self, edits: Iterable[Edit]) -> bool:
        name = re.compile(rf"(?<![\w.]){self.name}(?![\w(=])")
        return any(name.search(edit.text) for edit in edits)

    def definition(self, offsets: Iterable[int]) -> Edit | None:
        """What defines the constant for code at these places; None if no place is right."""
        body = self._source.tree.body
        if self._own:
            return self.own_edit() if min(offsets) >= self._source.start(self._own[1].value) else None
        first = self._statement(min(offsets))
        imports = [at for at, node in enumerate(body) if _imports_torch(node)]
        if not imports or imports[0] >= first:
            return None
        after = imports[0]
        for at in range(after, first):
            if isinstance(body[at], _LATER | ast.ClassDef):
                break
            if _is_import(body[at]) or any(_variables(body[at])):
                after = at
        # Asking for the device starts CUDA's driver, which reads its variables then. A forked child can't start it again.
        if self._set_later(after) or self._forks():
            return None
        return self._inserted(body[after], body[after + 1 : after + 2])

    def _statement(self, offset: int) -> int:
        body = self._source.tree.body
        return max(at for at, node in enumerate(body) if self._source.first(node) <= offset)

    def _text(self) -> str:
        """The definition's value, in parentheses if its line would get too long."""
        source = self._source
        text = DEFINITION.replace("torch.", f"{source.torch}.").replace('"cpu"', source.quoted("cpu"))
        if len(f"{self.name} = {text}") <= source.width:
            return text
        return source.newline.join(["(", *(f"    {part}" for part in text.replace(" or ", "\nor ").split("\n")), ")"])

    def own_edit(self) -> Edit:
        """What rewrites the file's own variable."""
        assert self._own is not None
        value = self._own[1].value
        start, end = self._source.start(value), self._source.end(value)
        if self.own_value is None:
            return Edit(start, start, "", True)  # it says so already
        return Edit(start, end, self._text(), True)

    def _inserted(self, node: ast.stmt, following: list[ast.stmt]) -> Edit | None:
        source, line = self._source, node.end_lineno or 0
        if following and following[0].lineno == line:
            return None  # `import torch; ...`
        at, newline = source.line_end(line), source.newline
        text = f"{self.name} = {self._text()}"
        before = "" if source.text[:at].endswith(("\n", "\r")) else newline
        return Edit(at, at, f"{before}{newline}{text}{newline}", True)

    def _set_later(self, after: int) -> bool:
        at = {id(node) for statement in self._source.tree.body[: after + 1] for node in _variables(statement)}
        return any(id(node) not in at or self._source.function(node) for node in _variables(self._source.tree))

    def _forks(self) -> bool:
        full = set(self._source.aliases.values())
        starts = {"multiprocessing", "torch.multiprocessing", "multiprocessing.Process", "multiprocessing.Pool"} & full
        words = re.findall(r"\b(?:spawn|forkserver|Process|Pool|os\.fork)\b", self._source.text)
        return "os.fork" in words or (
            bool(starts) and not {"spawn", "forkserver"} & set(words) and bool({"Process", "Pool"} & set(words))
        )


def _names(source: Source) -> Counter[str]:
    """How often each name is bound; a name that is only read, 0 times."""
    found: Counter[str] = Counter()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            found[node.id] += not isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name:
            found[node.name] += 1
    return found


def _own_variable(source: Source) -> tuple[str, ast.Assign] | None:
    """The file's own variable that is the accelerator or the CPU, if nothing else is called so."""
    for node in source.tree.body:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if not (is_device_choice(source, node.value) or _is_definition(source, node.value)):
            continue
        alone = _names(source)[name] == 1 and name not in source.aliases
        if alone and source.torch and node.lineno not in source.silent:
            return name, node
    return None


def is_word_choice(source: Source, node: ast.AST) -> bool:
    """`"cuda" if torch.cuda.is_available() else "cpu"`."""
    return (
        _is_choice(source, node)
        and isinstance(node, ast.IfExp)
        and (_word(node.body), _word(node.orelse)) == ("cuda", "cpu")
    )


def is_device_choice(source: Source, node: ast.AST) -> bool:
    """`torch.device("cuda" if torch.cuda.is_available() else "cpu")`, or the same with two calls of torch.device."""
    if isinstance(node, ast.IfExp):
        given = [_given(source, each) for each in (node.body, node.orelse)]
        return _is_choice(source, node) and [_word(each) for each in given] == ["cuda", "cpu"]
    only = _given(source, node)
    return only is not None and is_word_choice(source, only)


def _is_choice(source: Source, node: ast.AST) -> bool:
    if not (isinstance(node, ast.IfExp) and isinstance(node.test, ast.Call)):
        return False
    return source.dotted(node.test.func) == "torch.cuda.is_available"


def _given(source: Source, node: ast.AST) -> ast.expr | None:
    """What torch.device is called with."""
    device = isinstance(node, ast.Call) and source.dotted(node.func) == "torch.device"
    return node.args[0] if device and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None


def _word(node: ast.AST | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _is_definition(source: Source, node: ast.AST) -> bool:
    if not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and isinstance(node.values[0], ast.Call)):
        return False
    first, second = node.values[0], node.values[-1]
    return (
        source.dotted(first.func) == "torch.accelerator.current_accelerator"
        and bool(first.args or first.keywords)
        and isinstance(second, ast.Call)
        and source.dotted(second.func) == "torch.device"
    )


def _imports_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(
        each.name == "torch" or (each.name.startswith("torch.") and not each.asname) for each in node.names
    )


def _is_import(node: ast.stmt) -> bool:
    """An import, or a `try` or `if` around some."""
    if isinstance(node, ast.Try | ast.If):
        return any(map(_is_import, node.body))
    return isinstance(node, ast.Import | ast.ImportFrom)


def _variables(node: ast.AST) -> Iterator[ast.AST]:
    """Where CUDA's variables are set."""
    for each in ast.walk(node):
        name: ast.AST | None = None
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            name = each.slice
        elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") in ("setdefault", "putenv") and each.args:
            name = each.args[0]
        if _word(name) in VARIABLES:
            yield each
