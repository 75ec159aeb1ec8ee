"""C++ as definitions: what a source defines at namespace scope, by tree-sitter, and which names each definition uses."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .scan import MacroCall, blanked, line_of, macro_calls, masked


class ParserMissing(Exception):
    """tree-sitter is not installed; the text says how to install it."""


#: What registers something while a library is loaded: it is read elsewhere, and the tree has its own.
_BLOCKS = r"TORCH_LIBRARY_IMPL|TORCH_LIBRARY_FRAGMENT|TORCH_LIBRARY"
_REGISTERING = (
    r"REGISTER_PRIVATEUSE1_DISPATCH|REGISTER_ALLOCATOR|C10_REGISTER_GUARD_IMPL|REGISTER_PRIVATEUSE1_HOOKS"
    r"|REGISTER_GENERATOR_PRIVATEUSE1|KERNEL_PRIVATEUSEONE|KERNEL_\w+_PRIVATEUSEONE"
)


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str


@dataclass(frozen=True)
class Item:
    """A definition. kind: function, class, variable, using, macro, include, namespaces.

    scope: the namespaces around it; "" stands for one without a name. names: what other code calls it by.
    """

    kind: str
    names: tuple[str, ...]
    scope: tuple[str, ...]
    text: str
    start: int
    line: int
    file: str
    owner: str = ""  # of a function: "NativeFunctions", where it is a class's
    returns: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: str = ""  # of a function: what is between the braces
    bases: str = ""  # of a class
    conditional: bool = False  # inside of #if

    @property
    def name(self) -> str:
        return self.names[0] if self.names else ""

    @property
    def local(self) -> bool:
        """Whether other files can't use it by its name."""
        return "" in self.scope or re.match(r"static\b", self.text) is not None

    def uses(self) -> frozenset[str]:
        """The identifiers in it, which may be names of other items."""
        return names_in(self.text)


def names_in(text: str) -> frozenset[str]:
    """Identifiers that may be names of items: no members of objects, and no names from namespaces of PyTorch or C++."""
    mask = re.sub(r"\b(?:at|std|c10|torch)(?:::\w+)+", " ", masked(text))
    return frozenset(re.findall(r"(?<![.\w])(?<!->)[A-Za-z_]\w*", mask))


@dataclass
class Source:
    """A file: its text, what it registers, what it defines."""

    file: str
    text: str
    mask: str = ""
    blocks: list[MacroCall] = field(default_factory=list)
    calls: list[MacroCall] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    spaces: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)  # namespaces: from, to, name

    def scope_at(self, place: int) -> tuple[str, ...]:
        """The namespaces around a place."""
        at = len(self.text[:place].encode())
        return next((scope for begin, end, scope in reversed(self.spaces) if begin <= at < end), ())

    def line(self, place: int) -> int:
        return line_of(self.text, place)


def read_source(file: str, text: str) -> Source:
    """Raises ParserMissing."""
    source = Source(file, text, masked(text))
    source.blocks = list(macro_calls(text, source.mask, _BLOCKS, body=True))
    source.calls = list(macro_calls(text, source.mask, _REGISTERING))
    rest = text
    for call in (*source.blocks, *source.calls):
        rest = blanked(rest, call.start, call.end)
    root = _parse(rest)
    source.items = list(_inside(root, file, (), False))
    source.spaces = list(_spaces(root, ()))
    return source


def _parse(text: str) -> Any:
    try:
        tree_sitter, grammar = (importlib.import_module(name) for name in ("tree_sitter", "tree_sitter_cpp"))
    except ImportError as error:
        raise ParserMissing(
            f"--sources needs tree-sitter, which is not installed ({error}): "
            "python -m pip install tree-sitter tree-sitter-cpp"
        ) from error
    return tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(text.encode()).root_node


def _text(node: Any) -> str:
    return str(node.text.decode())


