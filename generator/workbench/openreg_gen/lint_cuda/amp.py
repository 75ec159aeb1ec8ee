"""Autocast and GradScaler: without CUDA those of `torch.cuda.amp` are off, so the fixes turn the CPU's off, too."""

import ast

from .accelerator import Accelerator
from .known import Known
from .source import Edit, Source

# Each name of torch.cuda.amp: the generic one, and what a first argument by position is called there.
NAMES = {
    "torch.cuda.amp.autocast": ("torch.autocast", "enabled"),
    "torch.cuda.amp.GradScaler": ("torch.amp.GradScaler", "init_scale"),
    "torch.cuda.amp.custom_fwd": ("torch.amp.custom_fwd", ""),
    "torch.cuda.amp.custom_bwd": ("torch.amp.custom_bwd", ""),
}
# Where `enabled` is among the arguments by position.
_ENABLED = {
    "torch.autocast": 2,
    "torch.amp.autocast": 2,
    "torch.amp.GradScaler": 5,
    "torch.GradScaler": 5,
}


class Amp:
    """Makes the edits of calls."""

    def __init__(self, source: Source, accelerator: Accelerator, known: Known) -> None:
        self._source = source
        self._accelerator = accelerator
        self._known = known

    def old(self, node: ast.Attribute | ast.Name, call: ast.Call | None, full: str) -> list[Edit]:
        """The edits of a use of torch.cuda.amp."""
        source = self._source
        name, first = NAMES[full]
        if isinstance(node, ast.Name) and node.id in source.ambiguous:
            return []  # from torch.amp, or else from torch.cuda.amp
        renamed = []
        if isinstance(node, ast.Attribute):
            renamed = [Edit(source.start(node), source.end(node), name.replace("torch.", f"{source.torch}.", 1))]
        if not first:
            edits = self._custom(node, call)
        elif call is None or any(isinstance(each, ast.Starred) for each in call.args) or len(call.args) > 1:
            edits = None
        else:
            enabled = call.args[0] if first == "enabled" and call.args else None
            rest = self._enabled(call, enabled)
            before = f"{first}=" if call.args else ""
            edits = None if rest is None else [*self._first(call, self._accelerator.type, before), *rest]
        return [*renamed, *_joined(edits)] if edits else []

    def scaler(self, call: ast.Call) -> list[Edit]:
        """The edits of `torch.amp.GradScaler()`, whose device is cuda unless it says so."""
        rest = self._enabled(call, None)
        return [] if rest is None else _joined([*self._first(call, self._accelerator.type), *rest])

    def new(self, call: ast.Call) -> list[Edit] | None:
        """What `autocast("cuda")` and `GradScaler("cuda")` need beside another device. None: no fix is right."""
        at = _ENABLED.get(self._source.dotted(call.func) or "")
        if at is None:
            return []
        return self._enabled(call, call.args[at] if len(call.args) > at else None)

    def _custom(self, node: ast.AST, call: ast.Call | None) -> list[Edit] | None:
        source, word = self._source, f"device_type={self._accelerator.type}"
        if call is not None:
            return None if call.args else self._first(call, word)
        if node in getattr(source.parents.get(node), "decorator_list", []):
            return [Edit(source.end(node), source.end(node), f"({word})")]
        return None

    def _first(self, call: ast.Call, text: str, before: str = "") -> list[Edit]:
        """Inserts a first argument; `before` comes in front of the one that was first."""
        at = self._source.text.index("(", self._source.end(call.func)) + 1
        return [Edit(at, at, text + (f", {before}" if call.args or call.keywords else ""))]

    def _enabled(self, call: ast.Call, given: ast.expr | None) -> list[Edit] | None:
        """Edits after which the call is off on the CPU; None if there are none."""
        source, present = self._source, self._accelerator.present
        if any(word.arg is None for word in call.keywords):
            return None
        given = next((word.value for word in call.keywords if word.arg == "enabled"), given)
        if self._known.guarded(call) or (given is not None and self._known.implies(given)):
            return []
        if isinstance(given, ast.Constant):
            start, end = source.start(given), source.end(given)
            return [Edit(start, end, present)] if given.value is True else []
        if given is not None:
            start, end = source.start(given), source.end(given)
            if isinstance(given, ast.IfExp | ast.Lambda | ast.NamedExpr) or (
                isinstance(given, ast.BoolOp) and isinstance(given.op, ast.Or)
            ):
                return [Edit(start, start, "("), Edit(end, end, f") and {present}")]
            return [Edit(end, end, f" and {present}")]
        at = source.end(call) - 1
        arguments = [*call.args, *(word.value for word in call.keywords)]
        if arguments:
            tail = source.text[max(map(source.end, arguments)) : at]
            if tail.strip() not in ("", ","):
                return None
            at = max(map(source.end, arguments))
        return [Edit(at, at, f", enabled={present}")]


def _joined(edits: list[Edit] | None) -> list[Edit]:
    """Edits with insertions at one place made one, in the order given."""
    joined: list[Edit] = []
    for edit in edits or []:
        if joined and joined[-1].start == joined[-1].end == edit.start == edit.end:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + edit.text)
        else:
            joined.append(edit)
    return joined
