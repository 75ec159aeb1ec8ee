"""What moved code uses of the files that it comes from: functions, classes, constants, macros, names of other namespaces.

Each old file becomes one header, csrc/adopted/STEM.h, with only that of it which is used. Everything is in the namespace
NAME::adopted, and inside of it in its old namespaces, so that names mean what they meant. What only its own file could use
(`static`, a namespace without a name) is one namespace deeper, in of_STEM.
"""

import pathlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .items import Item, Source, names_in
from .registrations import Found, Place, Unclear
from .scan import masked

SOURCE_ENDINGS = (".cpp", ".cc", ".cxx", ".cu")
#: Headers of PyTorch that include Python.h. The tree's library for kernels is built without Python.
_OF_PYTHON = re.compile(
    r"Python\.h|pybind11/.*|torch/(?:extension|python)\.h|torch/csrc/(?!Export\b)[A-Z]\w*\.h|torch/csrc/utils\.h"
    r"|torch/csrc/(?:.*/)?(?:py|pybind|python_|pythoncapi_)\w*\.h"
    r"|torch/csrc/utils/(?:tensor_\w+|object_ptr|structseq|nested|numpy_stub|disable_torch_function)\.h"
)
_USES_PYTHON = re.compile(r"\b(?:py::|pybind11::|PyObject\b|Py[A-Z]\w*_\w+|THP\w+)")
_OF_LIBRARY = {"Library", "CppFunction", "dispatch", "schema"}  # what torch/library.h has of namespace torch
_CODE = ("function", "class", "variable", "using", "macro", "declaration")


def _without_python(header: str, source: Source) -> list[str]:
    """The includes in place of a header that needs Python: what torch/extension.h has of ATen, and of torch:: if it is used."""
    if header != "torch/extension.h":
        return []
    named = set(re.findall(r"\b(?:torch::|namespace torch::|using namespace (?=torch\b))(\w+)", source.mask))
    return ["<ATen/ATen.h>", "<torch/library.h>", *(["<torch/all.h>"] if named - _OF_LIBRARY else [])]


def stem_of(file: str, others: Iterable[str]) -> str:
    """A word for a file; with its folder where two have the same name."""
    path = pathlib.PurePath(file)
    alike = [pathlib.PurePath(each) for each in others if pathlib.PurePath(each).stem == path.stem and each != file]
    stem = path.stem if all(each.parent == path.parent for each in alike) else f"{path.parent.name}_{path.stem}"
    twin = any(each.parent == path.parent for each in alike) and path.suffix in SOURCE_ENDINGS
    return re.sub(r"\W", "_", f"{stem}_cpp" if twin else stem)