def _spaces(parent: Any, scope: tuple[str, ...]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The outer ones first."""
    for node in parent.named_children:
        inner = scope
        if node.type == "namespace_definition":
            name = node.child_by_field_name("name")
            inner += tuple(_text(name).split("::")) if name is not None else ("",)
            yield node.start_byte, node.end_byte, inner
        if node.type in ("namespace_definition", "declaration_list", "linkage_specification", *_CONDITIONS):
            yield from _spaces(node, inner)


_CONDITIONS = ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef")


def _inside(parent: Any, file: str, scope: tuple[str, ...], conditional: bool) -> Iterator[Item]:
    for node in parent.named_children:
        kind = node.type
        if kind == "namespace_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            inner = tuple(_text(name).split("::")) if name is not None else ("",)
            yield from _inside(body, file, scope + inner, conditional)
        elif kind == "linkage_specification" and (body := node.child_by_field_name("body")) is not None:
            yield from _inside(body, file, scope, conditional)
        elif kind in _CONDITIONS:
            # `#pragma once` in its older form has everything inside.
            guard = _text(node.child_by_field_name("name") or node).endswith(("_H", "_H_", "_HPP", "_INCLUDED", "_H__"))
            yield from _inside(node, file, scope, conditional or not guard)
        else:
            item = _item(node, file, scope, conditional)
            if item is not None:
                yield item


def _item(node: Any, file: str, scope: tuple[str, ...], conditional: bool) -> Item | None:
    place = {"start": node.start_byte, "line": node.start_point[0] + 1, "file": file, "conditional": conditional}
    text, kind = _text(node), node.type

    def made(what: str, *names: str, **more: Any) -> Item:
        return Item(what, names, scope, text.rstrip("\n"), **place, **more)

    if kind == "preproc_include":
        return made("include", _text(node.child_by_field_name("path")))
    if kind in ("preproc_def", "preproc_function_def"):
        return made("macro", _text(node.child_by_field_name("name")))
    if kind == "using_declaration":
        whole = re.match(r"using\s+namespace\b", text)
        return made("namespaces") if whole else made("using", re.split(r"::|\s", text.rstrip(" ;"))[-1])
    if kind in ("alias_declaration", "type_definition", "namespace_alias_definition"):
        found = re.match(r"(?:using|namespace)\s+(\w+)\s*=", text) or re.search(r"(\w+)\s*;$", text)
        return made("using", found[1]) if found else None
    inner = node
    while inner.type == "template_declaration":
        inner = inner.named_children[-1]
    if inner.type == "function_definition":
        return _function(inner, made)
    if inner.type in ("class_specifier", "struct_specifier", "enum_specifier", "union_specifier"):
        text += ";"
        return _class(inner, made)
    if inner.type == "declaration":
        first = inner.child_by_field_name("type")
        if first is not None and first.type in ("class_specifier", "struct_specifier", "enum_specifier"):
            return _class(first, made)
        if _declarator(inner.child_by_field_name("declarator"), "function_declarator") is not None:
            return made("declaration", _last(_text(_declarator(inner, "function_declarator"))))
        names = [_last(_text(_plain(each))) for each in inner.children_by_field_name("declarator")]
        return made("variable", *names) if names else None
    return None


def _last(name: str) -> str:
    return re.split(r"::", re.split(r"\s*[(<\[{=]", name.strip(" *&"))[0])[-1].strip(" *&")


def _plain(node: Any) -> Any:
    while node.type == "init_declarator":
        node = node.child_by_field_name("declarator")
    return node


def _declarator(node: Any, kind: str) -> Any:
    """The declarator of a kind in a chain of them: `at::Tensor& f(int)` has a reference around the function."""
    while node is not None and node.type != kind:
        if node.type in ("init_declarator", "parameter_list", "compound_statement", "lambda_expression"):
            return None
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1]
        node = inner
    return node


def _class(node: Any, made: Any) -> Item | None:
    name = node.child_by_field_name("name")
    if name is None or node.child_by_field_name("body") is None:
        return made("declaration", _text(name)) if name is not None else None
    bases = next((_text(each) for each in node.named_children if each.type == "base_class_clause"), "")
    return made("class", _last(_text(name)), bases=bases)


def _function(node: Any, made: Any) -> Item | None:
    declarator = _declarator(node.child_by_field_name("declarator"), "function_declarator")
    body = node.child_by_field_name("body")
    if declarator is None or body is None or body.type != "compound_statement":
        return None
    name = _text(declarator.child_by_field_name("declarator"))
    owner, _, last = name.rpartition("::")
    return made(
        "function",
        last,
        owner=owner,
        returns=_text(node)[: declarator.start_byte - node.start_byte].strip(),
        parameters=tuple(_parameters(declarator.child_by_field_name("parameters"))),
        body=_text(body)[1:-1],
    )


def _parameters(node: Any) -> Iterator[Parameter]:
    for each in node.named_children:
        if each.type not in ("parameter_declaration", "optional_parameter_declaration"):
            continue
        declarator = each.child_by_field_name("declarator")
        text = re.sub(r"\s+", " ", _text(each).split("=")[0].strip())
        if declarator is None or declarator.type.startswith("abstract"):
            yield Parameter(text, "")
            continue
        name = re.findall(r"\w+", _text(declarator))[-1]
        yield Parameter(re.sub(rf"\b{name}$", "", text).strip(), name)


def lambda_parts(text: str) -> tuple[tuple[Parameter, ...], str] | None:
    """Parameters and body of a lambda; None for anything else, and for one that captures."""
    root = _parse(f"auto it = {text};")
    found = next((each for each in _walk(root) if each.type == "lambda_expression"), None)
    if found is None or not text.lstrip().startswith("[]"):
        return None
    declarator = found.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    body = found.child_by_field_name("body")
    return tuple(_parameters(listed)) if listed is not None else (), _text(body)[1:-1]


def _walk(node: Any) -> Iterator[Any]:
    yield node
    for child in node.named_children:
        yield from _walk(child)
