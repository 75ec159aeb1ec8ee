"""Rules of autocast: those of the backend, compared with PyTorch's own lists, which `amp.preset: cuda` stands for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .registrations import Found, Unclear

ADDABLE = ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "promote")


@dataclass
class Amp:
    """`amp` of the spec. none: the backend has no rules at all."""

    preset: str = "none"
    add: dict[str, list[str]] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    rules: int = 0
    unclear: list[Unclear] = field(default_factory=list)


def compare(live: Iterable[str], found: Found, preset: Sequence[Mapping[str, str]]) -> Amp:
    """`live`: operators with a kernel at AutocastPrivateUse1, without "aten::". `preset`: rows of PyTorch's lists."""
    amp = Amp()
    own = {row["op"]: row["policy"] for row in preset}
    written = {rule.op.removeprefix("aten::"): rule for rule in found.rules}
    policies: dict[str, str] = {}
    for op in sorted(live):
        if op in written:
            policies[op] = written[op].policy
        elif op in own:
            policies[op] = own[op]
            if not (found.sources and own[op] in ("banned", "fp32_append_dtype")):
                amp.unclear.append(_guessed(op, own[op], found))
        else:
            at = found.of(f"aten::{op}", "AutocastPrivateUse1")
            amp.unclear.append(
                Unclear(
                    f"autocast of {op}",
                    "its policy is not in the sources, and PyTorch has no rule for it",
                    "write it under amp.add",
                    *((at[0].at.file, at[0].at.line) if at else ("", 0)),
                )
            )
    amp.rules = len(policies)
    same = {op for op, policy in policies.items() if own.get(op) == policy}
    # Whichever needs fewer words.
    if len(same) * 2 > len(own):
        amp.preset = "cuda"
        amp.remove = sorted(_bases({op for op in own if op not in live}, own))
        policies = {op: policy for op, policy in policies.items() if op not in same}
    for op, policy in policies.items():
        if policy in ADDABLE:
            amp.add.setdefault(policy, []).append(op)
        else:
            why = f"policy {policy!r} is only in PyTorch's own lists"
            amp.unclear.append(Unclear(f"autocast of {op}", why, "use `amp.preset: cuda`, which has it"))
    return amp


def _guessed(op: str, policy: str, found: Found) -> Unclear:
    why = "the dispatcher doesn't say its policy" if not found.sources else "no macro of the sources names it"
    return Unclear(f"autocast of {op}", f"{why}; taken from PyTorch's list: {policy}", "compare it with your rule")


def _bases(removed: set[str], own: Mapping[str, str]) -> set[str]:
    """A name without overload stands for all overloads, where all of them go."""
    out = set()
    for op in removed:
        base = op.partition(".")[0]
        family = {each for each in own if each.partition(".")[0] == base}
        out.add(base if family <= removed else op)
    return out
