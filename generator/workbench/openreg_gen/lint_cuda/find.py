"""Finds code that only runs on CUDA: each place with the generic spelling, and with edits if they are mechanical."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..cuda_names import ROWS, is_cuda
from .accelerator import VARIABLES, Accelerator
from .amp import NAMES as AMP
from .amp import Amp
from .known import Known
from .names import Names, is_annotation
from .source import Edit, Source
from .words import Words

_PARTS = {"amp", "graphs", "memory", "random", "streams", "autocast_mode", "grad_scaler"}  # submodules of torch.cuda
NOTES = {
    "torch.backends.cudnn": "no effect on other devices",
    "torch.backends.cuda.matmul.allow_tf32": "torch.set_float32_matmul_precision('high')",
    "torch.backends.cuda": "no effect on other devices",
    "torch.version.cuda": "None in other builds; ask torch.accelerator.current_accelerator()",
}
OTHER = {
    "torch.utils.cpp_extension.CUDAExtension": "the backend's own way to compile kernels, or torch.utils.cpp_extension.CppExtension",
    "torch.utils.cpp_extension.CUDA_HOME": "None without CUDA's toolkit",
    "torch.profiler.ProfilerActivity.CUDA": "torch.profiler.supported_activities(), or leave `activities` out",
    "torch.distributed.is_nccl_available": "torch.distributed.is_available()",
    "torch.distributed.ProcessGroupNCCL": "torch.distributed.new_group()",
    "torch.Tensor.cuda": "torch.Tensor.to with DEVICE",
    "torch.nn.Module.cuda": "torch.nn.Module.to with DEVICE",
}
# Below these, a comparison needs no parentheses.
_LOOSER = (
    *(ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.Assert, ast.Assign, ast.Return, ast.keyword),
    *(ast.Dict, ast.List, ast.Tuple, ast.comprehension, ast.ListComp, ast.GeneratorExp),
)


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
    found = None
    if Accelerator(source).own:
        found = _Finder(source, path, Accelerator(source)).all()
    if found is None:
        found = _Finder(source, path, Accelerator(source, own=False)).all()
    return sorted(found or [], key=lambda each: (each.line, each.column))


class _Finder(ast.NodeVisitor):
    def __init__(self, source: Source, path: str, accelerator: Accelerator) -> None:
        self.found: list[Finding] = []
        self._source = source
        self._path = path
        self._accelerator = accelerator
        self._known = Known(source)
        self._words = Words(source, accelerator, self._known)
        self._amp = Amp(source, accelerator, self._known)
        self._names = Names(source, self._known)
        self._imported_amp: list[
            Finding
        ] = []  # imports from torch.cuda.amp and the uses of their names: all are fixed, or none
        self._own_cuda = any(
            isinstance(node, ast.FunctionDef) and node.name == "cuda" for node in ast.walk(source.tree)
        )

    def all(self) -> list[Finding] | None:
        """All findings, with the edit that defines the accelerator; None if the file's own variable can't serve."""
        self.visit(self._source.tree)
        silent = self._source.silent
        if any(not each.edits or each.line in silent for each in self._imported_amp):
            alone = {id(each) for each in self._imported_amp}
            self.found = [replace(each, edits=()) if id(each) in alone else each for each in self.found]
        found = [each for each in self.found if each.line not in silent]
        uses = [each for each in found if self._accelerator.used_by(each.edits)]
        if not uses:
            return found
        offsets = [edit.start for each in uses for edit in each.edits]
        definition = self._accelerator.definition(offsets)
        if definition is None and self._accelerator.own:
            return None
        using = set(map(id, uses))
        if definition is None:
            return [replace(each, edits=()) if id(each) in using else each for each in found]
        return [replace(each, edits=(definition, *each.edits)) if id(each) in using else each for each in found]

    def _add(
        self,
        node: ast.AST,
        found: str,
        write: str,
        edits: Sequence[Edit] = (),
        note: bool = False,
        at: int | None = None,
    ) -> Finding:
        """`at`: the place, if it is not the node's start."""
        offset = self._source.start(node) if at is None else at
        usable = tuple(edits) if self._source.torch else ()
        if self._accelerator.used_by(usable) and self._source.is_compiled(node):
            usable = ()
        self.found.append(Finding(self._path, *self._source.place(offset), found, write, note, usable))
        return self.found[-1]

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
        known = [name for name in node.names if f"{node.module}.{name.name}" in AMP]
        whole = node.module == "torch.cuda.amp" and len(known) == len(node.names)
        for name in node.names:
            full = f"{node.module}.{name.name}"
            if full in AMP:
                at = self._source.text.index("torch.cuda.amp", self._source.start(node))
                edits = [Edit(at, at + len("torch.cuda.amp"), "torch.amp", True)] if whole else []
                self._imported_amp.append(self._add(name, full, f"from torch.amp import {name.name}", edits))
            elif full.startswith("torch.cuda."):
                row = ROWS.get(name.name)
                self._add(name, full, row.write if row and row.write else "torch.accelerator")
            elif full in OTHER:
                self._add(name, full, OTHER[full])

    def _name(self, node: ast.Attribute | ast.Name, full: str) -> bool:
        """Reports a name of PyTorch; True if it did."""
        imported, call = isinstance(node, ast.Name), self._call_of(node)
        if full in AMP:
            arguments = "device_type=DEVICE.type" if not AMP[full][1] else "DEVICE.type, ..."
            found = self._add(node, full, f"{AMP[full][0]}({arguments})", self._amp.old(node, call, full))
            if imported:
                self._imported_amp.append(found)
            return True
        if full == "torch.cuda" or full.startswith("torch.cuda."):
            self._torch_cuda(node, full, imported)
            return True
        if full in ("torch.amp.GradScaler", "torch.GradScaler"):
            if call is not None and not call.args and all(word.arg not in ("device", None) for word in call.keywords):
                edits = self._amp.scaler(call)
                self._add(node, f"{full}(), whose device is cuda", "the argument `device`", edits)
            return False
        for name, instead in NOTES.items():
            if full == name or full.startswith(name + "."):
                self._add(node, full, instead, note=True)
                return True
        if full in OTHER and not imported:
            self._add(node, full, OTHER[full], self._other(node, full))
            return True
        return False

    def _call_of(self, node: ast.AST) -> ast.Call | None:
        parent = self._parent(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def _other(self, node: ast.AST, full: str) -> list[Edit]:
        source, parent = self._source, self._parent(node)
        start, end = source.start(node), source.end(node)
        if full == "torch.profiler.ProfilerActivity.CUDA" and isinstance(parent, ast.List):
            names = {source.dotted(each) for each in parent.elts}
            if names == {full, "torch.profiler.ProfilerActivity.CPU"}:
                activities = f"{source.torch}.profiler.supported_activities()"
                return [Edit(source.start(parent), source.end(parent), activities)]
        if full.endswith(".cuda") and isinstance(parent, ast.Call) and node in parent.args:
            return [Edit(start, end, f"lambda each: each.to({self._accelerator.name})")]
        return []

    def _torch_cuda(self, node: ast.Attribute | ast.Name, full: str, imported: bool) -> None:
        names = full.split(".")[2:]
        while len(names) > 1 and names[0] in _PARTS:
            del names[0]
        row = ROWS.get(names[0]) if names else None
        if row is None or not row.write:
            self._add(node, full, "torch.accelerator, or the backend's own module: torch.get_device_module()")
            return
        call = self._call_of(node)
        choice = self._words.choice(self._parent(call)) if call and names == ["is_available"] else None
        self._add(
            node,
            full,
            self._names.advice(node, names[0], row),
            [choice] if choice else self._names.edits(node, names, row),
        )

    # Calls and attributes of tensors.

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            full = self._source.dotted(node.func) or ""
            if node.func.attr == "cuda" and not full.startswith("torch.cuda") and full not in OTHER:
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
        source, at, name = self._source, self._source.end(function), self._accelerator.name
        edits = [Edit(at - len("cuda"), at, "to")]
        words = [word.value for word in call.keywords if word.arg == "device"]
        given = [*call.args, *words]
        # A storage takes its device by keyword.
        keyword = "device=" if self._is_storage(function.value) and not words else ""
        if not given:
            opening = source.text.index("(", at) + 1
            comma = ", " if call.keywords else ""
            edits.append(Edit(opening, opening, keyword + name + comma))
        else:
            value = source.segment(given[0])
            if not self._known.is_some(given[0]):  # .cuda(None) is the current device, .to(None) moves nothing
                keyword += f"{name} if {value} is None else "
            if keyword:
                edits.append(Edit(source.start(given[0]), source.start(given[0]), keyword))
            repeatable = isinstance(given[0], ast.Name | ast.Attribute | ast.Subscript | ast.Constant)
            if not (repeatable or self._known.is_some(given[0])) or "\n" in value:
                edits = []
        unclear = self._own_cuda or len(given) > 1 or any(word.arg is None for word in call.keywords)
        if unclear or any(isinstance(each, ast.Starred) or _is_none(each) for each in given):
            edits = []
        self._add(call, ".cuda()", ".to(DEVICE)", edits, at=at - len("cuda"))

    def _is_storage(self, node: ast.AST) -> bool:
        """Whether a value is what torch.load gives to a function for `map_location`."""
        if not isinstance(node, ast.Name):
            return False
        function = self._source.function(node)
        first = isinstance(function, ast.Lambda) and function.args.args and function.args.args[0].arg == node.id
        return "storage" in node.id.lower() or bool(first and self._words.is_map_location(function))  # type: ignore[arg-type]

    def _pin_memory(self, call: ast.Call) -> None:
        given = [*call.args, *(word for word in call.keywords)]
        edits = [Edit(self._source.start(given[0]), self._source.end(given[0]), "")] if len(given) == 1 else []
        self._add(call.func, "pin_memory(DEVICE)", "pin_memory(): memory is pinned for the accelerator", edits)

    def _is_cuda(self, node: ast.Attribute) -> None:
        at, end, cpu = self._source.start(node), self._source.end(node), self._source.quoted("cpu", node)
        parent = self._parent(node)
        if isinstance(parent, ast.UnaryOp) and self._source.text[self._source.start(parent) : at] == "not ":
            edits = [Edit(self._source.start(parent), at, ""), Edit(end - len("is_cuda"), end, f"device.type == {cpu}")]
            self._add(node, ".is_cuda", 'tensor.device.type == "cpu"', edits, at=end - len("is_cuda"))
            return
        plain = isinstance(parent, _LOOSER) or (isinstance(parent, ast.Call) and node in parent.args)
        # An expression in front may have edits of its own: insert around it.
        opening = [] if plain else [Edit(at, at, "(")]
        closing = Edit(end - len("is_cuda"), end, f"device.type != {cpu}" + (")" if opening else ""))
        self._add(node, ".is_cuda", 'tensor.device.type != "cpu"', [*opening, closing], at=end - len("is_cuda"))

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
            edits = [Edit(at, at + len("cuda"), "{" + self._accelerator.type + "}")]
            usable = edits if self._words.is_value(node) and not self._words.is_map_location_key(node) else []
            self._add(node, self._source.segment(node), "DEVICE.type and the index", usable)
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self.visit(value)

    def visit_Constant(self, node: ast.Constant) -> None:
        text = node.value
        if not isinstance(text, str):
            return
        if text in VARIABLES and not self._words.is_told(node):
            self._add(node, text, "the backend's own variable")
        if (composed := self._words.composed(node)) is not None:
            self._composed(node, *composed)
        elif self._words.is_message(node) or self._words.is_map_location_key(node) and self._words.has_second_key(node):
            return
        elif is_cuda(text):
            self._device_word(node)
        elif text == "nccl" or re.fullmatch(r"(\w+:\w+,)*cuda:nccl(,\w+:\w+)*", text):
            self._nccl(node)
        elif re.fullmatch(r"torch\.cuda\.\w+", text):
            self._type_name(node)
        elif re.fullmatch(r"(self_)?cuda_(time|memory)\w*", text):
            old = self._source.segment(node)
            edit = Edit(self._source.start(node), self._source.end(node), old.replace("cuda_", "device_"))
            self._add(node, text, text.replace("cuda_", "device_"), [edit])

    def _composed(self, node: ast.Constant, whole: ast.expr, text: str) -> None:
        words, source = self._words, self._source
        if words.is_message(whole) or (words.is_map_location_key(whole) and words.has_second_key(whole)):
            return
        edits = []
        if text and words.is_map_location_key(whole):
            edits = words.second_key(whole)
        elif text and words.is_value(whole):
            edits = [Edit(source.start(whole), source.end(whole), text)]
        self._add(node, source.segment(whole), "DEVICE.type and the index", edits)

    def _type_name(self, node: ast.Constant) -> None:
        name = str(node.value).rpartition(".")[2]
        row = ROWS.get(name)
        if row is not None and is_annotation(node, self._source.parents):
            at = self._source.text.index("torch.cuda.", self._source.start(node))
            edits = [Edit(at, at + len(f"torch.cuda.{name}"), row.write)] if name in ("Event", "Stream") else []
            self._add(node, str(node.value), row.write, edits)
        else:
            write = "torch.set_default_device(DEVICE) and torch.set_default_dtype(), or .to(DEVICE, dtype)"
            self._add(node, str(node.value), write)

    def _device_word(self, node: ast.Constant) -> None:
        write, edits = self._words.device(node)
        parent = self._parent(node)
        call = self._parent(parent) if isinstance(parent, ast.keyword) else parent
        if edits and isinstance(call, ast.Call):
            more = self._amp.new(call)
            edits = [] if more is None else [*edits, *more]
        self._add(node, repr(node.value), write, edits)

    def _nccl(self, node: ast.Constant) -> None:
        edits = []
        if node.value == "nccl" and self._words.is_value(node) and self._starts_processes(node):
            aliases = self._source.aliases.items()
            module = next(
                (name for name, full in aliases if full == "torch.distributed"), f"{self._source.torch}.distributed"
            )
            expression = f"{module}.get_default_backend_for_device({self._accelerator.name})"
            edits = [Edit(self._source.start(node), self._source.end(node), expression)]
        write = "torch.distributed.get_default_backend_for_device(DEVICE)"
        self._add(node, repr(node.value), write, edits)

    def _starts_processes(self, node: ast.AST) -> bool:
        """Whether the function that names the library uses it: on a backend that has none, asking for it raises."""
        scope = self._source.function(node)
        nodes = (
            ast.walk(scope)
            if scope is not None
            else iter([self._parent(node), self._parent(self._parent(node) or node)])
        )
        calls = (each.func for each in nodes if isinstance(each, ast.Call))
        return any(
            getattr(each, "attr", getattr(each, "id", "")) in ("init_process_group", "new_group") for each in calls
        )


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def all_edits(found: Sequence[Finding]) -> Iterator[Edit]:
    """Edits of all findings; one that several share comes once."""
    shared = set()
    for edit in (edit for each in found for edit in each.edits):
        if edit not in shared:
            yield edit
        if edit.once:
            shared.add(edit)
