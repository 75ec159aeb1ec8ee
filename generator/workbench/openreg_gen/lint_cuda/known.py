"""What a file says about its names: that a device is there, that a value is not None, which strings name devices.

It errs on the side of "unknown": a name counts only if all that the file binds to it agrees.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator

from .source import Source

_INTEGERS = {"int", "len", "round", "abs"}
_INTEGER_CALLS = {"get_rank", "get_local_rank", "current_device", "current_device_index", "device_count", "get_device"}
_STREAMS = {"torch.cuda.Stream", "torch.cuda.current_stream", "torch.cuda.default_stream", "torch.Stream"}
_BLOCKS = ("body", "orelse", "finalbody")


class Known:
    """Asks a source about its names."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bound: defaultdict[str, list[ast.AST | None]] = defaultdict(list)  # None: not to be known
        self._ranks: set[str] = set()  # parameters that mp.spawn and the like fill
        self._choices: dict[str, ast.Call] = {}  # "args.device" by the call of add_argument, as ".device"
        for node in ast.walk(source.tree):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._pair(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if node.value is not None:
                self._pair(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            self._item(node.target, node.iter)
        elif isinstance(node, ast.AugAssign):
            self._pair(node.target, None)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._pair(node.optional_vars, None)
        elif isinstance(node, ast.arguments):
            self._parameters(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            for word in node.args:
                if isinstance(word, ast.Constant) and str(word.value).startswith("--"):
                    self._choices["." + str(word.value)[2:].replace("-", "_")] = node

    def _parameters(self, node: ast.arguments) -> None:
        plain = node.args[: len(node.args) - len(node.defaults)]
        self._ranks |= {each.arg for each in plain if each.arg in ("rank", "local_rank")}
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each is not None:
                integer = isinstance(each.annotation, ast.Name) and each.annotation.id == "int" and each in plain
                self._bound[each.arg].append(ast.Constant(0) if integer else None)

    def _pair(self, target: ast.AST, value: ast.AST | None) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for at, each in enumerate(target.elts):
                self._pair(each, values[at] if len(values) == len(target.elts) else None)
        elif (name := _path(target)) is not None:
            self._bound[name].append(value)

    def _item(self, target: ast.AST, values: ast.expr) -> None:
        """Binds what a loop takes from `values`."""
        called = values.func.id if isinstance(values, ast.Call) and isinstance(values.func, ast.Name) else ""
        if isinstance(target, ast.Tuple) and called in ("zip", "enumerate"):
            assert isinstance(values, ast.Call)
            sources = values.args if called == "zip" else [ast.Call(ast.Name("range"), [], []), *values.args]
            for each, one in zip(target.elts, sources, strict=False):
                self._item(each, one)
            return
        self._pair(target, ast.Subscript(values, ast.Constant(0)))

    def _all(self, node: ast.AST, holds: Callable[[ast.AST], bool]) -> bool:
        name = _path(node)
        values = self._bound.get(name, []) if name else []
        if not values:
            return False
        self._bound[name or ""] = []  # a name that is bound by way of itself says nothing
        try:
            return all(value is not None and holds(value) for value in values)
        finally:
            self._bound[name or ""] = values

    # Whether a device is there.

    def guarded(self, node: ast.AST) -> bool:
        """Whether code runs only if there is a device: in an `if`, after an `assert` or an early return."""
        for child, parent in self._above(node):
            if isinstance(parent, ast.If | ast.IfExp | ast.While):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                orelse = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
                if (child in body and self.implies(parent.test)) or (child in orelse and self.denies(parent.test)):
                    return True
            if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
                before = parent.values[: parent.values.index(child)]  # type: ignore[arg-type]
                if any(map(self.implies, before)):
                    return True
            if any(map(self._leaves_without, _preceding(child, parent))):
                return True
        return False

    def _above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Each node and its parent, up to the function."""
        while (parent := self._source.parents.get(node)) is not None:
            yield node, parent
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return
            node = parent

    def _leaves_without(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Assert):
            return self.implies(node.test)
        if not (isinstance(node, ast.If) and not node.orelse and self.denies(node.test)):
            return False
        last = node.body[-1]
        return isinstance(last, ast.Return | ast.Raise | ast.Continue) or (
            isinstance(last, ast.Expr)
            and isinstance(last.value, ast.Call)
            and self._source.dotted(last.value.func) in ("sys.exit", "exit", "quit")
        )

    def implies(self, test: ast.AST) -> bool:
        """Whether a test is true only if there is a device."""
        if isinstance(test, ast.BoolOp):
            return (any if isinstance(test.op, ast.And) else all)(map(self.implies, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.denies(test.operand)
        if isinstance(test, ast.Call):
            if getattr(test.func, "id", "") == "bool" and len(test.args) == 1:
                return self.implies(test.args[0])
            return self._source.dotted(test.func) in ("torch.cuda.is_available", "torch.accelerator.is_available")
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compares(test, ast.Eq, "cuda") or self._compares(test, ast.NotEq, "cpu") or self._counts(test)
        if isinstance(test, ast.Attribute) and test.attr == "is_cuda":
            return True
        return self._all(test, self.implies)

    def denies(self, test: ast.AST) -> bool:
        """Whether a test is false only if there is a device."""
        if isinstance(test, ast.BoolOp):
            return (any if isinstance(test.op, ast.Or) else all)(map(self.denies, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.implies(test.operand)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compares(test, ast.NotEq, "cuda") or self._compares(test, ast.Eq, "cpu")
        return False

    def _compares(self, test: ast.Compare, operator: type[ast.cmpop], word: str) -> bool:
        right = test.comparators[0]
        typed = getattr(test.left, "attr", "") == "type" or self.is_device_word(test.left)
        return typed and isinstance(test.ops[0], operator) and isinstance(right, ast.Constant) and right.value == word

    def _counts(self, test: ast.Compare) -> bool:
        """`torch.cuda.device_count() > 1`."""
        left, right = test.left, test.comparators[0]
        return (
            isinstance(left, ast.Call)
            and self._source.dotted(left.func) == "torch.cuda.device_count"
            and isinstance(test.ops[0], ast.Gt | ast.GtE)
            and isinstance(right, ast.Constant)
            and isinstance(right.value, int)
            and right.value >= isinstance(test.ops[0], ast.GtE)
        )

    def preceding(self, node: ast.stmt) -> list[ast.AST]:
        """The statements before one in its block."""
        parent = self._source.parents.get(node)
        return _preceding(node, parent) if parent is not None else []

    # What a value is.

    def is_some(self, node: ast.AST) -> bool:
        """Whether a value is certainly not None."""
        if self._is_device(node) or self.is_stream(node):
            return True
        text = ast.dump(node)
        for child, parent in self._above(node):
            if isinstance(parent, ast.If | ast.IfExp):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                if child in body and _is_not_none(parent.test, text):
                    return True
            if any(self._uses(each, text) for each in _preceding(child, parent)):
                return True
        return False

    def _uses(self, statement: ast.AST, text: str) -> bool:
        """Whether a statement would have failed with None: `x.method()`, `torch.cuda.set_device(x)`."""
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
            return False
        call = statement.value
        if isinstance(call.func, ast.Attribute) and ast.dump(call.func.value) == text:
            return True
        given = [ast.dump(each) for each in call.args]
        return given == [text] and self._source.dotted(call.func) in (
            "torch.cuda.set_device",
            "torch.accelerator.set_device_index",
        )

    def _is_device(self, node: ast.AST) -> bool:
        """Whether a value is certainly a number, a string or a torch.device."""
        if isinstance(node, ast.Constant):
            return node.value is not None
        if isinstance(node, ast.Call) and self._source.dotted(node.func) == "torch.device":
            return True
        return isinstance(node, ast.BinOp | ast.JoinedStr) or self.is_index(node) or self._all(node, self._is_device)

    def is_index(self, node: ast.AST) -> bool:
        """Whether a value is certainly an int."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, ast.Call):
            return (self._source.dotted(node.func) or "").rpartition(".")[2] in _INTEGERS | _INTEGER_CALLS
        if isinstance(node, ast.Subscript):  # of a loop
            values = node.value
            return isinstance(values, ast.Call) and getattr(values.func, "id", "") == "range"
        if isinstance(node, ast.Name) and node.id in self._ranks and self._bound[node.id] == [None]:
            return True
        return self._all(node, self.is_index)

    def is_stream(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self._source.dotted(node.func) in _STREAMS
        if isinstance(node, ast.Subscript):
            return self._holds_streams(node.value)
        return self._all(node, self.is_stream)

    def _holds_streams(self, node: ast.AST) -> bool:
        if isinstance(node, ast.List | ast.Tuple):
            return bool(node.elts) and all(map(self.is_stream, node.elts))
        if isinstance(node, ast.ListComp):
            return self.is_stream(node.elt)
        return self._all(node, self._holds_streams)

    def is_device_word(self, node: ast.AST) -> bool:
        """Whether a value is certainly "cuda" or "cpu"."""
        if isinstance(node, ast.Constant):
            return node.value in ("cuda", "cpu")
        if isinstance(node, ast.IfExp):
            return self.is_device_word(node.body) and self.is_device_word(node.orelse)
        if isinstance(node, ast.Attribute) and node.attr == "type" and isinstance(node.value, ast.Name):
            return False
        return self._all(node, self.is_device_word)

    def option(self, node: ast.AST) -> ast.Call | None:
        """The call of add_argument that gives `args.NAME` its value."""
        return self._choices.get(f".{node.attr}") if isinstance(node, ast.Attribute) else None


def _path(node: ast.AST) -> str | None:
    """`name`, `args.name`, `self.name`."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def _preceding(child: ast.AST, parent: ast.AST) -> list[ast.AST]:
    """The statements before one in its block."""
    for name in _BLOCKS:
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            return block[: block.index(child)]
    return []


def _is_not_none(test: ast.AST, text: str) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_is_not_none(each, text) for each in test.values)
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.IsNot)
        and ast.dump(test.left) == text
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    )
