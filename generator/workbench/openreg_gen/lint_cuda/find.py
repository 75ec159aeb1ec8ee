"""Finds code that only runs on CUDA: each place with the generic spelling, and with edits if they are mechanical."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..cuda_names import ROWS, Row, is_cuda
from .source import Edit, Source
from .words import Words

_AMP = {"torch.cuda.amp.autocast": "torch.autocast", "torch.cuda.amp.GradScaler": "torch.amp.GradScaler"}
_PARTS = {"amp", "graphs", "memory", "random", "streams", "autocast_mode", "grad_scaler"}  # submodules of torch.cuda
_VARIABLES = {"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_ORDER", "PYTORCH_CUDA_ALLOC_CONF"}
_NOTES = {
    "torch.backends.cudnn": "no effect on other devices",
    "torch.backends.cuda.matmul.allow_tf32": "torch.set_float32_matmul_precision('high')",
    "torch.backends.cuda": "no effect on other devices",
    "torch.version.cuda": "None in other builds; ask torch.accelerator.current_accelerator()",
}
_OTHER = {
    "torch.utils.cpp_extension.CUDAExtension": "the backend's own way to compile kernels, or torch.utils.cpp_extension.CppExtension",
    "torch.utils.cpp_extension.CUDA_HOME": "None without CUDA's toolkit",
    "torch.profiler.ProfilerActivity.CUDA": "torch.profiler.supported_activities(), or leave `activities` out",
    "torch.distributed.is_nccl_available": "torch.distributed.is_available()",
    "torch.distributed.ProcessGroupNCCL": "torch.distributed.new_group()",
}


@dataclass(frozen=True)
class Finding:
    """One place. `write` is what to write instead; `edits` are empty if that takes a person; a `note` does no harm elsewhere."""

    path: str
    line: int
    column: int
    found: str
    write: str
    note: bool = False
    edits: tuple[Edit, ...] = field(default=(), repr=False)


def find(text: str, path: str) -> list[Finding]:
    """Everything in a Python source, in the order of places. Raises SyntaxError."""
    if not re.search("cud|nccl|GradScaler|pin_memory", text, re.IGNORECASE):
        return []  # most files, and parsing takes a while
    source = Source(text, path)
    finder = _Finder(source, path)
    finder.visit(source.tree)
    found = [each for each in finder.found if each.line not in source.silent]
    return sorted(found, key=lambda each: (each.line, each.column))


class _Finder(ast.NodeVisitor):
    def __init__(self, source: Source, path: str) -> None:
        self.found: list[Finding] = []
        self._source = source
        self._path = path
        self._words = Words(source)

    def _add(self, node: ast.AST | int, found: str, write: str, edits: Sequence[Edit] = (), note: bool = False) -> None:
        offset = node if isinstance(node, int) else self._source.start(node)
        usable = tuple(edits) if self._source.torch else ()
        self.found.append(Finding(self._path, *self._source.place(offset), found, write, note, usable))

    def _parent(self, node: ast.AST) -> ast.AST | None:
        return self._source.parents.get(node)

    # Names.

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self._source.dotted(node)
        if full is not None and self._name(node, full):
            return
        if node.attr == "is_cuda" and isinstance(node.ctx, ast.Load):
            self._is_cuda(node)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        full = self._source.aliases.get(node.id)
        if full is not None and isinstance(node.ctx, ast.Load):
            self._name(node, full)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or not node.module:
            return
        known = [name for name in node.names if f"{node.module}.{name.name}" in _AMP]
        whole = node.module == "torch.cuda.amp" and len(known) == len(node.names)
        for name in node.names:
            full = f"{node.module}.{name.name}"
            if full in _AMP:
                at = self._source.text.index("torch.cuda.amp", self._source.start(node))
                edits = [Edit(at, at + len("torch.cuda.amp"), "torch.amp")] if whole else []
                self._add(name, full, f"from torch.amp import {name.name}", edits)
            elif full.startswith("torch.cuda."):
                row = ROWS.get(name.name)
                self._add(name, full, row.write if row and row.write else "torch.accelerator")
            elif full in _OTHER:
                self._add(name, full, _OTHER[full])

    def _name(self, node: ast.Attribute | ast.Name, full: str) -> bool:
        """Reports a name of PyTorch; True if it did."""
        imported = isinstance(node, ast.Name)
        if full in _AMP:
            self._amp(node, full)
            return True
        if full == "torch.cuda" or full.startswith("torch.cuda."):
            self._torch_cuda(node, full, imported)
            return True
        if full in ("torch.amp.GradScaler", "torch.GradScaler"):
            call = self._call_of(node)
            if call is not None and not call.args and all(word.arg not in ("device", None) for word in call.keywords):
                edits = self._first_argument(call, f"device={self._words.type_or_cpu}")
                self._add(node, f"{full}(), whose device is cuda", "the argument `device`", edits)
            return False
        for name, instead in _NOTES.items():
            if full == name or full.startswith(name + "."):
                self._add(node, full, instead, note=True)
                return True
        if full in _OTHER and not imported:
            self._add(node, full, _OTHER[full])
            return True
        return False

    def _call_of(self, node: ast.AST) -> ast.Call | None:
        parent = self._parent(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def _torch_cuda(self, node: ast.Attribute | ast.Name, full: str, imported: bool) -> None:
        names = full.split(".")[2:]
        while len(names) > 1 and names[0] in _PARTS:
            del names[0]
        row = ROWS.get(names[0]) if names else None
        if row is None or not row.write:
            write = "torch.get_device_module()" if not names else f"torch.get_device_module().{names[0]}"
            self._add(node, full, write)
            return
        self._add(node, full, row.write, self._edits(node, names, row))

    def _edits(self, node: ast.Attribute | ast.Name, names: Sequence[str], row: Row) -> list[Edit]:
        """What fixes a name of torch.cuda, given what follows `torch.cuda`."""
        call = self._call_of(node)
        torch = self._source.torch or "torch"

        def replaced(name: str) -> list[Edit]:
            return [Edit(self._source.start(node), self._source.end(node), name.replace("torch.", f"{torch}.", 1))]

        if row.fix == "name" and len(names) == 1:
            return replaced(row.write)
        if call is None:
            return []
        if row.fix == "call" and len(names) == 1 and _same_arguments(names[0], call):
            return replaced(row.write)
        if names == ["nvtx", "range"] and len(call.args) == 1:
            return replaced("torch.profiler.record_function")
        if names == ["stream"]:
            return self._with_stream(call)
        if names == ["device"] and len(call.args) == 1 and _is_int(call.args[0]):
            return replaced("torch.accelerator.device_index")
        return []

    def _with_stream(self, call: ast.Call) -> list[Edit]:
        if len(call.args) != 1 or call.keywords or not isinstance(self._parent(call), ast.withitem):
            return []
        (stream,) = call.args
        if isinstance(stream, ast.Constant):
            return []
        source = self._source
        return [Edit(source.start(call), source.start(stream), ""), Edit(source.end(stream), source.end(call), "")]

    def _amp(self, node: ast.Attribute | ast.Name, full: str) -> None:
        call = self._call_of(node)
        if call is None:
            self._add(node, full, _AMP[full])
            return
        autocast = full.endswith("autocast")
        edits = []
        if not call.args or (len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)):
            if isinstance(node, ast.Attribute):
                name = _AMP[full].replace("torch.", f"{self._source.torch}.", 1)
                edits.append(Edit(self._source.start(node), self._source.end(node), name))
            first = f"{self._words.type_or_cpu}"
            named = "enabled=" if autocast else "init_scale="
            edits += self._first_argument(call, first, named)
        self._add(node, full, f"{_AMP[full]}(DEVICE_TYPE, ...)", edits)

    def _first_argument(self, call: ast.Call, text: str, name_of_old: str = "") -> list[Edit]:
        following = [*call.args, *(word.value for word in call.keywords)]
        at = self._source.text.index("(", self._source.end(call.func)) + 1
        if not following:
            return [Edit(at, at, text)]
        return [Edit(at, at, text + ", "), *self._named(call, name_of_old)]

    def _named(self, call: ast.Call, name: str) -> list[Edit]:
        if not call.args or not name:
            return []
        at = self._source.start(call.args[0])
        return [Edit(at, at, name)]

    # Calls and attributes of tensors.

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "cuda" and not (self._source.dotted(node.func) or "").startswith("torch.cuda"):
                self._cuda(node, node.func)
            if node.func.attr == "pin_memory" and (node.args or node.keywords):
                self._pin_memory(node)
                self.visit(node.func)
                return
        for word in node.keywords:
            if word.arg == "pin_memory_device":
                self._add(word, "pin_memory_device", "nothing: memory is pinned for the accelerator")
            elif word.arg == "cuda_sources":
                self._add(word, "cuda_sources", "the backend's own way to compile kernels")
            elif word.arg == "use_cuda" and (self._source.dotted(node.func) or "").startswith("torch."):
                self._add(word, "use_cuda", "torch.profiler.profile() without `activities`")
        self.generic_visit(node)

    def _cuda(self, call: ast.Call, function: ast.Attribute) -> None:
        source, at = self._source, self._source.end(function)
        edits = [Edit(at - len("cuda"), at, "to")]
        has_device = bool(call.args) or any(word.arg == "device" for word in call.keywords)
        if not has_device:
            opening = source.text.index("(", at) + 1
            comma = ", " if call.keywords else ""
            edits.append(Edit(opening, opening, self._words.accelerator + comma))
        unclear = len(call.args) > 1 or any(word.arg is None for word in call.keywords)
        if unclear or any(isinstance(each, ast.Starred) or _is_none(each) for each in call.args):
            edits = []
        self._add(at - len("cuda"), ".cuda()", ".to(DEVICE)", edits)

    def _pin_memory(self, call: ast.Call) -> None:
        given = [*call.args, *(word for word in call.keywords)]
        edits = [Edit(self._source.start(given[0]), self._source.end(given[0]), "")] if len(given) == 1 else []
        self._add(call.func, "pin_memory(DEVICE)", "pin_memory(): memory is pinned for the accelerator", edits)

    def _is_cuda(self, node: ast.Attribute) -> None:
        at, end = self._source.start(node), self._source.end(node)
        value = self._source.text[at : self._source.end(node.value)]
        test = f'{value}.device.type != "cpu"'
        parent = self._parent(node)
        if not isinstance(parent, ast.If | ast.While | ast.Assign | ast.Return | ast.keyword | ast.Assert):
            test = f"({test})"
        # An expression in `value` may have edits of its own: insert around it.
        opening = [Edit(at, at, "(")] if test.startswith("(") else []
        closing = Edit(end - len("is_cuda"), end, 'device.type != "cpu"' + (")" if opening else ""))
        self._add(end - len("is_cuda"), ".is_cuda", 'tensor.device.type != "cpu"', [*opening, closing])

    # Words.

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        first = node.values[0] if node.values else None
        if (
            isinstance(first, ast.Constant)
            and first.value in ("cuda:", "cuda")
            and len(node.values) == 2
            and not self._words.is_message(node)
        ):
            at = self._source.text.index("cuda", self._source.start(node))
            edits = [Edit(at, at + len("cuda"), "{" + self._words.type + "}")]
            self._add(node, self._source.segment(node), "the type of torch.accelerator.current_accelerator()", edits)
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self.visit(value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str) or self._words.is_message(node):
            return
        handle: Callable[[ast.Constant], None] | None = None
        if is_cuda(node.value):
            handle = self._device_word
        elif node.value == "nccl" or re.fullmatch(r"(\w+:\w+,)*cuda:nccl(,\w+:\w+)*", node.value):
            handle = self._nccl
        elif node.value in _VARIABLES:
            self._add(node, node.value, "the backend's own variable")
        elif re.fullmatch(r"torch\.cuda\.\w+", node.value):
            self._add(node, node.value, "torch.set_default_device() or .to(device=, dtype=)")
        elif re.fullmatch(r"(self_)?cuda_(time|memory)\w*", node.value):
            text = self._source.segment(node)
            edit = Edit(self._source.start(node), self._source.end(node), text.replace("cuda_", "device_"))
            self._add(node, node.value, node.value.replace("cuda_", "device_"), [edit])
        if handle is not None:
            handle(node)

    def _device_word(self, node: ast.Constant) -> None:
        write, edits = self._words.device(node)
        self._add(node, repr(node.value), write, edits)

    def _nccl(self, node: ast.Constant) -> None:
        edits = []
        if node.value == "nccl" and self._words.is_value(node):
            expression = f"{self._source.torch}.distributed.get_default_backend_for_device({self._words.type_or_cpu})"
            edits = [Edit(self._source.start(node), self._source.end(node), expression)]
        write = "torch.distributed.get_default_backend_for_device(DEVICE)"
        self._add(node, repr(node.value), write, edits)


def _same_arguments(name: str, call: ast.Call) -> bool:
    """Whether the arguments of a call mean the same to the function that the table names."""
    words = {word.arg for word in call.keywords}
    if name == "Event":
        return not call.args and None not in words
    if name == "Stream":
        return len(call.args) < 2 and words <= {"device", "priority"}
    return not words and not any(isinstance(each, ast.Starred) for each in call.args)


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def all_edits(found: Sequence[Finding]) -> Iterator[Edit]:
    """Edits of all findings."""
    for each in found:
        yield from each.edits
