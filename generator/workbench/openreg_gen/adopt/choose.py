"""The strategy of each operator that a backend registers, with the reason and the place; and what can't be read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .items import Item, Parameter, lambda_parts
from .own_tree import Noted
from .registrations import Found, Place, Registered, Unclear
from .scan import masked, string_of
from .torchgen_yaml import Declared

#: What becomes of an operator: a strategy of the spec, or one of these.
MINIMAL, PYTHON, THEIRS, LEFT_OUT = "the tree's own", "Python", "theirs", "left out"


@dataclass(frozen=True)
class Code:
    """An owner's code that moves. kind: kernel (the operator's own signature), stub (an iterator), custom."""

    kind: str
    function: str
    returns: str
    parameters: tuple[Parameter, ...]
    body: str
    item: Item | None  # None: a lambda
    at: Place
    scope: tuple[str, ...] = ()  # the namespaces around it


@dataclass(frozen=True)
class Choice:
    op: str
    strategy: str
    why: str
    at: Place
    keys: Mapping[str, str] = field(default_factory=dict)
    code: Code | None = None


@dataclass
class Chooser:
    """facts: of adopt.read. operators: what the catalogue says of each."""

    facts: Mapping[str, Any]
    operators: Mapping[str, Mapping[str, Any]]
    found: Found
    yamls: Sequence[Declared]
    noted: Mapping[str, Noted]
    refused: Mapping[str, str] = field(default_factory=dict)  # custom operators that a spec can't have, and why
    unclear: list[Unclear] = field(default_factory=list)

    def place(self, row: Mapping[str, Any]) -> Place:
        number, line = row["at"]
        return Place(self.facts["files"][number] if number >= 0 else "", line)

    def rows(self, key: str = "PrivateUse1", namespace: str = "aten") -> Iterator[tuple[str, Mapping[str, Any]]]:
        for row in self.facts["registrations"]:
            if row["key"] == key and row["active"] and row["op"].startswith(namespace + "::"):
                yield row["op"].removeprefix(namespace + "::"), row

    def choices(self) -> list[Choice]:
        chosen = [self._choose(op, row) for op, row in self.rows()]
        return self._with_stubs(chosen)

    def _doubt(self, op: str, why: str, todo: str, at: Place) -> None:
        self.unclear.append(Unclear(op, why, todo, at.file, at.line))

    def _choose(self, op: str, row: Mapping[str, Any]) -> Choice:
        at, known = self.place(row), self.operators.get(op)
        if known is None:
            self._doubt(op, "this PyTorch doesn't declare it", "leave it out, or define it as a custom operator", at)
            return Choice(op, THEIRS, "not an operator of PyTorch", at)
        if op in self.noted:
            return self._of_own_tree(self.noted[op], known)
        if known["minimal"] and not self._is_stub(op):
            return Choice(op, MINIMAL, "part of the minimal set, which each tree registers", at)
        if at.file.endswith(".py"):
            return Choice(op, PYTHON, "a kernel in Python, by torch.library", at)
        return self._of_sources(op, row, known, at)

    def _of_own_tree(self, noted: Noted, known: Mapping[str, Any]) -> Choice:
        if noted.strategy == "minimal" or (known.get("decomposed_otherwise") and noted.strategy == "cpu_fallback"):
            return Choice(noted.op, MINIMAL, "registered by each tree", noted.at)
        of_form = (self.noted.get(each) for each in known["variants"])
        if noted.form or (known["default"] and any(each and each.strategy == noted.strategy for each in of_form)):
            return Choice(noted.op, LEFT_OUT, "a form that another kernel serves", noted.at)
        keys = dict(noted.keys)
        needed = {"pointwise": ("expr",), "unsupported": ("reason",)}.get(noted.strategy, ())
        if missing := [key for key in needed if key not in keys]:
            self._doubt(
                noted.op, f"{noted.strategy} without a readable {missing[0]}", "copy it from the tree's spec", noted.at
            )
            return self._native(noted.op, known, noted.at, None, "its expression can't be read")
        if noted.strategy == "reduction" and not {"init", "prefer"} & set(keys):
            self._doubt(noted.op, "reduction without a readable fold", "copy it from the tree's spec", noted.at)
            return self._native(noted.op, known, noted.at, None, "its fold can't be read")
        override = {"override": "true"} if self._needs_override(known, noted.strategy) else {}
        return Choice(noted.op, noted.strategy, "its registration says so", noted.at, {**override, **keys})

    def _of_sources(self, op: str, row: Mapping[str, Any], known: Mapping[str, Any], at: Place) -> Choice:
        entries = self.found.of(f"aten::{op}")
        if len({each.target for each in entries}) > 1:
            places = ", ".join(f"{each.at.file}:{each.at.line}" for each in entries)
            self._doubt(
                op, f"registered more than once: {places}", "keep one; the last that is loaded runs", entries[-1].at
            )
        entry = entries[-1] if entries else None
        if row["kind"] == "fallthrough" or (entry and entry.how == "fallthrough"):
            self._doubt(op, "a fallthrough, which no strategy is", "keep its registration in a file of yours", at)
            return Choice(op, THEIRS, "a fallthrough", at)
        if entry is None and (named := self._of_yaml(op, known)) is not None:
            return self._native(op, known, named.at, named, "listed in torchgen's yaml")
        if entry is None and (whole := self._made_by_torchgen(known)):
            return Choice(op, LEFT_OUT, f"torchgen made it of {whole}", at)
        if row["kind"] == "boxed" or (entry and entry.how == "boxed"):
            return self._boxed(op, known, entry, entry.at if entry else at)
        if entry is None:
            why = "its registration is not in the sources" if self.found.sources else "no --sources were given"
            self._doubt(
                op, f"{why}: its kernel starts as the CPU's", "name its folder with --sources, or move the body", at
            )
            return self._native(op, known, at, None, why)
        if re.match(r"(?:at::)?native::", entry.target):
            return self._in_tree(op, known, entry)
        code = self._code(op, entry.target, entry.at, len(known["arguments"]), "kernel", entry.scope)
        return self._native(op, known, entry.at, code, "registered by hand")

    def _made_by_torchgen(self, known: Mapping[str, Any]) -> str:
        """The form that the yaml names, of which torchgen makes the other forms."""
        named = {op for declared in self.yamls for op in declared.operators}
        return next((each for each in known["variants"] if each in named), "")

    def _needs_override(self, known: Mapping[str, Any], strategy: str) -> bool:
        return any(each["strategy"] == strategy and each["needs_override"] for each in known["strategies"])

    def _fits(self, known: Mapping[str, Any], strategy: str) -> str:
        """Empty if it fits, else why not."""
        row = next(each for each in known["strategies"] if each["strategy"] == strategy)
        return "" if row["fits"] else row["reason"] or "it doesn't fit"

    def _native(self, op: str, known: Mapping[str, Any], at: Place, code: Code | None, why: str) -> Choice:
        keys = {"override": "true"} if self._needs_override(known, "native") else {}
        if keys and op not in {each for each, _ in self.rows("AutogradPrivateUse1")} and known["class"] == "composite":
            self._doubt(
                op, "PyTorch composes it: your kernel replaces its gradient", "register a gradient, or leave it out", at
            )
        return Choice(op, "native", why, at, keys, code)

    def _in_tree(self, op: str, known: Mapping[str, Any], entry: Registered) -> Choice:
        stub = next((each for each in self.found.stubs if each.name == known.get("stub")), None)
        if stub is not None and not self._fits(known, "stub"):
            code = self._code(op, stub.target, stub.at, None, "stub")
            return Choice(op, "stub", f"PyTorch's kernel, with {stub.name}", stub.at, {}, code)
        reason = self._fits(known, "in_tree")
        if not reason:
            return Choice(op, "in_tree", f"PyTorch's own kernel, {entry.target}", entry.at)
        self._doubt(
            op, f"registers {entry.target}; in_tree doesn't fit: {reason}", "move what it calls into its file", entry.at
        )
        return self._native(op, known, entry.at, None, "PyTorch's own kernel, which the tree can't register")

    def _is_stub(self, op: str) -> bool:
        return self.operators[op].get("replaces_minimal") == "stub" and any(
            each.name == self.operators[op].get("stub") for each in self.found.stubs
        )

    def _boxed(self, op: str, known: Mapping[str, Any], entry: Registered | None, at: Place) -> Choice:
        fallback = next((each for each in self.found.of("_") if each.how == "boxed"), None)
        bodies = self.found.functions(entry.target.rpartition("::")[2]) if entry else []
        body = bodies[0].body if len(bodies) == 1 else ""
        to_cpu = (
            "cpu_fallback" in body
            or (entry and fallback and entry.target == fallback.target)
            or (entry is not None and entry.target.endswith("native::cpu_fallback"))
        )
        if not to_cpu and (reason := only_raises(body)) is not None:
            return Choice(op, "unsupported", "its kernel only raises", at, {"reason": reason})
        if entry is not None and not to_cpu:
            self._doubt(op, f"a boxed kernel of yours, {entry.target}", "keep its registration in a file of yours", at)
            return Choice(op, THEIRS, "a boxed kernel that is not the CPU's fallback", at)
        if entry is None:
            self._doubt(op, "a boxed kernel, taken for the CPU's fallback", "name its folder with --sources", at)
        if self._needs_override(known, "cpu_fallback"):
            self._doubt(
                op, "the fallback hides a composite: PyTorch composes it, with gradients", "nothing: it is left out", at
            )
            return Choice(op, LEFT_OUT, "PyTorch composes it", at)
        if reason := self._fits(known, "cpu_fallback"):
            self._doubt(op, f"can't fall back: {reason}", "write its kernel", at)
            return self._native(op, known, at, None, "it can't fall back")
        return Choice(op, "cpu_fallback", "registers the fallback", at)

    # --- Code

    def _of_yaml(self, op: str, known: Mapping[str, Any]) -> Code | None:
        for declared in self.yamls:
            if op not in declared.operators:
                continue
            base = op.partition(".")[0]
            names = [base + "_out", base] if known["kind"] == "out" else [base]
            owner = declared.class_name or "NativeFunctions"
            found = [each for name in names for each in self.found.functions(name, owner)]
            return self._best(op, found, known, declared.operators[op], "kernel")
        return None

    def _code(
        self, op: str, target: str, at: Place, arguments: int | None, kind: str, scope: tuple[str, ...] = ()
    ) -> Code | None:
        if target.startswith("["):
            parts = lambda_parts(target)
            if parts is None:
                self._doubt(op, "a lambda that captures", "move its body by hand", at)
                return None
            return Code(kind, "", "", *parts, None, at, scope)
        text = re.sub(r"^[&\s(]+|[)\s]+$", "", target)
        path = text.split("::")
        if not re.fullmatch(r"[\w:]+", text):
            self._doubt(op, f"its kernel is {target[:60]}, which is not a function's name", "move its body by hand", at)
            return None
        found = self.found.functions(path[-1])
        if len(path) > 1 and (owned := [each for each in found if each.owner.endswith(path[-2])]):
            found = owned
        same_file = [each for each in found if each.file == at.file]
        known = self.operators.get(op)
        if arguments is not None and known is not None:
            return self._best(op, same_file or found, known, at, kind)
        found = same_file or found
        if len(found) != 1:
            self._doubt(op, f"{len(found)} functions are called {path[-1]}", "move its body by hand", at)
            return None
        return _moved(found[0], kind)

    def _best(self, op: str, found: Sequence[Item], known: Mapping[str, Any], at: Place, kind: str) -> Code | None:
        """The overload whose parameters are the operator's."""
        wanted = [_plain_type(each["type"]) for each in known["arguments"]]
        same = [each for each in found if len(each.parameters) == len(wanted)]
        exact = [each for each in same if [_plain_type(item.type) for item in each.parameters] == wanted]
        chosen = exact or same
        if len(chosen) == 1:
            return _moved(chosen[0], kind)
        names = {each.name for each in found} or {op}
        why = (
            f"{len(chosen)} functions {'/'.join(sorted(names))} take {len(wanted)} arguments"
            if found
            else "its function is not in the sources"
        )
        self._doubt(op, why, "move its body by hand", at)
        return None

    def _with_stubs(self, chosen: list[Choice]) -> list[Choice]:
        """Stubs that no chosen operator takes are unclear: only the operator's kernel makes them run."""
        if self.noted:
            return chosen
        taken = {self.operators[each.op].get("stub") for each in chosen if each.strategy == "stub"}
        for stub in self.found.stubs:
            if stub.name not in taken:
                self._doubt(
                    stub.name,
                    "no operator registers PyTorch's kernel for it",
                    "give its operator strategy stub",
                    stub.at,
                )
        return chosen

    def custom_code(self, op: str) -> Code | None:
        """Of "mine::scale"."""
        entries = self.found.of(op) or self.found.of(op, "") or self.found.of(op, "CompositeImplicitAutograd")
        if not entries or entries[-1].how != "typed":
            return None
        return self._code(op, entries[-1].target, entries[-1].at, None, "custom", entries[-1].scope)


