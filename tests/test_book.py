"""The runner of the book's chapters, and the checker of its exercises, see what is planted."""

import os
import re
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "scripts"))

import book
import exercises
from openreg_gen import learn

FENCE = "`" * 3


def block(language, body, mark=None, caption=None):
    above = f"<!-- {mark} -->\n" if mark else f"{caption}:\n" if caption else ""
    return above + f"{FENCE}{language}\n{body}{FENCE}\n"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "torch_mybackend").mkdir()
    (tmp_path / "torch_mybackend/a.cpp").write_text("int one() {\n  return 1;\n}\nint two();\nint three();\n")
    return book.Run(tmp_path, os.environ | {"PYTHON": sys.executable})


def test_what_is_printed_is_compared_and_rewritten(run):
    text = "A\n\n" + block("console", "$ echo one\ntwo\n$ echo three\nthree\n") + "B\n"
    now = book.run_chapter(run, text)
    assert len(run.faults) == 1 and "echo one: prints\none\ninstead of\ntwo" in run.faults[0]
    assert now == text.replace("\ntwo\n", "\none\n")


def test_a_script_and_its_output(run):
    text = block("python", "print(6 * 7)\n") + "\nprints\n\n" + block("text", "41\n")
    assert "\n42\n" in book.run_chapter(run, text) and len(run.faults) == 1


def test_output_that_varies(run):
    assert book.run_chapter(run, block("console", "$ echo 17 of 20 wrong\n... of 20 wrong\n")) and not run.faults
    book.run_chapter(run, block("console", "$ echo 17 of 20 wrong\n... of 30 wrong\n"))
    assert len(run.faults) == 1


@pytest.mark.parametrize("mark, command, right", [
    ("fails", "false", True), ("fails", "true", False), (None, "false", False), ("not run", "false", True),
])  # fmt: skip
def test_blocks_that_have_to_fail(run, mark, command, right):
    book.run_chapter(run, block("console", f"$ {command}\n", mark))
    assert (not run.faults) == right


def test_a_stale_quote_fails(run):
    book.run_chapter(run, block("cpp", "int one() {\n  // ...\n}\n// ...\nint three();\n", caption="From `a.cpp`"))
    assert not run.faults
    book.run_chapter(run, block("cpp", "int one() {\n  return 2;\n}\n", caption="From `a.cpp`"))
    assert len(run.faults) == 1 and "the quote of a.cpp is stale" in run.faults[0] and "return 2" in run.faults[0]
    book.run_chapter(run, block("cpp", "int three();\n// ...\nint one() {\n", caption="From `a.cpp`"))
    assert len(run.faults) == 2, "the parts stand in another order"


def test_a_block_becomes_a_file(run):
    book.run_chapter(run, block("cpp", "int four();\n", caption="Save as `b/c.cpp`") + block("console", "$ cat torch_mybackend/b/c.cpp\nint four();\n"))  # fmt: skip
    assert not run.faults


@pytest.mark.parametrize(
    "page", [p for p in sorted(book.BOOK.glob("*.md")) if p.name != "words.md"], ids=lambda p: p.name
)
def test_lines_of_text_fit_an_editor(page):
    """Not those of tables and blocks, which can't be wrapped; the page of words is generated."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    long = [line for line in text.splitlines() if len(line) > 140 and not line.startswith("|")]
    assert not long, long


def test_captions_and_marks_of_the_book_belong_to_blocks():
    """Whatever looks like one is one: a caption with a slip would leave its block unchecked, and a comment is not seen by readers."""
    for chapter in sorted(book.BOOK.glob("[0-9][0-9]-*.md")):
        text = chapter.read_text(encoding="utf-8")
        looks = re.findall(
            r"^(?:Save as|Save|From|In|File:?) `[^`]+`:?$|^<!-- (?!tree: |components: ).*-->$", text, re.M
        )
        blocks = [each for each in book.blocks_of(text) if each.mark]
        captions = [f"{each.mark} `{each.path}`:" if each.path else f"<!-- {each.mark} -->" for each in blocks]
        assert looks == captions, chapter.name


class Planted:
    """A tree whose exercise fails or passes, as the caller wants."""

    def __init__(self, tmp_path, *outcomes):
        self.root, self.spec, self.outcomes = tmp_path, tmp_path / "mybackend.yaml", list(outcomes)

    def check(self):
        return self.outcomes.pop(0)

    def apply_solution(self):
        pass

    def solution_text(self):
        return "// header\nreturn 1;\n"

    def apply(self, text):
        self.text = text


LESSON = learn.Lesson(1, "leak", 2, "A leak", "a.cpp", "bytes are lost", ("one", "two", "three"))
FAILS, PASSES = learn.Outcome(False, "4 bytes are lost"), learn.Outcome(True, "")


def test_a_right_exercise(tmp_path):
    assert exercises.prove(Planted(tmp_path, FAILS, PASSES), LESSON) == []


def test_an_exercise_that_passes_by_itself(tmp_path):
    assert exercises.prove(Planted(tmp_path, PASSES, PASSES), LESSON) == ["it passes before anything is done"]


def test_an_exercise_that_fails_for_another_reason(tmp_path):
    (fault,) = exercises.prove(Planted(tmp_path, learn.Outcome(False, "SyntaxError"), PASSES), LESSON)
    assert "another reason" in fault and "SyntaxError" in fault


def test_a_solution_that_does_not_solve(tmp_path):
    (fault,) = exercises.prove(Planted(tmp_path, FAILS, FAILS), LESSON)
    assert "its solution doesn't pass" in fault


def test_a_hint_that_names_no_file(tmp_path):
    lesson = learn.Lesson(1, "leak", 2, "A leak", "a.cpp", "lost", ("look at `csrc/gone.h`", "two", "three"))
    assert "csrc/gone.h" in exercises.prove(Planted(tmp_path, FAILS, PASSES), lesson)[0]


WRONG = {"wrong": "two", "says": "4 bytes", "edits": [["return 1", "return 2"]]}


def test_planted_solutions(tmp_path):
    tree = Planted(tmp_path, FAILS)
    assert exercises.judge(tree, WRONG) == "" and tree.text == "// header\nreturn 2;\n"
    assert "'two' passes" in exercises.judge(Planted(tmp_path, PASSES), WRONG)
    assert "fails without /5 bytes/" in exercises.judge(Planted(tmp_path, FAILS), WRONG | {"says": "5 bytes"})
    assert "has no text 'return 3'" in exercises.judge(Planted(tmp_path), WRONG | {"edits": [["return 3", ""]]})
    right = {"right": "one", "text": "return 1;\n"}
    assert exercises.judge(Planted(tmp_path, PASSES), right) == ""
    assert "the right solution 'one' doesn't pass" in exercises.judge(Planted(tmp_path, FAILS), right)


def test_lessons_are_those_of_the_command():
    header = (book.ROOT / "generator/spec/lessons.h").read_text()
    assert re.findall(r'"(\w+)"', header) == [lesson.word for lesson in learn.all_lessons()]


def test_what_a_change_touches():
    lessons, chapters = learn.all_lessons(), sorted(book.BOOK.glob("[0-9][0-9]-*.md"))
    assert [each.word for each in exercises.touched(["templates/lessons/test_guard.py.j2"], lessons)] == ["guard"]
    assert [each.word for each in exercises.touched(["tests/exercises/10_guard.yaml"], lessons)] == ["guard"]
    assert exercises.touched(["scripts/exercises.py"], lessons) == lessons
    assert exercises.touched(["README.md"], lessons) == []
    assert book.touched(["scripts/book.py"], chapters) == chapters and book.touched(["README.md"], chapters) == []
