"""A Python source whose nodes have exact places, and what can be asked of it: names, parents, comments."""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

_SILENT = re.compile(r"#\s*lint-cuda:\s*off\b")


class Edit(NamedTuple):
    """Replaces text[start:end]. An edit that several findings share (`once`) is made once."""

    start: int
    end: int
    text: str
    once: bool = False


class Source:
    """The text of a file, parsed. Raises SyntaxError."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.tree = ast.parse(text, path)
        self.lines = lines(text)
        self.newline = newline(text)
        self.width = width(text)
        self.indent = indent(text)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.aliases, self.ambiguous = _aliases(self.tree)
        self.silent = {
            token.start[0]
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT and _SILENT.search(token.string)
        }

    @property
    def torch(self) -> str | None:
        """The name that the file has for the module torch."""
        return next((local for local, full in self.aliases.items() if full == "torch"), None)

    @cached_property
    def _quote(self) -> str:
        """The quotes that most strings of the file have."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        strings = [token.string[-1] for token in tokens if token.type == tokenize.STRING and token.string[-3:] != '"""']
        return "'" if strings.count("'") > strings.count('"') else '"'

    def quoted(self, text: str, inside: ast.AST | None = None) -> str:
        """A string in the file's quotes, or in the other ones inside an f-string that has these."""
        quote, node = self._quote, inside
        while node is not None:
            if isinstance(node, ast.JoinedStr):
                at = self.start(node)
                quote = "'" if '"' in self.text[at : at + 5] else '"'
            node = self.parents.get(node)
        return f"{quote}{text}{quote}"

    def formatted(self, text: str, inside: ast.AST) -> str:
        """An f-string; empty if it would stand in another f-string."""
        node: ast.AST | None = inside
        while node is not None:
            if isinstance(node, ast.JoinedStr):
                return ""
            node = self.parents.get(node)
        return "f" + self.quoted(text)

    def first(self, node: ast.stmt) -> int:
        """Where a statement starts, with its decorators."""
        return min(map(self.start, [node, *getattr(node, "decorator_list", [])]))

    def line_end(self, line: int) -> int:
        """The offset behind a line and its line break."""
        return self._starts[line]

    def line_start(self, line: int) -> int:
        return self._starts[line - 1]

    def without(self, node: ast.stmt) -> list[Edit]:
        """Deletes a statement with its lines; nothing if it shares them."""
        start, end = self.line_start(node.lineno), self.line_end(node.end_lineno or 0)
        rest = self.text[self.end(node) : end].strip()
        alone = not self.text[start : self.start(node)].strip() and (not rest or rest.startswith("#"))
        return [Edit(start, end, "")] if alone else []

    def function(self, node: ast.AST) -> ast.AST | None:
        """The function around a node."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            parent = self.parents.get(parent)
        return parent

    def is_compiled(self, node: ast.AST | None) -> bool:
        """Whether TorchScript or Triton compiles the code, which don't know the globals of a file."""
        while node is not None:
            for each in getattr(node, "decorator_list", []):
                full = self.dotted(each.func if isinstance(each, ast.Call) else each) or ""
                if full.startswith(("torch.jit.", "triton.")):
                    return True
            node = self.parents.get(node)
        return False

    def start(self, node: ast.AST) -> int:
        return self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1 on."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def segment(self, node: ast.AST) -> str:
        return self.text[self.start(node) : self.end(node)]

    def dotted(self, node: ast.AST | None) -> str | None:
        """The full name of `torch.cuda.amp` and the like, whatever the file calls torch; None for other expressions."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.aliases.get(node.id, node.id), *reversed(names)])

    def _offset(self, line: int, column: int) -> int:
        # ast counts bytes of UTF-8.
        return self._starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())


def lines(text: str) -> list[str]:
    """Python's lines with their ends, which are not those of str.splitlines()."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def newline(text: str) -> str:
    match = re.search(r"\r\n|\r|\n", text)
    return match[0] if match else "\n"


def indent(text: str) -> str:
    """One level of indentation."""
    match = re.search(r"^(\t|  (?! )|    )[ \t]*\S", text, re.MULTILINE)
    return match[1] if match else "    "


def width(text: str) -> int:
    """The usual limit that the longest line of a text keeps, or that line's length."""
    longest = max((len(line.rstrip("\r\n")) for line in lines(text)), default=0)
    return next((limit for limit in (79, 88, 100, 120) if longest <= limit), longest)


def _aliases(tree: ast.AST) -> tuple[dict[str, str], set[str]]:
    """The full name of what each import binds, and the names that imports bind to more than one thing."""
    found: dict[str, str] = {}
    ambiguous = set()
    for node in ast.walk(tree):
        names: list[tuple[str, str]] = []
        if isinstance(node, ast.Import):
            firsts = [(name, name.name.partition(".")[0]) for name in node.names]
            names = [(name.asname or first, name.name if name.asname else first) for name, first in firsts]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(name.asname or name.name, f"{node.module}.{name.name}") for name in node.names]
        for local, full in names:
            if found.setdefault(local, full) != full:
                ambiguous.add(local)
                found[local] = full
    return found, ambiguous
