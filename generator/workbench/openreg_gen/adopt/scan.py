"""C++ as text: comments and strings out of the way, brackets that belong together, calls of macros.

Registrations are macros, which a compiler replaces before anybody sees them. Here they are read as they are written.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUIET = re.compile(  # a number comes first: the quotes in 1'000 separate digits
    r'(?<!\w)(?P<number>\.?\d(?:\'\w|[\w.])*)|//[^\n]*|/\*.*?\*/|R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def masked(text: str) -> str:
    """The same text, at the same places, with spaces for comments and for what is in quotes."""

    def blank(found: re.Match[str]) -> str:
        if found["number"]:
            return found[0]
        kept = re.sub(r"[^\n]", " ", found[0])
        return f'"{kept[1:-1]}"' if found[0].startswith('"') and len(kept) >= 2 else kept

    return _QUIET.sub(blank, text)


def blanked(text: str, start: int, end: int) -> str:
    """The text with spaces in place of a range; lines stay lines."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def closing(mask: str, opening: int) -> int:
    """Where the bracket at `opening` is closed; -1 if it is not. `mask`: what masked() returns."""
    depth, kind = 0, mask[opening]
    for place in range(opening, len(mask)):
        if mask[place] == kind:
            depth += 1
        elif mask[place] == _PAIRS[kind]:
            depth -= 1
            if depth == 0:
                return place
    return -1


def split_arguments(text: str) -> list[str]:
    """Arguments of a call or a macro, at the commas that are in no bracket."""
    mask, parts, begin = masked(text), [], 0
    around: list[str] = []
    for place, letter in enumerate(mask):
        if letter in "([{" or (letter == "<" and _opens_angle(mask, place)):
            around.append(letter)
        elif around and (letter in ")]}" or (letter == ">" and around[-1] == "<" and mask[place - 1] not in "-=")):
            around.pop()
        elif letter == "," and not around:
            parts.append(text[begin:place].strip())
            begin = place + 1
    last = text[begin:].strip()
    return [*parts, last] if last or parts else []


def _opens_angle(mask: str, opening: int) -> bool:
    """Whether `<` opens arguments of a template: a name comes before, and `>` before anything that they don't have."""
    return (
        opening > 0
        and re.match(r"\w", mask[opening - 1]) is not None
        and re.match(r"<[\w\s:,*&<>()]*>", mask[opening:]) is not None
    )


@dataclass(frozen=True)
class MacroCall:
    """A macro's call in a source. body: the text of the braces behind it, with its place; empty where it has none."""

    name: str
    arguments: tuple[str, ...]
    start: int
    end: int
    body: str = ""
    body_start: int = 0


def macro_calls(text: str, mask: str, name: str, body: bool = False) -> Iterator[MacroCall]:
    """Calls of macros whose name matches `name` as a whole; with `body`, those that braces follow."""
    for found in re.finditer(rf"(?<![\w#])({name})\s*\(", mask):
        if re.search(r"#\s*define[^\n]*$", mask[: found.start()]):
            continue
        end = closing(mask, found.end() - 1)
        if end < 0:
            continue
        words = tuple(split_arguments(text[found.end() : end]))
        if not body:
            semicolon = re.match(r"\s*;", mask[end + 1 :])
            yield MacroCall(found[1], words, found.start(), end + 1 + (semicolon.end() if semicolon else 0))
            continue
        brace = re.match(r"\s*\{", mask[end + 1 :])
        if brace is None:
            continue
        opening = end + brace.end()
        last = closing(mask, opening)
        if last >= 0:
            yield MacroCall(found[1], words, found.start(), last + 1, text[opening + 1 : last], opening + 1)


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def string_of(text: str) -> str | None:
    """The value of adjacent string literals; None for anything else."""
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    rest = re.sub(r'"(?:\\.|[^"\\])*"', "", text)
    if not parts or rest.strip():
        return None
    return "".join(parts).replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