def _moved(item: Item, kind: str) -> Code:
    return Code(
        kind, item.name, item.returns, item.parameters, item.body, item, Place(item.file, item.line), item.scope
    )


def _plain_type(text: str) -> str:
    """A type as two people may write it: `const at::Tensor &`, `const Tensor&`; SymInt as int."""
    plain = re.sub(r"\b(?:at|c10|std|torch)::|\bconst\b|[&\s]", "", text)
    plain = re.sub(r"OptionalSymIntArrayRef|OptionalIntArrayRef|optional<IntArrayRef>", "OptionalInts", plain)
    plain = re.sub(r"SymIntArrayRef|IntArrayRef|ArrayRef<(?:int64_t|SymInt)>", "Ints", plain)
    plain = re.sub(r"ITensorListRef|TensorList|ArrayRef<Tensor>", "Tensors", plain)
    return re.sub(r"\bSymInt\b", "int64_t", plain)


def only_raises(body: str) -> str | None:
    """The text of the error, if raising it is all that a function does."""
    text = body.strip()
    found = re.fullmatch(
        r"(?:TORCH_CHECK(?:_NOT_IMPLEMENTED)?\s*\(\s*false\s*,|throw [\w:]+\s*\()(.*)\)\s*;", text, re.DOTALL
    )
    if found is None or ";" in masked(found[1]):
        return None
    first = re.match(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)', found[1])
    return " ".join((string_of(first[1].strip()) or "").split()).rstrip(": ") if first else "the backend refuses it"