@dataclass
class Helpers:
    """name: of the new backend. used: the items that move, and the files that they are in."""

    name: str
    found: Found
    keep: frozenset[int] = frozenset()  # ids of functions that move into files of their own
    used: dict[int, Item] = field(default_factory=dict)
    stays: set[int] = field(default_factory=set)  # kernels that other code calls
    unclear: list[Unclear] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files = [source.file for source in self.found.sources]
        self.by_name: dict[str, list[Item]] = {}
        for source in self.found.sources:
            for item in source.items:
                for name in item.names if item.kind in _CODE else ():
                    self.by_name.setdefault(name, []).append(item)

    def need(self, text: str, file: str) -> None:
        """Everything that a text of a file uses, as far as it goes."""
        todo = [item for word in names_in(text) for item in self._visible(word, file)]
        while todo:
            item = todo.pop()
            if id(item) in self.used:
                continue
            self.used[id(item)] = item
            self.warn_of_python(item.name, item.text, Place(item.file, item.line))
            if id(item) in self.keep:
                self.stays.add(id(item))
            names = item.uses() - {item.owner}
            if item.kind == "class":  # its functions, where they are defined outside
                todo += [each for each in self._all("function") if each.owner.rpartition("::")[2] == item.name]
            todo += [each for name in names for each in self._visible(name, item.file)]

    def warn_of_python(self, name: str, text: str, at: Place) -> None:
        if found := _USES_PYTHON.search(masked(text)):
            why = f"uses Python ({found[0]}), which the library of the kernels is built without"
            self.unclear.append(Unclear(name, why, "move it to csrc/bindings, or take Python out", at.file, at.line))

    def _all(self, kind: str) -> list[Item]:
        return [item for source in self.found.sources for item in source.items if item.kind == kind]

    def _visible(self, name: str, file: str) -> list[Item]:
        there = self.by_name.get(name, [])
        return [each for each in there if each.file == file] + [
            each for each in there if each.file != file and not each.local
        ]

    # --- Where things are

    def space(self, item_scope: Iterable[str], file: str, local: bool) -> str:
        parts = [self.name, "adopted", *filter(None, item_scope)]
        return "::".join([*parts, f"of_{stem_of(file, self.files)}"] if local else parts)

    def space_of(self, item: Item) -> str:
        return self.space(item.scope, item.file, self._private(item))

    def _private(self, item: Item) -> bool:
        """Whether only its file uses it. In a source, whatever no header of the sources declares."""
        if item.kind == "macro" or pathlib.PurePath(item.file).suffix not in SOURCE_ENDINGS:
            return item.local and item.kind != "macro"
        if item.local or item.kind not in ("function", "variable", "declaration"):
            return True
        if item.owner:  # a function of a class is where the class is
            owners = [each for each in self._all("class") if each.name == item.owner.rpartition("::")[2]]
            return not owners or self._private(owners[0])
        named = self.by_name.get(item.name, [])
        return not any(pathlib.PurePath(each.file).suffix not in SOURCE_ENDINGS and not each.local for each in named)

    def header_of(self, file: str) -> str:
        return f"adopted/{stem_of(file, self.files)}.h"

    def includes(self, file: str) -> list[str]:
        """The includes of a file with code from `file`: the header that is left of it, or its own includes."""
        return [f'"{self.header_of(file)}"'] if self._moves(file) else self._own_includes(self._source(file))

    def _moves(self, file: str) -> bool:
        return any(item.file == file for item in self.used.values())

    def _source(self, file: str) -> Source:
        return next(source for source in self.found.sources if source.file == file)

    def _own_includes(self, source: Source) -> list[str]:
        lines = []
        for item in source.items:
            if item.kind != "include":
                continue
            path = item.name
            wanted = path.strip('"<>')
            if _OF_PYTHON.fullmatch(wanted):
                lines += _without_python(wanted, source)
                continue
            if path.startswith("<"):
                lines.append(path)
                continue
            own = [each for each in self.files if pathlib.PurePath(each).match(wanted) or each.endswith("/" + wanted)]
            if not own and wanted.endswith("NativeFunctions.h"):
                continue  # torchgen's: declares the functions that move
            if not own:
                lines.append(path)
                self.unclear.append(
                    Unclear(
                        path,
                        "a header that is not in the sources",
                        "add its folder in CMakeLists.txt",
                        source.file,
                        item.line,
                    )
                )
            elif self._moves(own[0]):
                lines.append(f'"{self.header_of(own[0])}"')
            else:
                lines += self._own_includes(self._source(own[0])) if own[0] != source.file else []
        return list(dict.fromkeys(lines))

    # --- Texts

    def headers(self) -> dict[str, str]:
        """The files of csrc/adopted."""
        out = {}
        for source in self.found.sources:
            items = sorted(
                (item for item in self.used.values() if item.file == source.file), key=lambda item: item.start
            )
            if items:
                out[f"csrc/{self.header_of(source.file)}"] = self._header(source, items)
        return out

    def _header(self, source: Source, items: list[Item]) -> str:
        short = "/".join(pathlib.PurePath(source.file).parts[-2:])
        lines = [
            f"// Moved from {short} by `openreg-gen new --from`: what the kernels of that file use. Yours to edit.",
            "#pragma once",
            "",
            *(f"#include {path}" for path in self._own_includes(source)),
            "",
        ]
        whole = [item for item in source.items if item.kind == "namespaces"]
        scopes = {item.scope for item in items}
        shown = sorted([*items, *(each for each in whole if each.scope in scopes)], key=lambda item: item.start)
        current = ""
        for item in shown:
            space = "" if item.kind == "macro" else self.space_of(item)
            if item.kind == "namespaces":
                space = self.space(item.scope, item.file, self._private(item))
            if space != current:
                lines += [f"}}  // namespace {current}", ""] if current else []
                lines += [f"namespace {space} {{"] if space else []
                current = space
            if item.conditional:
                self.unclear.append(
                    Unclear(
                        item.name,
                        "stands inside of an #if, which did not move",
                        "look at the condition",
                        item.file,
                        item.line,
                    )
                )
            lines += ["", self.moved(item)]
        lines += ["", f"}}  // namespace {current}"] if current else []
        if definitions := self._definitions_of(source):
            lines += ["", f'#include "{self.header_of(definitions)}"  // defines what is declared here']
        return "\n".join(lines) + "\n"

    def _definitions_of(self, source: Source) -> str:
        """The file that defines what this header declares: it moves as a header, too."""
        path = pathlib.PurePath(source.file)
        if path.suffix in SOURCE_ENDINGS:
            return ""
        twins = [
            each
            for each in self.files
            if pathlib.PurePath(each).with_suffix("") == path.with_suffix("") and each != source.file
        ]
        return twins[0] if twins and self._moves(twins[0]) else ""

    def moved(self, item: Item) -> str:
        """The item's text as a header has it."""
        head, body, tail = item.text.rpartition(item.body) if item.body else (item.text, "", "")
        if item.owner and not any(each.name == item.owner.rpartition("::")[2] for each in self._all("class")):
            head = re.sub(rf"\b{item.owner}::(?={item.name}\b)", "", head)
        text = head + self.with_known_owners(body) + tail
        if item.kind in ("macro", "using", "namespaces", "class"):
            return text if item.kind in ("macro",) or text.rstrip().endswith(";") else text + ";"
        text = re.sub(r"^static\s+", "", text)
        if item.kind == "function" and not self._private(item):
            text = self._with_private_names(text, item)
        template = text.startswith(("template", "extern", "inline"))
        plain_constexpr = item.kind == "function" and re.match(r"(?:\[\[\w+\]\]\s*)?constexpr\b", text)
        if item.kind == "declaration" or template or plain_constexpr:
            return text
        return "inline " + text

    def _with_private_names(self, text: str, item: Item) -> str:
        """A function that others call, in whose file are names that only this file has."""
        inside = [
            each
            for each in self.used.values()
            if each.file == item.file and each.kind != "macro" and self._private(each)
        ]
        words = names_in(item.body)
        spaces = dict.fromkeys(self.space_of(each) for each in inside if words & set(each.names))
        start = text.rindex(item.body) if item.body and spaces else 0
        return (
            text[:start] + "".join(f" using namespace ::{space};" for space in spaces) + text[start:] if start else text
        )

    def with_known_owners(self, text: str) -> str:
        """`NativeFunctions::add` by its full name, where the class is in a generated header and its functions are not in it."""
        classes = {item.name for item in self._all("class")}
        functions = {(item.owner.rpartition("::")[2], item.name): item for item in self._all("function") if item.owner}

        def known(found: re.Match[str]) -> str:
            item = functions.get((found[1], found[2]))
            return found[0] if item is None or found[1] in classes else f"::{self.space_of(item)}::{item.name}"

        return re.sub(r"(?<![\w:])(?:\w+::)*?(\w+)::(\w+)\b(?!::)", known, text)
