"""Breaks lines that the fixes made longer than the lines of the file, the way that formatters break them."""

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from itertools import pairwise

from . import source

_OPENING, _CLOSING = "([{", ")]}"


def fitted(text: str, before: str) -> str:
    """The text; its lines are no longer than those of the text before the edits, where there is a place to break them."""
    limit, indent, newline = source.width(before), source.indent(before), source.newline(before)
    for _ in range(10):  # a broken line may have to be broken again
        rows = _too_long(text, limit)
        if not rows:
            break
        lines = source.lines(text)
        for row in rows:
            for broken in _broken(lines[row - 1], limit, indent, newline):
                if _same_code("".join([*lines[: row - 1], broken, *lines[row:]]), text):
                    lines[row - 1] = broken
                    break
        new = "".join(lines)
        if new == text:
            break
        text = new
    return text


def _too_long(text: str, limit: int) -> list[int]:
    return [row for row, line in enumerate(source.lines(text), 1) if len(line.rstrip("\r\n")) > limit]


def _same_code(new: str, old: str) -> bool:
    try:
        return ast.dump(ast.parse(new)) == ast.dump(ast.parse(old))
    except SyntaxError:
        return False


def _broken(line: str, limit: int, unit: str, newline: str) -> Iterator[str]:
    """Ways to break a line, the best first. Not all of them are right where the line stands."""
    code = line.rstrip("\r\n")
    indent = re.match(r"[ \t]*", code)[0]  # type: ignore[index]
    tokens = _tokens(code)
    comment = next((token for token in tokens if token.type == tokenize.COMMENT), None)
    if comment is not None:
        alone = code[: comment.start[1]].rstrip()
        if alone.strip() and not re.search("noqa|type:|pragma|pylint|fmt:|lint-cuda", comment.string):
            yield f"{indent}{comment.string}{newline}{alone}{newline}"
        return
    if (string := re.fullmatch(r"""([ \t]*)(f?)(["'])(?!\3)(.*)\3(,?)""", code)) and limit > len(indent) + 20:
        yield _split_string(string, limit, newline)
    pairs, commas, words = _brackets(tokens)
    # At operators: in parentheses of its own, or in those around the line.
    head = re.match(r"[ \t]*([\w.]+ = |return )", code)
    first = head.end() if head else len(indent)
    parts = [code[a:b].strip() for a, b in pairwise([first, *(at for at in words if at > first), len(code)])]
    if head and (len(parts) > 1 or not pairs):
        body = "".join(f"{indent}{unit}{part}{newline}" for part in parts)
        yield f"{code[:first]}({newline}{body}{indent}){newline}"
    if not head and len(parts) > 1:
        yield "".join(f"{indent}{part}{newline}" for part in parts)
    if not pairs:
        return
    start, end = max(pairs, key=lambda pair: pair[1] - pair[0])
    content = code[start + 1 : end].strip()
    if len(indent + unit + content) > limit and (inside := [at for at, owner in commas if owner == start]):
        parts = [code[a + 1 : b].strip() for a, b in pairwise([start, *inside, end])]
        content = f",{newline}{indent}{unit}".join(part for part in parts if part) + ","
    yield f"{code[: start + 1]}{newline}{indent}{unit}{content}{newline}{indent}{code[end:]}{newline}"


def _split_string(string: re.Match[str], limit: int, newline: str) -> str:
    """Two strings side by side, divided at a space; the second is divided when it comes by again."""
    indent, prefix, quote, text, comma = string.groups()
    depth, cut = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if len(indent + prefix) + at + 3 > limit and cut:
            break
        if letter == " " and not depth and at + 1 < len(text):
            cut = at + 1
    if not cut:
        return f"{indent}{prefix}{quote}{text}{quote}{comma}{newline}"
    first, second = (
        f"{indent}{prefix if re.search('[{}]', part) else ''}{quote}{part}{quote}" for part in (text[:cut], text[cut:])
    )
    return f"{first}{newline}{second}{comma}{newline}"


def _tokens(code: str) -> Sequence[tokenize.TokenInfo]:
    tokens: list[tokenize.TokenInfo] = []
    with contextlib.suppress(tokenize.TokenError, IndentationError):  # for a part of a statement
        tokens.extend(tokenize.generate_tokens(io.StringIO(code.strip()).readline))
    first = len(code) - len(code.lstrip())
    found = []
    for each in tokens:
        if each.start[0] == 1:
            found.append(each._replace(start=(1, each.start[1] + first), end=(1, each.end[1] + first)))
    return found


def _brackets(tokens: Sequence[tokenize.TokenInfo]) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[int]]:
    """The outermost brackets of a line that hold something, its commas with the bracket of each, and the operators
    outside of brackets before which it may be broken (none if commas are outside, too)."""
    opened: list[int] = []
    pairs, commas, words, strings, outside = [], [], [], 0, False
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        strings += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if strings:
            continue
        if token.string in _OPENING and token.string:
            opened.append(token.start[1])
        elif token.string in _CLOSING and token.string and opened:
            start = opened.pop()
            if not opened and token.start[1] > start + 1:
                pairs.append((start, token.start[1]))
        elif token.string == "," and opened:
            commas.append((token.start[1], opened[-1]))
        elif not opened:
            outside = outside or token.string in (",", "for", "lambda")
            if token.string in ("and", "or", "if", "else"):
                words.append(token.start[1])
    return pairs, commas, [] if outside else words
