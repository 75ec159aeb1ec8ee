"""The spec of an adopted backend, with the place of each operator, and all that is unclear as comments."""

import json
import os
import re
import textwrap
from collections.abc import Iterator, Sequence

from .choose import LEFT_OUT, MINIMAL, PYTHON, THEIRS, Choice
from .plan import Plan
from .registrations import Unclear


def shown(plan: Plan, file: str) -> str:
    """A path as its owner would write it: below the folder that holds the sources."""
    for folder in plan.sources:
        root = os.path.dirname(os.path.abspath(folder))
        if os.path.abspath(file).startswith(root + os.sep):
            return os.path.relpath(os.path.abspath(file), root)
    return file


def place_text(plan: Plan, file: str, line: int) -> str:
    return f"{shown(plan, file)}:{line}" if line else shown(plan, file)


def unclear_lines(plan: Plan, each: Unclear) -> list[str]:
    where = f"{place_text(plan, each.file, each.line)}: " if each.file else ""
    return [f"{where}{each.what}: {each.why}", f"  -> {each.todo}"]


FEW = 3  # so many rows that say the same have each their place


def grouped(unclear: Sequence[Unclear]) -> Iterator[list[Unclear]]:
    """The rows in their order; more than FEW with the same reason and remedy together."""
    alike: dict[tuple[str, str], list[Unclear]] = {}
    for each in unclear:
        alike.setdefault((each.why, each.todo), []).append(each)
    for each in unclear:
        group = alike[each.why, each.todo]
        if len(group) <= FEW:
            yield [each]
        elif group[0] is each:
            yield group


def group_lines(group: Sequence[Unclear]) -> tuple[str, str]:
    """The sentence and the remedy of rows that say the same."""
    return f"{len(group)} times: {group[0].why}", f"-> {group[0].todo}"


def spec_text(plan: Plan) -> str:
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    package = plan.facts["adopt"]["import"]
    yield f"# The spec of the {plan.name} backend, adopted from {package} by `openreg-gen new {plan.name} --from {package}`."
    yield "# Each operator has the place of its old registration. Remove these comments as you like."
    if plan.unclear:
        yield "#"
        yield f"# Unclear ({len(plan.unclear)}): nothing here was guessed; look at each."
        for group in grouped(plan.unclear):
            if len(group) > 1:
                head, remedy = group_lines(group)
                names = ", ".join(each.what for each in group)
                yield f"#   {head}"
                yield f"#     {remedy}"
                yield from textwrap.wrap(
                    names, 118, initial_indent="#     ", subsequent_indent="#     ", break_long_words=False
                )
                continue
            for line in unclear_lines(plan, group[0]):
                yield "#   " + " ".join(line.split()) if not line.startswith("  ") else "#     " + line.strip()
    yield "spec_version: 1"
    yield "profile: standard"
    yield ""
    yield "backend:"
    yield f"  name: {plan.name}"
    yield ""
    yield "device:"
    what = "calls the old allocator, guard and copy" if plan.with_port else "is yours to fill"
    yield f"  api: external              # third_party/{plan.name}/src/port.cpp {what}"
    yield ""
    yield f"fallback: {plan.fallback}"
    yield from _operators(plan)
    if plan.custom:
        yield ""
        yield f"custom_ops:                  # torch.ops.{plan.name}.NAME"
        for row in plan.custom:
            yield f"  - schema: {json.dumps(row.schema)}  # {place_text(plan, row.at.file, row.at.line)}"
    yield from _amp(plan)


def _operators(plan: Plan) -> Iterator[str]:
    listed = [each for each in plan.choices if each.strategy not in (LEFT_OUT, MINIMAL, PYTHON, THEIRS)]
    if listed:
        yield ""
        yield "ops:"
    for each in sorted(listed, key=lambda choice: choice.op):
        yield _operator(plan, each)
    for strategy, about in (
        (MINIMAL, "of the minimal set, which each tree registers: compare your kernels with csrc/aten/native"),
        (PYTHON, f"with kernels in Python, in torch_{plan.name}/adopted or where they were"),
        (THEIRS, "which stay yours"),
        (LEFT_OUT, "which need no kernel"),
    ):
        names = sorted(choice.op for choice in plan.of(strategy))
        if names and not (strategy in (MINIMAL, LEFT_OUT) and len(names) > 60):
            yield f"  # Operators {about}:"
            yield from _wrapped(names)


def _wrapped(names: list[str]) -> Iterator[str]:
    line = "  #  "
    for name in names:
        if len(line) + len(name) > 118:
            yield line
            line = "  #  "
        line += " " + name
    yield line


def _operator(plan: Plan, choice: Choice) -> str:
    comment = f"  # {place_text(plan, choice.at.file, choice.at.line)}"
    if choice.keys:
        keys = [f"strategy: {choice.strategy}", *(f"{key}: {_value(key, value)}" for key, value in choice.keys.items())]
        return f"  {choice.op}: {{{', '.join(keys)}}}{comment}"
    return f"  {choice.op}: {choice.strategy}{comment}"


def _value(key: str, value: str) -> str:
    return value if key in ("override", "dtypes") else json.dumps(re.sub(r"\s+", " ", value), ensure_ascii=False)


def _amp(plan: Plan) -> Iterator[str]:
    amp = plan.amp
    if not amp.rules:
        return
    yield ""
    yield "amp:"
    if dtypes := plan.facts["adopt"].get("amp_dtypes"):
        yield f"  dtypes: [{', '.join(each for each in dtypes if each in ('float16', 'bfloat16'))}]"
    yield f"  preset: {amp.preset}"
    if amp.add:
        yield "  add:"
        for policy, names in sorted(amp.add.items()):
            yield f"    {policy}: [{', '.join(names)}]"
    if amp.remove:
        yield f"  remove: [{', '.join(amp.remove)}]"
