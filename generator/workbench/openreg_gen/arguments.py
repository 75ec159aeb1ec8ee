"""The command lines of the tools, from the table in options.json, which `openreg-gen VERB --help`, completion and verbs.md read, too.

    VERB [options] SUBJECT|SCRIPT [-- ARGUMENTS]

Options stand anywhere before "--"; what is behind it belongs to the script. An option whose value may be left out takes one only
behind "=": --json, --json=FILE. Without torch, which takes seconds to import.
"""

import argparse
import functools
import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .exits import USAGE, Parser, errors_as_json, fail, program


@functools.cache
def table() -> dict[str, Any]:
    return dict(json.loads((Path(__file__).parent / "options.json").read_text(encoding="utf-8")))


def _count(text: str) -> int:
    if text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: not a number from 1 on")


def _number(text: str, least: str, fits: Callable[[float], bool]) -> float:
    with suppress(ValueError):
        if fits(value := float(text)) and value < math.inf:
            return value
    raise argparse.ArgumentTypeError(f"{text}: not a number {least}")


def _steps(text: str) -> range:
    first, colon, last = text.partition(":")
    if (first.isdigit() or (colon and not first)) and (last.isdigit() or not last):
        begin = int(first or 0)
        found = range(begin, int(last) if last else sys.maxsize if colon else begin + 1)
        if found:
            return found
    raise argparse.ArgumentTypeError(f"{text}: not steps such as 3, 3:5, 3:")


def _shard(text: str) -> tuple[int, int]:
    index, mark, count = text.partition("/")
    if not (mark and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text} is not a shard; write 1/4 for the first of four")
    return int(index), int(count)


TYPES: dict[str, Callable[[str], Any]] = {
    "text": str,
    "path": Path,
    "count": _count,
    "seconds": lambda text: _number(text, "above 0", lambda value: value > 0),
    "tolerance": lambda text: _number(text, "from 0 on", lambda value: value >= 0),
    "steps": _steps,
    "shard": _shard,
}


def _add(parser: argparse.ArgumentParser, option: dict[str, Any]) -> None:
    names = [option["short"]] if "short" in option else []
    names.append(option["name"])
    about = option["about"].replace("%", "%%")
    if "value" not in option:
        parser.add_argument(*names, action="store_true", help=about)
        return
    more: dict[str, Any] = {"type": TYPES[option.get("type", "text")], "metavar": option["value"]}
    if option.get("optional"):
        more.update(nargs="?", const="-")
    if option.get("many"):
        more.update(action="append", default=[])
    if "choices" in option:
        more["choices"] = option["choices"]
    if "default" in option:
        more["default"] = option["default"]
        about += f"; default: {option['default']}"
    parser.add_argument(*names, help=about, **more)


def _examples(tool: str, named: str) -> str:
    rows = [(f"  {named} {words}".rstrip(), about) for words, about in table()[tool]["examples"]]
    width = max(len(words) for words, about in rows if about) if any(about for _, about in rows) else 0
    lines = [f"{words:{width}}  {about}".rstrip() for words, about in rows]
    return "\n".join(["examples:", *lines, "", f"Exit codes: {table()[tool]['exits']}."])


def parser(tool: str) -> Parser:
    """Of the words before "--"."""
    this = table()[tool]
    named = program(tool)
    behind = f" [-- ARGUMENTS]: {this['behind']}" if "behind" in this else ""
    made = Parser(
        prog=named,
        description=f"{this['about']}.{' Behind --: ' + this['behind'] + '.' if behind else ''}",
        epilog=_examples(tool, named),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for each in this["positionals"]:
        count = ("+" if each.get("required") else "*") if each.get("many") else "?" if each.get("optional") else None
        kind = TYPES[each.get("type", "text")]
        made.add_argument(_name(each["name"]), metavar=each["name"], nargs=count, type=kind, help=each["about"])
    for each in this["options"]:
        _add(made, each)
    return made


def _name(positional: str) -> str:
    return positional.removesuffix(".py").lower()


def _without_value(word: str, rest: Sequence[str], tool: str) -> str:
    """--json as argparse takes it; fails if what follows is meant as its FILE."""
    if rest and rest[0].endswith((".json", ".html", ".jsonl")) and table()[tool]["positionals"][0]["name"] != "FILE":
        fail(f"{word} {rest[0]}: its FILE follows '='", f"write {word}={rest[0]}", named=USAGE)
    return f"{word}=-"


def parse(tool: str, words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options by their names; `arguments`: the words behind "--", `package`: --import. Ends the process if it can't be understood."""
    given = list(sys.argv[1:] if words is None else words)
    this = table()[tool]
    at = given.index("--") if "--" in given else len(given)
    before, behind = given[:at], given[at + 1 :]
    bare = {each["name"] for each in this["options"] if each.get("optional")}
    for place, word in enumerate(before):
        name, equals, _ = word.partition("=")
        if name in this.get("renamed", {}):
            fail(
                f"{name} is {this['renamed'][name]} now",
                f"write {this['renamed'][name]}{equals or ' '}...",
                named=USAGE,
            )
        if word in bare:
            before[place] = _without_value(word, before[place + 1 : place + 2], tool)
    reader = parser(tool)
    found, unknown = reader.parse_known_intermixed_args(before)
    if unknown and "behind" in this:
        hint = f"{this['behind']} follow --: -- {shlex.join(unknown)}"
        fail(f"unknown arguments: {shlex.join(unknown)}", hint, named=USAGE)
    if unknown:
        reader.error(f"unknown arguments: {shlex.join(unknown)}")
    if behind and "behind" not in this:
        fail(f"{shlex.join(behind)}: {program(tool)} takes no arguments behind --", named=USAGE)
    values = vars(found)
    for each in this["options"]:  # argparse converts only a default that is a string, and not a list's
        dest = each["name"].removeprefix("--").replace("-", "_")
        if each["name"] == "--import":
            values["package"] = values.pop(dest)
        elif each["name"] == "--jobs":
            values[dest] = values[dest] or len(os.sched_getaffinity(0))
    found.arguments = behind
    errors_as_json(values.get("json") == "-")
    return found
