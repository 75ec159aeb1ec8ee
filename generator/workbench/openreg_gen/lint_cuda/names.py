"""Names of torch.cuda: the edits that the table of `cuda_names` allows, given where a name stands."""

import ast
from collections.abc import Callable, Sequence

from ..cuda_names import Row
from .known import Known
from .source import Edit, Source

# What these give without CUDA, where the generic function raises; None: they do nothing.
WITHOUT_CUDA: dict[str, str | None] = {
    "empty_cache": None,
    "caching_allocator_enable": None,
    **dict.fromkeys(("memory_allocated", "memory_reserved", "memory_cached"), "0"),
    **dict.fromkeys(("max_memory_allocated", "max_memory_reserved", "max_memory_cached"), "0"),
    **dict.fromkeys(("memory_stats", "memory_stats_as_nested_dict"), "{}"),
    **dict.fromkeys(("host_memory_stats", "host_memory_stats_as_nested_dict"), "{}"),
    "is_initialized": "False",
    "get_rng_state_all": "[]",
    "set_rng_state_all": None,
}


class Names:
    """Makes the edits of names."""

    def __init__(self, source: Source, known: Known) -> None:
        self._source = source
        self._known = known

    def _parent(self, node: ast.AST) -> ast.AST | None:
        return self._source.parents.get(node)

    def _call_of(self, node: ast.AST) -> ast.Call | None:
        parent = self._parent(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def advice(self, node: ast.AST, name: str, row: Row) -> str:
        parent = self._parent(node)
        if name.endswith("Tensor") and isinstance(parent, ast.Call) and node in parent.args:  # isinstance
            dtype = row.write.partition("dtype=")[2].partition(",")[0]
            return f'TENSOR.device.type != "cpu" and TENSOR.dtype == {dtype}'
        return row.write

    def edits(self, node: ast.Attribute | ast.Name, names: Sequence[str], row: Row) -> list[Edit]:
        """What fixes a name of torch.cuda, given what follows `torch.cuda`."""
        call, source = self._call_of(node), self._source

        def replaced(name: str) -> list[Edit]:
            return [Edit(source.start(node), source.end(node), name.replace("torch.", f"{source.torch}.", 1))]

        if len(names) == 1 and names[0] in WITHOUT_CUDA and not self._known.guarded(node):
            same = call is not None and (row.fix == "name" or _same_arguments(names[0], call))
            around = self._unless_absent(call, WITHOUT_CUDA[names[0]]) if call is not None and same else []
            return [*replaced(row.write), *around] if around else []
        if (row.fix == "name" or self._is_type(node, names[0])) and len(names) == 1:
            return replaced(row.write)
        if call is None:
            return []
        if names == ["set_stream"] and not (call.args and self._known.is_some(call.args[0])):
            return []  # torch.cuda.set_stream(None) does nothing
        if row.fix == "call" and len(names) == 1 and _same_arguments(names[0], call):
            return replaced(row.write)
        if names[0] in ("manual_seed", "manual_seed_all") and len(names) == 1:
            return self._seeded(call)
        if names == ["nvtx", "range"] and len(call.args) == 1:
            return replaced("torch.profiler.record_function")
        if names == ["stream"] and len(call.args) == 1 and not call.keywords:
            return self._stream(call, replaced)
        if names == ["device"] and len(call.args) == 1 and self._known.is_index(call.args[0]):
            return replaced("torch.accelerator.device_index")
        return []

    def _seeded(self, call: ast.Call) -> list[Edit]:
        """Deletes a line that seeds what `torch.manual_seed` has just seeded."""
        source, statement = self._source, self._parent(call)
        if not isinstance(statement, ast.Expr):
            return []
        outer = self._parent(statement)
        if (
            isinstance(outer, ast.If)
            and outer.body == [statement]
            and not outer.orelse
            and self._known.implies(outer.test)
        ):
            statement = outer
        given = [ast.dump(each) for each in call.args]
        for each in reversed(self._known.preceding(statement)):
            value = each.value if isinstance(each, ast.Expr) else None
            full = source.dotted(value.func) if isinstance(value, ast.Call) else None
            if full == "torch.manual_seed" and isinstance(value, ast.Call):
                same = [ast.dump(one) for one in value.args] == given and not (call.keywords or value.keywords)
                return source.without(statement) if same else []
            if not (full or "").endswith(("seed", "seed_all")) and not _is_plain(each):
                return []
        return []

    def _is_type(self, node: ast.AST, name: str) -> bool:
        """Whether a class is used as a type: in an annotation, or in isinstance."""
        parent = self._parent(node)
        if name not in ("Event", "Stream"):
            return False
        if isinstance(parent, ast.Call):
            return getattr(parent.func, "id", "") == "isinstance" and node in parent.args[1:]
        return is_annotation(node, self._source.parents)

    def _unless_absent(self, call: ast.Call, otherwise: str | None) -> list[Edit]:
        """Keeps a call, which raises without a device, from being made there."""
        source, parent = self._source, self._parent(call)
        start, end, test = source.start(call), source.end(call), f"{source.torch}.accelerator.is_available()"
        if isinstance(parent, ast.Expr):
            at = source.line_start(parent.lineno)
            indent = source.text[at:start]
            rest = source.text[end : source.line_end(parent.end_lineno or 0)].strip()
            if indent.strip() or (rest and not rest.startswith("#")):
                return []
            return [Edit(start, start, f"if {test}:{source.newline}{indent}{source.indent}")]
        if otherwise is None:
            return []
        plain = isinstance(parent, ast.Assign | ast.keyword | ast.Return | ast.FormattedValue | ast.Call)
        opening, closing = ("", "") if plain else ("(", ")")
        edits = [Edit(start, start, opening)] if opening else []
        return [*edits, Edit(end, end, f" if {test} else {otherwise}{closing}")]

    def _stream(self, call: ast.Call, replaced: Callable[[str], list[Edit]]) -> list[Edit]:
        (stream,) = call.args
        source = self._source
        if isinstance(stream, ast.Constant | ast.Starred) or not isinstance(self._parent(call), ast.withitem):
            return []
        if self._known.is_some(stream):
            return [Edit(source.start(call), source.start(stream), ""), Edit(source.end(stream), source.end(call), "")]
        return replaced(
            "torch.get_device_module().stream"
        )  # `with None` fails, and torch.cuda.stream(None) does nothing


def _is_plain(node: ast.AST) -> bool:
    """Whether a statement is an assignment that draws no random number."""
    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return isinstance(node, ast.Assign) and all(getattr(each, "id", "") == "str" for each in calls)


def _same_arguments(name: str, call: ast.Call) -> bool:
    """Whether the arguments of a call mean the same to the function that the table names."""
    words = {word.arg for word in call.keywords}
    if name == "Event":
        return not call.args and None not in words
    if name == "Stream":
        return len(call.args) < 2 and words <= {"device", "priority"}
    return not words and not any(isinstance(each, ast.Starred) for each in call.args)


def is_annotation(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a node is an annotation, or part of one: `Event | None`, `list[Event]`."""
    parent = parents.get(node)
    if isinstance(parent, ast.BinOp | ast.Subscript | ast.Tuple):
        return is_annotation(parent, parents)
    return node in (getattr(parent, "annotation", None), getattr(parent, "returns", None))
