"""The test files below a checkout of PyTorch that make tests for devices: read as syntax trees, and never imported."""

import ast
import fnmatch
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

INSTANTIATE = "instantiate_device_type_tests"
CLASSES = "hw_classification"  # the attribute by which releases after 2.13 say what hardware a class is for
HARDWARE = ("GENERIC", "ACCELERATOR", "CPU", "CUDA", "XPU", "MPS")


@dataclass(frozen=True)
class TestFile:
    """A test file: its path below the folder of tests, and the classes that it makes tests of, each with its hardware classification."""

    __test__ = False

    name: str
    path: Path
    classes: tuple[tuple[str, str], ...]  # (class, "ACCELERATOR"; "" for a class without classification)
    unreadable: str = ""

    def of_hardware(self, wanted: Iterable[str]) -> bool:
        """Whether it may have classes of that hardware. A class that is made elsewhere isn't known before the file is imported."""
        return any(hardware in wanted or not hardware for _, hardware in self.classes)


def folder_of_tests(checkout: Path) -> Path:
    """The folder with the tests: `test` below a checkout, or the folder itself."""
    return checkout / "test" if (checkout / "test").is_dir() else checkout


def release(checkout: Path) -> str:
    """The minor release of a checkout, as "2.13", from its version.txt; "" if it has none."""
    try:
        return ".".join((checkout / "version.txt").read_text().strip().split(".")[:2])
    except OSError:
        return ""


def discover(checkout: Path) -> list[TestFile]:
    """The files that call instantiate_device_type_tests, by name."""
    root = folder_of_tests(checkout)
    found = (look(path, root) for path in sorted(root.rglob("*.py")) if "test" in path.name)
    return [file for file in found if file is not None]


def look(path: Path, root: Path) -> TestFile | None:
    """The classes of a file; None if it makes no tests for devices."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if INSTANTIATE not in text:
        return None  # most files: not even worth parsing
    name = path.relative_to(root).as_posix()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return TestFile(name, path, (), f"{type(error).__name__}: {error}")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _last(node.func) == INSTANTIATE]
    if not calls:
        return None
    hardware = dict(_classifications(tree))
    made = dict.fromkeys(call.args[0].id for call in calls if call.args and isinstance(call.args[0], ast.Name))
    return TestFile(name, path, tuple((each, hardware.get(each, "")) for each in made))


def _classifications(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for line in node.body:
            if not isinstance(line, (ast.Assign, ast.AnnAssign)) or line.value is None:
                continue
            names = line.targets if isinstance(line, ast.Assign) else [line.target]
            if any(isinstance(each, ast.Name) and each.id == CLASSES for each in names):
                yield node.name, _last(line.value)


def _last(node: ast.expr) -> str:
    """The last name of `a.b.c`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Choice:
    """`--select` and `--shard`: which tests of which files run.

    A pattern is a file (`test_ops.py`, `nn/*`), a test (`test_out*`), or both with `::` between them; globs.
    """

    def __init__(self, patterns: Iterable[str] = (), shard: tuple[int, int] = (1, 1)) -> None:
        self.pairs = [_pair(pattern) for pattern in patterns]
        self.shard = shard

    def among(self, names: Iterable[str]) -> "Choice":
        """The same choice, where a pattern that is the name of one of these files, such as `test_ops`, stands for it."""
        listed = list(names)
        choice = Choice((), self.shard)
        for file, test in self.pairs:
            is_file = file == "*" and any(_is_file(name, test) for name in listed)
            choice.pairs.append((test, "*") if is_file and test != "*" else (file, test))
        return choice

    def file(self, name: str) -> bool:
        return not self.pairs or any(_is_file(name, file) for file, _ in self.pairs)

    def test(self, file: str, group: str, test: str, origin: str) -> bool:
        """`test`: the name of the method. `origin`: the method in the source, of whose tests all are in one shard."""
        index, count = self.shard
        if zlib.crc32(f"{file}::{group}::{origin}".encode()) % count != index - 1:
            return False
        names = (test, origin, group, f"{group}::{test}", f"{group}::{origin}", f"{group}.{test}", f"{group}.{origin}")
        return not self.pairs or any(
            _is_file(file, wanted) and any(fnmatch.fnmatchcase(name, pattern) for name in names)
            for wanted, pattern in self.pairs
        )


def _pair(pattern: str) -> tuple[str, str]:
    file, mark, test = pattern.partition("::")
    if mark:
        return file or "*", test or "*"
    last = file.rsplit("/", 1)[-1]
    is_file = last.endswith(".py") or "/" in file
    return (file, "*") if is_file else ("*", file)


def _is_file(name: str, pattern: str) -> bool:
    short = name.rsplit("/", 1)[-1]
    return any(
        fnmatch.fnmatchcase(each, pattern)
        for each in (name, short, name.removesuffix(".py"), short.removesuffix(".py"))
    )
