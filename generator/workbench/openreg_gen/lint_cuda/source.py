"""A Python source whose nodes have exact places, and what can be asked of it: names, parents, comments."""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from typing import NamedTuple

_SILENT = re.compile(r"#\s*lint-cuda:\s*off\b")


class Edit(NamedTuple):
    """Replaces text[start:end]."""

    start: int
    end: int
    text: str


class Source:
    """The text of a file, parsed. Raises SyntaxError."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.tree = ast.parse(text, path)
        self.lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)  # Python's lines, not str.splitlines()
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.aliases = _aliases(self.tree)
        self.silent = {
            token.start[0]
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT and _SILENT.search(token.string)
        }

    @property
    def torch(self) -> str | None:
        """The name that the file has for the module torch."""
        return next((local for local, full in self.aliases.items() if full == "torch"), None)

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


def _aliases(tree: ast.AST) -> dict[str, str]:
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                found[name.asname or first] = name.name if name.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                found[name.asname or name.name] = f"{node.module}.{name.name}"
    return found
