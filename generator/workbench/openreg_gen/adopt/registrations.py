"""Reads what the sources of a backend register: blocks of TORCH_LIBRARY, stubs, rules of autocast, the runtime's classes."""

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .items import Item, Source, read_source
from .scan import closing, masked, split_arguments, string_of

ENDINGS = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh", ".cu")
OWN = "// Written by openreg-gen from "  # own_tree reads such files
_SKIPPED = ("build", "third_party", ".git", "node_modules", "test", "tests")


@dataclass(frozen=True)
class Place:
    file: str
    line: int


@dataclass(frozen=True)
class Unclear:
    """Something that could not be read. what: an operator, a macro, a file. todo: what its owner can do."""

    what: str
    why: str
    todo: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Registered:
    """A kernel in a block. op: "aten::relu", or "_" of a fallback. how: typed, boxed, fallthrough."""

    op: str
    key: str
    how: str
    target: str  # the function, as it is written: "&relu", "TORCH_FN(relu)", a lambda
    at: Place
    scope: tuple[str, ...] = ()  # the namespaces around the block


@dataclass(frozen=True)
class Stub:
    name: str  # "abs_stub"
    target: str
    at: Place


@dataclass(frozen=True)
class Rule:
    """A rule of autocast: KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)."""

    op: str
    policy: str
    at: Place


@dataclass
class Found:
    """All that the sources say."""

    sources: list[Source] = field(default_factory=list)
    registered: list[Registered] = field(default_factory=list)
    schemas: dict[str, Place] = field(default_factory=dict)  # of m.def: "mine::scale"
    stubs: list[Stub] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    allocator: tuple[str, Place] | None = None  # the variable
    guard: tuple[str, Place] | None = None  # the class
    unclear: list[Unclear] = field(default_factory=list)

    def functions(self, name: str, owner: str | None = None) -> list[Item]:
        found = [each for source in self.sources for each in source.items if each.kind == "function"]
        return [each for each in found if each.name == name and (owner is None or each.owner.endswith(owner))]

    def of(self, op: str, key: str = "PrivateUse1") -> list[Registered]:
        return [each for each in self.registered if each.op == op and each.key == key]


