"""Statements of an audit, each of which a process of its own checks (check_statement.py) without the audit's code.

Chosen by chance, always the same for a client: the kinds take turns, and a statement that can't be checked gives its place to the
next one of its kind.
"""

import json
import pathlib
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import interfaces

COUNT = 20
MOST = 120  # that are tried, until COUNT could be checked
CHECKER = pathlib.Path(__file__).with_name("check_statement.py")


@dataclass(frozen=True)
class Statement:
    """kind: what the checker knows it by. facts: what the checker needs of it."""

    kind: str
    text: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class Checked:
    """true: None if it can't be checked."""

    statement: Statement
    true: bool | None
    why: str


def of_operators(rows: Sequence[dict[str, Any]]) -> Iterator[Statement]:
    for row in rows:
        op, how, coverage = row["op"], row["how"], row["coverage"]
        text = f"{op} is {coverage}: {how}"
        through = how.partition("'")[2].partition("'")[0] if how.startswith("through '") else ""
        if coverage == "native":
            key = how.removeprefix("a kernel at ") if how.startswith("a kernel at ") else "PrivateUse1"
            yield Statement("native", text, {"op": op, "key": key})
        elif coverage == "delegate":
            yield Statement("delegate", text, {"op": op, "through": through})
        elif coverage == "composite" and not through:
            yield Statement("composite", text, {"op": op})
        elif coverage == "missing" and how == "no kernel, and no fallback":
            yield Statement("missing", text, {"op": op})
        elif coverage == "missing" and how.startswith("a view falls back"):
            yield Statement("view that falls back", text, {"op": op})
        elif coverage == "fallback" and not through:
            yield Statement("fallback", text, {"op": op})


def of_dtypes(found: dict[str, Any], facts: dict[str, Any]) -> Iterator[Statement]:
    """One per refused dtype of an operator that the audit calls "some dtypes only"."""
    texts = {row["op"]: row["text"] for row in found["findings"] if row["kind"] == "some dtypes only"}
    for row in facts["dtypes"]:
        if row["op"] in texts and row["takes"]:
            for dtype in row["refuses"]:
                text = f"{row['op']} takes {row['takes']}, refuses {dtype}"
                yield Statement("dtypes", text, {"op": row["op"], "takes": row["takes"].split(), "refuses": dtype})


def of_interfaces(found: dict[str, Any]) -> Iterator[Statement]:
    for row in found["interfaces"]:
        name = row["name"].replace(found["device"], "NAME")
        if name in interfaces.CALLS and row["verdict"] != "does not apply":
            text = f"{row['name']}: {row['verdict']}"
            yield Statement(f"interface that {row['verdict']}", text, {"name": name, "verdict": row["verdict"]})


def of_unlocks(found: dict[str, Any], chance: random.Random) -> Iterator[Statement]:
    for row in found["unlocks"]:
        waiting = chance.choice(row["waiting"])
        text = f"{row['op']} unlocks {len(row['waiting'])} operators, {waiting} among them"
        yield Statement("unlocks", text, {"op": row["op"], "waiting": waiting})


def candidates(found: dict[str, Any], facts: dict[str, Any], seed: str) -> list[Statement]:
    """All statements in the order in which they are tried: the kinds take turns."""
    chance = random.Random(seed)
    every = [
        *of_operators([row for row in found["ops"] if row["coverage"] != "not-for-you"]),
        *of_dtypes(found, facts),
        *of_interfaces(found),
        *of_unlocks(found, chance),
    ]
    kinds: dict[str, list[Statement]] = {}
    for each in every:
        kinds.setdefault(each.kind, []).append(each)
    for rows in kinds.values():
        chance.shuffle(rows)
    return [rows[turn] for turn in range(max(map(len, kinds.values()))) for rows in kinds.values() if turn < len(rows)]


def verdict_of(statement: Statement, answer: dict[str, Any]) -> Checked:
    """Of a process that did not end as it should, only a statement that says so is true."""
    if "true" in answer:
        return Checked(statement, answer["true"], answer["why"])
    end = "hangs" if "hangs" in answer else "crashes"
    said = statement.facts.get("verdict")
    return Checked(statement, None if said is None else said == end, f"the process {end}: {answer}")


def run(
    found: dict[str, Any], facts: dict[str, Any], seed: str, words: Sequence[str], environment: dict[str, str]
) -> list[Checked]:
    """The first COUNT statements that can be checked, of at most MOST. words: the device's type and its module."""
    results: list[Checked] = []
    command = [sys.executable, str(CHECKER), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as checker:
        assert checker.stdin is not None and checker.stdout is not None
        for statement in candidates(found, facts, seed)[:MOST]:
            print(json.dumps({"kind": statement.kind, **statement.facts}), file=checker.stdin, flush=True)
            checked = verdict_of(statement, json.loads(checker.stdout.readline()))
            if checked.true is not None:
                results.append(checked)
            if len(results) == COUNT:
                break
    return results
