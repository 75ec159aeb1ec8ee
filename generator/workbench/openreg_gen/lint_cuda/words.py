"""Which strings name a device, and what to write for one."""

import ast
import re

from ..cuda_names import is_cuda
from .accelerator import Accelerator, is_device_choice, is_word_choice
from .known import Known
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
_TEXTS = {"help", "description", "title", "label", "msg", "name"}
_AMP = {"torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler", "torch.GradScaler"}
# Functions of torch that take a device as a string only.
_STRINGS_ONLY = ("torch.amp", "torch.autocast", "torch.GradScaler", "torch.distributed", "torch.library", "torch.utils")
_DEVICE_FIRST = {"torch.Generator", "torch.set_default_device"}
_FORMATS = re.compile(r"cuda:(%[dis]|\{0?\}|)")


class Words:
    """Asks a source about its strings."""

    def __init__(self, source: Source, accelerator: Accelerator, known: Known) -> None:
        self._source = source
        self._accelerator = accelerator
        self._known = known

    def _parent(self, node: ast.AST) -> ast.AST | None:
        return self._source.parents.get(node)

    def is_told(self, node: ast.AST) -> bool:
        """Whether a string is documentation, a message or a part of a longer text."""
        parent = self._parent(node)
        if isinstance(parent, ast.Expr | ast.FormattedValue | ast.JoinedStr):
            return True
        if isinstance(parent, ast.Call) and node in parent.args:
            return _called(parent) in _TELL
        return isinstance(parent, ast.keyword) and parent.arg in _TEXTS

    def is_message(self, node: ast.AST) -> bool:
        """Whether a string is text or a key, and no device's name."""
        parent = self._parent(node)
        if isinstance(parent, ast.Dict):
            return node in parent.keys and not self.is_map_location(parent)
        if isinstance(parent, ast.Call) and node in parent.args and _called(parent) in _KEYED:
            return True
        return isinstance(parent, ast.Subscript) or self.is_told(node)

    def is_value(self, node: ast.AST) -> bool:
        """Whether an expression may stand in a string's place: not in a comparison, a list or a pattern."""
        parent = self._parent(node)
        if isinstance(parent, ast.IfExp):
            return node is not parent.test and self.is_value(parent)
        if isinstance(parent, ast.BoolOp):
            return isinstance(parent.op, ast.Or) and self.is_value(parent)
        if isinstance(parent, ast.Dict):
            return node in parent.values
        if isinstance(parent, ast.List | ast.Tuple):
            # ("cuda", "xpu") may be a list of types to compare with; "cuda:0" is a device.
            word = self._parent(parent)
            choices = isinstance(word, ast.keyword) and word.arg == "choices"
            return choices or (not isinstance(node, ast.Constant) or ":" in str(node.value)) and self.is_value(parent)
        if isinstance(parent, ast.Assign):
            return not any(isinstance(each, ast.Name) and "CUDA" in each.id for each in parent.targets)
        call = self._parent(parent) if isinstance(parent, ast.keyword) else parent
        if isinstance(call, ast.Call) and (self._source.dotted(call.func) or "").startswith("torch.library."):
            return False
        return isinstance(parent, ast.Call | ast.keyword | ast.AnnAssign | ast.Return | ast.withitem | ast.arguments)

    def is_map_location(self, node: ast.AST) -> bool:
        parent = self._parent(node)
        if isinstance(parent, ast.Assign):
            return any(isinstance(each, ast.Name) and "map_location" in each.id for each in parent.targets)
        if isinstance(parent, ast.Call):
            return self._source.dotted(parent.func) == "torch.load" and node in parent.args
        return isinstance(parent, ast.keyword) and parent.arg == "map_location"

    def _takes_device(self, node: ast.AST) -> bool:
        """Whether the string is an argument that may be a torch.device."""
        parent = self._parent(node)
        call = self._parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call):
            return False
        full = self._source.dotted(call.func) or ""
        if isinstance(parent, ast.keyword):
            takes = full.startswith("torch.") and not full.startswith(_STRINGS_ONLY)
            return parent.arg in ("device", "map_location") and (takes or _called(call) == "to")
        if full in _DEVICE_FIRST or (_called(call) == "to" and not full.startswith("torch.")):
            return call.args[0] is node
        return full == "torch.load"

    def _whole_call(self, node: ast.AST) -> ast.Call | None:
        """The call torch.device(node)."""
        parent = self._parent(node)
        alone = isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords
        made = alone and isinstance(parent, ast.Call) and self._source.dotted(parent.func) == "torch.device"
        return parent if made and isinstance(parent, ast.Call) else None

    def choice(self, node: ast.AST | None) -> Edit | None:
        """What replaces `"cuda" if torch.cuda.is_available() else "cpu"`, with the call of torch.device around it."""
        source, accelerator = self._source, self._accelerator
        if node is None or not (is_word_choice(source, node) or is_device_choice(source, node)):
            return None
        whole = self._whole_call(node) or node
        if whole is accelerator.own_value:
            return accelerator.own_edit()
        if isinstance(self._parent(whole), ast.Compare):
            return None
        start, end = source.start(whole), source.end(whole)
        if isinstance(self._parent(whole), ast.Assign | ast.keyword | ast.Return | ast.BoolOp):
            start, end = _with_parentheses(source.text, start, end)
        device = is_device_choice(source, whole) or self._takes_device(node)
        return Edit(start, end, accelerator.name if device else accelerator.type, True)

    def device(self, node: ast.Constant) -> tuple[str, list[Edit]]:
        """What to write for "cuda" or "cuda:1", and the edits."""
        source, accelerator, parent = self._source, self._accelerator, self._parent(node)
        start, end = source.start(node), source.end(node)
        index = str(node.value).partition(":")[2]
        chosen = self._parent(parent) if isinstance(parent, ast.Call) else parent
        if isinstance(chosen, ast.IfExp) and (whole := self.choice(chosen)) is not None:
            return "DEVICE" if whole.text != accelerator.type else "DEVICE.type", [whole]
        if isinstance(parent, ast.Compare):
            return 'DEVICE.type != "cpu"', self._comparison(node, parent)
        if isinstance(parent, ast.Call) and _called(parent) == "startswith" and isinstance(parent.func, ast.Attribute):
            return 'DEVICE.type != "cpu"', self._prefix(node, parent, parent.func.value)
        call = self._whole_call(node)
        if call is not None and isinstance(self._parent(call), ast.Compare):
            return 'DEVICE.type != "cpu"', []
        if call is not None and not index:
            return "DEVICE", [Edit(source.start(call), source.end(call), accelerator.name)]
        if self.is_map_location_key(node):
            return "a key for DEVICE.type as well", self.second_key(node)
        if not self.is_value(node) or self._is_doubtful_autocast(node):
            return "DEVICE.type", []
        if index:
            text = source.formatted(f"{{{accelerator.type}}}:{index}", node)
            return f"DEVICE.type and :{index}", [Edit(start, end, text)] if text else []
        takes = self._takes_device(node)
        return "DEVICE" if takes else "DEVICE.type", [Edit(start, end, accelerator.name if takes else accelerator.type)]

    def _is_doubtful_autocast(self, node: ast.AST) -> bool:
        """Whether the fix would turn on autocast of the CPU: `autocast("cuda" if flag else "cpu")` without CUDA is off."""
        parent = self._parent(node)
        if not isinstance(parent, ast.IfExp) or self._known.implies(parent.test):
            return False
        user = self._parent(parent)
        user = self._parent(user) if isinstance(user, ast.keyword) else user
        return isinstance(user, ast.Call) and self._source.dotted(user.func) in _AMP

    def is_map_location_key(self, node: ast.AST) -> bool:
        parent = self._parent(node)
        return isinstance(parent, ast.Dict) and node in parent.keys and self.is_map_location(parent)

    def second_key(self, node: ast.expr) -> list[Edit]:
        """An entry for the device beside the one for files that were saved on CUDA."""
        parent = self._parent(node)
        assert isinstance(parent, ast.Dict)
        value = parent.values[parent.keys.index(node)]
        key, text = self.translated(node), self.translated(value)
        at = self._source.end(value)
        return [Edit(at, at, f", {key}: {text}")] if key and text else []

    def has_second_key(self, node: ast.AST) -> bool:
        """Whether a dict of map_location names the device beside CUDA."""
        parent = self._parent(node)
        name = f"{self._accelerator.type}"
        return isinstance(parent, ast.Dict) and any(
            isinstance(key, ast.JoinedStr) and name in self._source.segment(key) for key in parent.keys
        )

    def translated(self, node: ast.expr) -> str:
        """The text of an expression for the device instead of "cuda"; empty if that takes a person."""
        if isinstance(node, ast.Constant) and is_cuda(node.value):
            index = str(node.value).partition(":")[2]
            return (
                self._source.formatted(f"{{{self._accelerator.type}}}:{index}", node)
                if index
                else self._accelerator.type
            )
        outer = self._source.segment(node)
        if "cuda" not in outer:
            return outer
        if isinstance(node, ast.JoinedStr):
            return outer.replace("cuda", "{" + self._accelerator.type + "}", 1) if outer.count("cuda") == 1 else ""
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and (found := self.composed(part)) is not None and found[0] is node:
                return found[1]
        return ""

    def composed(self, node: ast.Constant) -> tuple[ast.expr, str] | None:
        """For the first part of `"cuda:%d" % i`, `"cuda:{}".format(i)`, `"cuda:" + str(i)`: the whole, and its translation."""
        form = _FORMATS.fullmatch(str(node.value))
        parent = self._parent(node)
        whole: ast.expr
        if form is None:
            return None
        if isinstance(parent, ast.BinOp) and parent.left is node:
            whole, index = parent, parent.right
            if isinstance(parent.op, ast.Mod) != form[1].startswith("%") or not isinstance(
                parent.op, ast.Mod | ast.Add
            ):
                return None
            if isinstance(index, ast.Tuple) and len(index.elts) == 1:
                index = index.elts[0]
            if (
                isinstance(parent.op, ast.Add)
                and isinstance(index, ast.Call)
                and _called(index) == "str"
                and index.args
            ):
                index = index.args[0]
        elif isinstance(parent, ast.Attribute) and parent.attr == "format" and form[1].startswith("{"):
            call = self._parent(parent)
            if not (isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords):
                return None
            whole, index = call, call.args[0]
        else:
            return None
        text = self._source.segment(index)
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            return whole, self._source.formatted(f"{{{self._accelerator.type}}}:{text}", node)
        plain = not re.search(r"[\"'\\\n{}!:=]|cuda|lambda", text) and not isinstance(index, ast.Tuple | ast.Starred)
        return whole, self._source.formatted(f"{{{self._accelerator.type}}}:{{{text}}}", node) if plain else ""

    def _comparison(self, node: ast.Constant, parent: ast.Compare) -> list[Edit]:
        source, operator = self._source, parent.ops[0]
        if len(parent.ops) != 1 or node.value != "cuda":
            return []
        cpu = source.quoted("cpu", node)
        if parent.left is node:
            words = {ast.In: "not in", ast.NotIn: "in"}.get(type(operator))
            at, end = source.end(node), source.start(parent.comparators[0])
            if words is None or not _is_device_text(parent.comparators[0]) or "(" in source.text[at:end]:
                return []
            return [Edit(source.start(node), end, f"{cpu} {words} ")]
        left = parent.left
        if not (
            getattr(left, "attr", "") == "type" or self._known.is_device_word(left) or self._is_choice_of_two(left)
        ):
            return []
        if not isinstance(operator, ast.Eq | ast.NotEq):
            return []
        at = source.end(left)
        if source.text[at : source.start(node)].strip() not in ("==", "!="):
            return []  # parentheses or comments between
        return [Edit(at, source.end(node), f" {'!=' if isinstance(operator, ast.Eq) else '=='} {cpu}")]

    def _is_choice_of_two(self, node: ast.AST) -> bool:
        """Whether `args.device` comes from `add_argument("--device", choices=["cuda", "cpu"])`."""
        call = self._known.option(node)
        choices = next((word.value for word in call.keywords if word.arg == "choices"), None) if call else None
        return isinstance(choices, ast.List | ast.Tuple) and all(map(self._known.is_device_word, choices.elts))

    def _prefix(self, node: ast.Constant, call: ast.Call, value: ast.expr) -> list[Edit]:
        """`device.startswith("cuda")`."""
        if node.value != "cuda" or call.args != [node] or not (_is_device_text(value) or _name(value) == "type"):
            return []
        source, parent = self._source, self._parent(call)
        plain = isinstance(parent, ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.Assign | ast.Return | ast.keyword)
        opening, closing = ("not ", "") if plain else ("(not ", ")")
        start, end = source.start(call), source.end(call)
        edits = [Edit(start, start, opening)]
        edits.append(Edit(source.start(node), source.end(node), source.quoted("cpu", node)))
        return [*edits, Edit(end, end, closing)] if closing else edits


def _called(call: ast.Call) -> str:
    return _name(call.func)


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_device_text(node: ast.AST) -> bool:
    """`str(...)`, or a string that is called device."""
    if isinstance(node, ast.Call):
        return _called(node) == "str" and len(node.args) == 1
    return _name(node).lower().endswith(("device", "device_type", "device_name"))


def _with_parentheses(text: str, start: int, end: int) -> tuple[int, int]:
    before, after = text[:start].rstrip(" "), text[end:].lstrip(" ")
    if before.endswith("(") and after.startswith(")") and not re.search(r"[\w)\]]\($", before):
        return len(before) - 1, len(text) - len(after) + 1
    return start, end
