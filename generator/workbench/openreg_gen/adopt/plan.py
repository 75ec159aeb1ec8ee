"""The plan of an adoption: what each operator becomes, which code moves where, what stays, what is unclear."""

import ast
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import port
from .autocast import Amp, compare
from .choose import PYTHON, Choice, Chooser, Code
from .helpers import Helpers
from .own_tree import noted
from .registrations import Found, Place, Unclear, read_sources
from .torchgen_yaml import read_yamls


@dataclass(frozen=True)
class CustomOperator:
    """schema: without the namespace, as the spec has it."""

    op: str
    schema: str
    at: Place
    code: Code | None


@dataclass
class Plan:
    """files: texts by their path in the tree. python: texts of modules by name. kernels: rows for `place`."""

    name: str
    facts: Mapping[str, Any]
    choices: list[Choice] = field(default_factory=list)
    custom: list[CustomOperator] = field(default_factory=list)
    amp: Amp = field(default_factory=Amp)
    fallback: str = "none"
    kernels: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)
    unclear: list[Unclear] = field(default_factory=list)
    with_port: bool = False
    sources: Sequence[str] = ()

    def of(self, *strategies: str) -> list[Choice]:
        return [each for each in self.choices if each.strategy in strategies]


def make_plan(name: str, facts: Mapping[str, Any], catalogue: Mapping[str, Any], folders: list[pathlib.Path]) -> Plan:
    """Raises items.ParserMissing."""
    found = read_sources(folders) if folders else Found()
    yamls = read_yamls(folders)
    chooser = Chooser(facts, catalogue["operators"], found, yamls, noted(found), catalogue["refused"])
    plan = Plan(name, facts, sources=[str(folder) for folder in folders])
    plan.choices = chooser.choices()
    plan.custom = _custom(plan, chooser)
    live = {op for op, _ in chooser.rows("AutocastPrivateUse1")}
    plan.amp = compare(live, found, catalogue["autocast"])
    own_kernels = [each for each in facts["fallbacks"] if each["key"] == "PrivateUse1" and each["kind"] == "boxed"]
    plan.fallback = "cpu" if own_kernels else "none"
    if facts["device"] != name:
        why = f"the device was called {facts['device']!r}: torch.device({facts['device']!r}) becomes torch.device({name!r})"
        change, refused = "change the scripts that say it", catalogue.get("refused_name")
        remedy = f"{change}: {refused}" if refused else f"name it {facts['device']}, or {change}"
        plan.unclear.append(Unclear(name, why, remedy))
    plan.unclear += [
        *found.unclear,
        *(row for each in yamls for row in each.unclear),
        *_fallback(found),
        *chooser.unclear,
        *plan.amp.unclear,
    ]
    if not chooser.noted:
        _move(plan, found)
    _python(plan)
    _gradients(plan, chooser)
    plan.unclear = list(dict.fromkeys(plan.unclear))
    return plan


def _fallback(found: Found) -> Iterable[Unclear]:
    for entry in found.of("_"):
        bodies = found.functions(entry.target.rpartition("::")[2]) if entry.how == "boxed" else []
        if (
            len(bodies) == 1
            and "cpu_fallback" not in bodies[0].body
            and not bodies[0].file.endswith("host/Fallback.cpp")
        ):
            why = f"your fallback {entry.target} does more than at::native::cpu_fallback; the tree has its own"
            yield Unclear("fallback", why, "compare them: csrc/host/Fallback.cpp", entry.at.file, entry.at.line)


def _gradients(plan: Plan, chooser: Chooser) -> None:
    """Kernels at AutogradPrivateUse1: the spec has none for PyTorch's own operators."""
    for op, row in chooser.rows("AutogradPrivateUse1"):
        at = chooser.place(row)
        entries = chooser.found.of(f"aten::{op}", "AutogradPrivateUse1")
        at = entries[-1].at if entries else at
        todo = "copy its TORCH_LIBRARY_IMPL block into a file of yours below csrc"
        plan.unclear.append(
            Unclear(f"gradient of {op}", "a kernel at AutogradPrivateUse1 stays yours", todo, at.file, at.line)
        )