def files_below(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts[:-1]
        if path.suffix in ENDINGS and path.is_file() and not any(part in _SKIPPED for part in parts):
            yield path


def read_sources(folders: list[pathlib.Path]) -> Found:
    """Raises items.ParserMissing."""
    found = Found()
    for folder in folders:
        for path in files_below(folder):
            text = path.read_text(errors="replace")
            found.sources.append(read_source(str(path), text))
    for source in found.sources:
        _read_blocks(source, found)
        _read_calls(source, found)
    return found


def _read_calls(source: Source, found: Found) -> None:
    for call in source.calls:
        at = Place(source.file, source.line(call.start))
        words = call.arguments
        if call.name == "REGISTER_PRIVATEUSE1_DISPATCH" and len(words) == 2:
            found.stubs.append(Stub(words[0].rpartition("::")[2], words[1], at))
        elif call.name == "REGISTER_ALLOCATOR" and "PrivateUse1" in _constants(found, words[0]):
            found.allocator = (words[1].lstrip("& "), at)
        elif call.name == "C10_REGISTER_GUARD_IMPL" and words[0] == "PrivateUse1":
            found.guard = (words[1], at)
        elif call.name.startswith("KERNEL_"):
            _read_rule(call.name, words, at, found)
    for setting in re.finditer(r"\bSetAllocator\s*\(", source.mask):
        words = tuple(split_arguments(source.text[setting.end() : closing(source.mask, setting.end() - 1)]))
        if len(words) >= 2 and "PrivateUse1" in _constants(found, words[0]):
            found.allocator = (words[1].lstrip("& "), Place(source.file, source.line(setting.start())))


def _constants(found: Found, word: str) -> str:
    """The text of a constant, or the word itself: `kType` may stand for c10::DeviceType::PrivateUse1."""
    name = word.rpartition("::")[2]
    named = [
        each.text for source in found.sources for each in source.items if each.kind == "variable" and name in each.names
    ]
    return " ".join([word, *named])


def _read_rule(macro: str, words: tuple[str, ...], at: Place, found: Found) -> None:
    """KERNEL_PRIVATEUSEONE(OP[, OVERLOAD], POLICY), and the one whose function differs from the operator's."""
    if macro == "KERNEL_PRIVATEUSEONE" and len(words) in (2, 3):
        found.rules.append(Rule(".".join(words[:-1]), words[-1].rpartition("::")[2], at))
    elif macro == "KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE" and len(words) == 5 and string_of(words[1]):
        found.rules.append(Rule(string_of(words[1]) or "", words[-1].rpartition("::")[2], at))
    else:
        why = "a macro of autocast that is not known"
        found.unclear.append(Unclear(f"{macro}({', '.join(words)})", why, "write its rule under amp.add", *_at(at)))


def _at(place: Place) -> tuple[str, int]:
    return place.file, place.line


def _read_blocks(source: Source, found: Found) -> None:
    for block in source.blocks:
        words = block.arguments
        library = words[0]
        key = words[1] if block.name == "TORCH_LIBRARY_IMPL" else ""
        variable = words[-1]
        if key and "PrivateUse1" not in key and key not in ("Meta", "CPU", "CompositeImplicitAutograd"):
            continue
        _Block(source, found, library, key, variable, source.scope_at(block.start)).read(block.body, block.body_start)


@dataclass
class _Block:
    source: Source
    found: Found
    library: str
    key: str
    variable: str
    scope: tuple[str, ...]

    def place(self, at: int) -> Place:
        return Place(self.source.file, self.source.line(at))

    def read(self, body: str, start: int) -> None:
        mask = masked(body)
        done: list[tuple[int, int]] = []
        for call in re.finditer(rf"\b{self.variable}\s*\.\s*(impl|def|fallback)\s*\(", mask):
            end = closing(mask, call.end() - 1)
            done.append((call.start(), end))
            self._call(call[1], split_arguments(body[call.end() : end]), self.place(start + call.start()))
        self._rest(body, mask, start, done)

    def _call(self, what: str, words: list[str], at: Place) -> None:
        if what == "fallback":
            how, target = _how(words[0])
            self.found.registered.append(Registered("_", self.key, how, target, at, self.scope))
            return
        name = string_of(_unwrapped(words[0])) if words else None
        if name is None:
            self._unclear(" ".join(words)[:60], "the operator's name is not a literal", at)
            return
        full = name if "::" in name else f"{self.library}::{name}"
        if what == "impl":
            target = words[-1]
            dispatched = re.match(r"torch::dispatch\s*\(\s*(?:c10::DispatchKey::)?(\w+)\s*,", target)
            self.found.registered.append(
                Registered(full, self.key or (dispatched[1] if dispatched else ""), *_how(target), at, self.scope)
            )
            return
        self.found.schemas[full.split("(")[0].strip()] = at
        if len(words) > 1 and not self.key and not words[1].startswith("{"):
            self.found.registered.append(Registered(full.split("(")[0].strip(), "", *_how(words[-1]), at, self.scope))

    def _rest(self, body: str, mask: str, start: int, done: list[tuple[int, int]]) -> None:
        """Other calls in the block. Rules of autocast are read elsewhere; macros and functions of the owner are unclear."""
        if self.source.text.startswith(OWN):
            return
        for call in re.finditer(r"(?<![\w.:>])([A-Za-z_]\w*)\s*\(", mask):
            inside = any(begin <= call.start() <= end for begin, end in done)
            if inside or call[1].startswith("KERNEL_") or call[1] in ("static_cast", "if", "for"):
                continue
            end = closing(mask, call.end() - 1)
            done.append((call.start(), end))
            text = re.sub(r"\s+", " ", body[call.start() : end + 1])
            self._unclear(
                text[:60], "neither impl(), def() nor fallback() of the library", self.place(start + call.start())
            )

    def _unclear(self, what: str, why: str, at: Place) -> None:
        block = f"TORCH_LIBRARY_IMPL({self.library}, {self.key})" if self.key else f"TORCH_LIBRARY({self.library})"
        todo = "look at what it registers, and add that to ops"
        self.found.unclear.append(Unclear(what, f"in {block}: {why}", todo, *_at(at)))


def _unwrapped(text: str) -> str:
    found = re.fullmatch(r"TORCH_SELECTIVE_(?:NAME|SCHEMA)\s*\((.*)\)", text, re.DOTALL)
    return found[1] if found else text


def _how(target: str) -> tuple[str, str]:
    """How a function is registered, and the function's text."""
    if "makeFallthrough" in target:
        return "fallthrough", ""
    boxed = re.search(r"makeFromBoxed(?:Function|Functor)\s*<(.*)>\s*\(", target, re.DOTALL)
    if boxed:
        return "boxed", boxed[1].strip(" &()")
    return "typed", function_name(target)


def function_name(target: str) -> str:
    """`relu` of TORCH_FN(relu), &relu, static_cast<...>(relu); a lambda stays as it is written."""
    text = target.strip()
    while True:
        wrapped = re.fullmatch(
            r"(?:TORCH_FN|torch::dispatch|torch::CppFunction::makeFromUnboxedFunction|static_cast\s*<.*?>)\s*\((.*)\)",
            text,
            re.DOTALL,
        )
        if wrapped is None:
            break
        text = split_arguments(wrapped[1])[-1]
    return text if text.startswith("[") else text.strip("&() ")
