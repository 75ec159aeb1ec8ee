"""docs/upstream-tests.md against generated_example/tests: each test that it names is there, each row says something."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "generated_example" / "tests"
TABLE = (ROOT / "docs" / "upstream-tests.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.(?:py|cpp))::(\w+)`")
SECTIONS = {
    file: re.findall(r"^\| (\w+) \| (.+) \|$", rows, re.M)
    for file, rows in re.findall(r"^## (\S+)\n\n\| theirs \| ours \|\n\|---\|---\|\n((?:\|.*\n)+)", TABLE, re.M)
}


def has_test(text: str, name: str) -> bool:
    return re.search(rf"^ *def {name}\(|^TEST(?:_F|_P)?\(\w+, {name}\)", text, re.M) is not None


def test_the_table_is_read():
    assert len(SECTIONS) == len(re.findall(r"^## ", TABLE, re.M))
    assert sum(map(len, SECTIONS.values())) == TABLE.count("\n| ") - len(SECTIONS)  # but for the headings
    for rows in SECTIONS.values():
        assert len({theirs for theirs, _ in rows}) == len(rows)


@pytest.mark.parametrize("file", SECTIONS)
def test_each_named_test_exists(file):
    for theirs, ours in SECTIONS[file]:
        named = NAMED.findall(ours)
        assert named, f"{theirs}: {ours} is neither a test nor a reason"
        for path, name in named:
            text = (TESTS / path).read_text(encoding="utf-8")
            assert has_test(text, name), f"{theirs}: {path} has no {name}"


def test_a_missing_test_would_be_seen():
    assert has_test("def test_a(x):\n", "test_a")
    assert has_test("    def test_a(self):\n", "test_a")
    assert has_test("TEST_F(DeviceTest, A) {\n", "A")
    assert not has_test("def test_ab(x):\n# def test_a\n", "test_a")
