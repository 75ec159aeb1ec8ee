"""Which strings name a device, and what to write for one."""

import ast

from .source import Edit, Source

# Whatever these are called with is text for people, or a key.
_TELL = {"print", "debug", "info", "warning", "warn", "error", "critical", "exception", "log", "write", "fail", "skip"}
_KEYED = {
    "get",
    "pop",
    "setdefault",
    "hasattr",
    "getattr",
    "setattr",
    "delattr",
    "import_module",
    "replace",
    "add_parser",
}
_AMP = {"torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler", "torch.GradScaler"}


class Words:
    """Asks a source about its strings."""

    def __init__(self, source: Source) -> None:
        self._source = source
        torch = source.torch or "torch"
        self.accelerator = f"{torch}.accelerator.current_accelerator()"
        self.type = f"{self.accelerator}.type"
        self.type_or_cpu = f'({self.accelerator} or {torch}.device("cpu")).type'

    def _parent(self, node: ast.AST) -> ast.AST | None:
        return self._source.parents.get(node)

    def is_message(self, node: ast.AST) -> bool:
        """Whether a string is documentation, a message, a key or a part of a longer text, and no device's name."""
        parent = self._parent(node)
        if isinstance(parent, ast.Expr | ast.Subscript | ast.FormattedValue | ast.JoinedStr):
            return True
        if isinstance(parent, ast.Dict):
            return node in parent.keys and not self._is_map_location(parent)
        if isinstance(parent, ast.Call) and node in parent.args:
            function = parent.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            return name in _TELL | _KEYED
        return isinstance(parent, ast.keyword) and parent.arg in (
            "help",
            "description",
            "title",
            "label",
            "msg",
            "name",
        )

    def is_value(self, node: ast.AST) -> bool:
        """Whether an expression may stand in a string's place: not in a comparison, a list or a pattern."""
        parent = self._parent(node)
        if isinstance(parent, ast.IfExp):
            return node is not parent.test and self.is_value(parent)
        if isinstance(parent, ast.arguments):
            return False  # it would be evaluated when the module is imported
        if isinstance(parent, ast.Dict):
            return self._is_map_location(parent)
        return isinstance(parent, ast.Call | ast.keyword | ast.Assign | ast.AnnAssign | ast.Return | ast.withitem)

    def _is_map_location(self, node: ast.AST) -> bool:
        parent = self._parent(node)
        return isinstance(parent, ast.keyword) and parent.arg == "map_location"

    def _only_argument_of(self, node: ast.AST) -> ast.Call | None:
        parent = self._parent(node)
        alone = isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords
        return parent if alone and isinstance(parent, ast.Call) else None

    def device(self, node: ast.Constant) -> tuple[str, list[Edit]]:
        """What to write for "cuda" or "cuda:1", and the edits."""
        source, parent = self._source, self._parent(node)
        start, end = source.start(node), source.end(node)
        index = str(node.value).partition(":")[2]
        if isinstance(parent, ast.Compare):
            return 'DEVICE.type != "cpu"', self._comparison(node, parent)
        call = self._only_argument_of(node)
        if call is not None and not index and source.dotted(call.func) == "torch.device":
            return self.accelerator, [Edit(source.start(call), source.end(call), self.accelerator)]
        if not self.is_value(node):
            return "the type of torch.accelerator.current_accelerator()", []
        kind = self.type
        user = self._parent(parent) if isinstance(parent, ast.keyword) else parent
        if isinstance(user, ast.Call) and source.dotted(user.func) in _AMP:
            kind = self.type_or_cpu
        if index:
            text = f'f"{{{kind}}}:{index}"' if '"' not in kind else f"f'{{{kind}}}:{index}'"
            return f"the type of torch.accelerator.current_accelerator(), and :{index}", [Edit(start, end, text)]
        return kind, [Edit(start, end, kind)]

    def _comparison(self, node: ast.Constant, parent: ast.Compare) -> list[Edit]:
        left, operator = parent.left, parent.ops[0]
        simple = len(parent.ops) == 1 and parent.comparators == [node] and node.value == "cuda"
        if not simple or not isinstance(left, ast.Attribute) or left.attr != "type":
            return []
        if not isinstance(operator, ast.Eq | ast.NotEq):
            return []
        text = '!= "cpu"' if isinstance(operator, ast.Eq) else '== "cpu"'
        at = self._source.end(left)
        between = self._source.text[at : self._source.start(node)]
        if between.strip() not in ("==", "!="):
            return []  # parentheses or comments between
        return [Edit(at, self._source.end(node), f" {text}")]
