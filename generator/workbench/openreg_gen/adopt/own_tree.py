"""Reads the sources of a tree of openreg-gen: its macros name each kernel's strategy, and loops have their expression."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .items import Source
from .registrations import OWN, Found, Place
from .scan import closing, macro_calls, split_arguments, string_of

_MACROS = r"[A-Z][A-Z0-9_]*_(?:KERNEL|STRUCTURED_KERNEL|STRUCTURED_FORM|IMPL|IMPL_BOXED|IMPL_FORM)"
_NAMES = {
    "Bool": "bool", "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16",
    "BFloat16": "bfloat16", "Float": "float32", "Double": "float64", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip


@dataclass(frozen=True)
class Noted:
    """An operator of such a tree. strategy: a word of the spec, or "minimal". form: served by another operator's kernel."""

    op: str
    strategy: str
    at: Place
    form: bool = False
    keys: dict[str, str] = field(default_factory=dict, hash=False)  # of the spec: expr, dtypes, ...


def is_own(source: Source) -> bool:
    return OWN.match(source.text) is not None


def noted(found: Found) -> dict[str, Noted]:
    rows: dict[str, Noted] = {}
    for source in found.sources:
        if is_own(source):
            for each in _of_source(source):
                rows.setdefault(each.op, each)
    return rows


def _of_source(source: Source) -> Iterator[Noted]:
    for call in macro_calls(source.text, source.mask, _MACROS):
        words = [string_of(each) for each in call.arguments]
        name = next((each for each in words[:2] if each), None)
        if name is None or len(words) < 4 or (words[-1] is None and not call.name.endswith("_IMPL_BOXED")):
            continue
        strategy = words[-1] or "unsupported"  # its macro has no strategy
        yield Noted(
            name,
            strategy,
            Place(source.file, source.line(call.start)),
            "FORM" in call.name,
            _keys(source, strategy, name),
        )


def _keys(source: Source, strategy: str, name: str) -> dict[str, str]:
    if strategy == "pointwise":
        found = re.search(r"device_kernel<scalar_t>\(\w+, \[[^\]]*\]\([^{]*\) \{ return (.*?); \}[,)]", source.text)
        return {"expr": found[1], **_dtypes(source)} if found else {}
    if strategy == "reduction":
        return {**_fold(source), **_dtypes(source)}
    if strategy == "unsupported":
        reason = re.search(rf'"aten::{re.escape(name)} is not supported on \w+: ", ("(?:\\.|[^"\\])*")', source.text)
        return {"reason": string_of(reason[1]) or ""} if reason else {}
    return {}


def _fold(source: Source) -> dict[str, str]:
    opening = re.search(r"\b(reduce|pick)_kernel<scalar_t>\(", source.text)
    if opening is None:
        return {}
    words = split_arguments(source.text[opening.end() : closing(source.mask, opening.end() - 1)])
    lambdas = [found[1] for each in words if (found := re.search(r"\{ return (.*); \}$", each, re.DOTALL))]
    if opening[1] == "pick":
        keys = {"map": lambdas[0], "prefer": lambdas[1]} if len(lambdas) == 2 else {}
        return {key: value for key, value in keys.items() if (key, value) != ("map", "self")}
    init = next((found[1] for each in words if (found := re.match(r"static_cast<acc_t>\((.*)\)$", each))), "")
    if len(lambdas) != 3 or not init:
        return {}
    keys = {"map": lambdas[0], "combine": lambdas[1], "init": init, "finish": lambdas[2]}
    return {key: value for key, value in keys.items() if (key, value) not in (("map", "self"), ("finish", "acc"))}


def _dtypes(source: Source) -> dict[str, str]:
    listed = re.search(r"is_one_of\([^{]*\{([^}]*)\}\)", source.text) or re.search(
        r"\n\s+((?:at::k\w+(?:, )?)+)\);", source.text
    )
    names = [_NAMES.get(word) for word in re.findall(r"at::k(\w+)", listed[1])] if listed else []
    return {"dtypes": "[" + ", ".join(filter(None, names)) + "]"} if names and None not in names else {}
