"""The pages of docs/ and of a tree: their tables, their backticks and their links."""

import re

import pytest
from trees import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md"), ROOT / "tests/nightly.md"]
)


def prose(text):
    """The lines with their numbers, without those of fenced or indented code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def cells(row):
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def faults(text):
    """(line, what is wrong): rows of another number of cells than their table, and code that is not closed."""
    found, width = [], None
    paragraph, start = "", 0
    for number, line in [*prose(text), (0, "")]:
        row = line.startswith("|")
        if row and width is None:
            width = cells(line)
        elif not row:
            width = None
        if row and (cells(line) != width or not line.rstrip().endswith("|")):
            found.append((number, f"{cells(line)} cells, not {width}"))
        pieces = re.split(r"(?<!\\)\|", line) if row else []
        found += [(number, f"a backtick too many: {piece.strip()}") for piece in pieces if piece.count("`") % 2]
        # Nested backticks close and open again: text touches a span from outside, or nothing is between two of them.
        found += [(number, f"code in code: {piece.strip()}") for piece in pieces if "``" in piece]
        if row or not line.strip():
            if paragraph.count("`") % 2:
                found.append((start, "a backtick too many"))
            paragraph, start = "", 0
        else:
            paragraph, start = paragraph + line + "\n", start or number
    return found


def dead_links(text, page):
    links = [(n, target) for n, line in prose(text) for target in re.findall(r"\]\(([^)\s]+)\)", line)]
    for number, target in links:
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        path = (page.parent / name) if name else page
        text = path.read_text(encoding="utf-8") if path.suffix == ".md" and path.exists() else ""
        if not path.exists() or (anchor and text and anchor not in anchors(text)):
            yield number, target


def anchors(text):
    heads = [line.lstrip("#").strip() for _, line in prose(text) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_and_code_are_whole(page):
    assert faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(dead_links(page.read_text(encoding="utf-8"), page)) == []


@pytest.fixture(scope="module")
def trees(pristine, openreg_gen, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    for name, command in {
        "minimal": ["--profile", "minimal"],
        "port": ["--device", "external"],
        "minimal_port": ["--device", "external", "--profile", "minimal"],
        "opencl": ["--device", "opencl"],
    }.items():
        openreg_gen("new", "mine", *command, "--out", name, cwd=folder)
    return [pristine, *folder.iterdir()]


def test_the_pages_of_a_tree(trees):
    pages = [page for tree in trees for page in sorted([*tree.glob("*.md"), *tree.glob("docs/*.md")])]
    assert len(pages) > 8
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert (page, faults(text), list(dead_links(text, page))) == (page, [], [])


def test_files_of_a_tree_name_pages_that_it_has(trees):
    for tree in trees:
        for path in tree.rglob("*"):
            if path.is_file() and ".openreg-gen" not in path.parts:
                named = re.findall(r"\bdocs/\w+\.\w+", path.read_text(encoding="utf-8"))
                assert all((tree / page).exists() for page in named), (path, named)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", []),
        ("| a | b |\n|---|---|\n| 1 |\n", [3]),
        ("| a |\n|---|\n| `x || y` |\n", [3, 3, 3]),
        ("| a |\n|---|\n| `x \\|\\| y` |\n", []),
        ("| a |\n|---|\n| `as `b`` |\n", [3]),
        ("| a |\n|---|\n| `as b |\n", [3]),
        ("one `two\nthree` four\n", []),
        ("one `two\n\nthree` four\n", [1, 3]),
        ("```\n| a |\n| b | `c |\n```\n", []),
    ],
)
def test_a_fault_would_be_seen(text, lines):
    assert [line for line, _ in faults(text)] == lines


def test_a_dead_link_would_be_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One, two\n[a](#one-two) [b](#three) [c](other.md) [d](page.md#one-two) [e](https://x.org/y)\n")
    assert [target for _, target in dead_links(page.read_text(), page)] == ["#three", "other.md"]