def _custom(plan: Plan, chooser: Chooser) -> list[CustomOperator]:
    rows = []
    for each in plan.facts["adopt"]["custom"]:
        op, schema = each["op"], each["schema"]
        place = chooser.found.schemas.get(op) or Place(each["file"], each["line"])
        space, _, rest = schema.partition("::")
        if place.file.endswith(".py"):
            plan.choices.append(Choice(op, PYTHON, "defined in Python", place))
            continue
        if why := chooser.refused.get(op):
            plan.unclear.append(
                Unclear(op, why, "keep its TORCH_LIBRARY block in a file of yours", place.file, place.line)
            )
            continue
        if space != plan.name:
            why = f"torch.ops.{space}.{rest.partition('(')[0]} becomes torch.ops.{plan.name}.{rest.partition('(')[0]}"
            plan.unclear.append(Unclear(op, why, "change its callers", place.file, place.line))
        code = chooser.custom_code(op)
        if code is None:
            plan.unclear.append(
                Unclear(op, "its kernel was not found: it starts as an error", "move its body", place.file, place.line)
            )
        if "Tensor" in rest.rpartition("->")[2]:
            why = "torch.compile needs its shapes, too"
            plan.unclear.append(
                Unclear(op, why, "write its meta function, in the kernel's file", place.file, place.line)
            )
        if "AutogradPrivateUse1" in each["keys"]:
            why = "its kernel at AutogradPrivateUse1 does not move"
            plan.unclear.append(Unclear(op, why, "write it as `autograd` of custom_ops", place.file, place.line))
        rows.append(CustomOperator(op, rest, place, code))
    return rows


def _move(plan: Plan, found: Found) -> None:
    """Kernels with code, what they use, and the port."""
    codes = [(each.op, f"aten::{each.op}", each.code) for each in plan.choices if each.code]
    codes += [
        (each.op, f"{plan.name}::{each.schema.partition('(')[0]}", each.code) for each in plan.custom if each.code
    ]
    keep = frozenset(id(code.item) for _, _, code in codes if code.item is not None)
    helpers = Helpers(plan.name, found, keep)
    parts, missing = port.runtime_items(found) if plan.sources else ({}, [])
    plan.with_port = len(parts) == 3
    if plan.with_port:
        for item in parts.values():
            helpers.used[id(item)] = item
            helpers.need(item.text, item.file)
    else:
        plan.unclear += missing
    for _, _, code in codes:
        types = " ".join([code.returns, *(each.type for each in code.parameters)])
        helpers.need(f"{code.body} {types}", code.at.file if code.item is None else code.item.file)
    for op, mark, code in codes:
        helpers.warn_of_python(op, code.body, code.at)
        plan.kernels.append(_kernel(op, mark, code, helpers))
    plan.files = helpers.headers()
    if plan.with_port:
        plan.files.update(port.make_port(plan.name, parts, helpers))
        plan.unclear += [*port.asked(plan.name), *port.missing_of_guard(found, parts["guard"])]
    plan.unclear += helpers.unclear


def _kernel(op: str, mark: str, code: Code, helpers: Helpers) -> dict[str, Any]:
    item, file = code.item, code.at.file
    stays = item is not None and id(item) in helpers.stays
    space = helpers.space_of(item) if item is not None and stays else helpers.space(code.scope, file, True)
    row: dict[str, Any] = {
        "op": op,
        "mark": mark,
        "kind": code.kind,
        "space": space,
        "includes": helpers.includes(file),
    }
    row["arguments"] = len(code.parameters)
    row["symint"] = "SymInt" in " ".join([code.returns, *(each.type for each in code.parameters)])
    if stays and item is not None:
        return {**row, "call": f"::{space}::{item.name}", "text": ""}
    name = re.sub(r"\W", "_", op.replace("::", "_")) + "_moved"
    listed = ", ".join(f"{each.type} {each.name}".strip() for each in code.parameters)
    returns = re.sub(r"^(?:(?:static|inline|extern|\[\[\w+\]\])\s+)+", "", code.returns) or "auto"
    parts = [
        f"// From {pathlib.PurePath(file).name}:{code.at.line}",
        f"static {returns} {name}({listed}) {{{code.body}}}",
    ]
    return {**row, "call": f"::{space}::{name}", "text": helpers.with_known_owners("\n".join(parts))}


# --- Kernels in Python


def _python(plan: Plan) -> None:
    """Modules with kernels move as they are, if they need nothing but PyTorch."""
    for file in sorted({each.at.file for each in plan.of(PYTHON)}):
        at = next(each.at for each in plan.of(PYTHON) if each.at.file == file)
        path = pathlib.Path(file)
        try:
            text = path.read_text()
        except OSError as error:
            plan.unclear.append(
                Unclear(path.name, f"can't be read: {error.strerror}", "copy it by hand", file, at.line)
            )
            continue
        if needs := _needs(text):
            todo = f"split the kernels from it, and import them in torch_{plan.name}/__init__.py"
            plan.unclear.append(Unclear(path.name, f"kernels in Python stay there: it {needs}", todo, file, at.line))
            continue
        plan.python[path.stem] = text


def _needs(text: str) -> str:
    """The reason why a module can't move to another package; empty if it can."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            return f"imports .{node.module or ''} in line {node.lineno}"
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name.partition(".")[0] not in {"torch", *sys.stdlib_module_names}:
                return f"imports {name} in line {node.lineno}"  # type: ignore[attr-defined]
        called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if called in ("rename_privateuse1_backend", "load_library", "_register_device_module"):
            return f"calls {called}() in line {node.lineno}"  # type: ignore[attr-defined]
    return ""
