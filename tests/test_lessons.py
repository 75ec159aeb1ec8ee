"""Trees with an exercise of the book: `openreg-gen new NAME --lesson N`, and what openreg_gen.learn does to them."""

import re
import sys

import pytest
from trees import COMMAND, ROOT

sys.path.insert(0, str(ROOT / "generator/workbench"))

from openreg_gen import learn  # noqa: E402
from openreg_gen.learn import __main__ as program  # noqa: E402


@pytest.fixture
def lesson(openreg_gen, environment, tmp_path, monkeypatch):
    """Makes a tree with the exercise of a number; the current folder is inside of it."""
    for name, value in environment[0].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENREG_GEN", str(COMMAND))

    def make(number):
        openreg_gen("new", "mybackend", "--lesson", number, "--out", tmp_path / "t")
        monkeypatch.chdir(tmp_path / "t")
        return learn.Tree(tmp_path / "t/exercises")

    return make


def test_no_two_lessons_define_an_operator():
    """A learner's tree keeps the files of all lessons; PyTorch ends a process in which an operator is defined twice."""
    names = [
        name
        for template in sorted((ROOT / "templates/lessons").glob("*.cpp.j2"))
        for name in sorted(set(re.findall(r'm\.def\("(\w+)\(', template.read_text())))
    ]
    assert len(names) > 15 and sorted(names) == sorted(set(names))


def test_a_lesson_is_a_spec(lesson):
    tree = lesson(8)
    assert tree.spec.read_text().endswith("profile: minimal\nlesson: 8\n")
    assert tree.lesson().word == "nan"
    assert "from[i] > 0" in (tree.root / "csrc/aten/native/relu.cpp").read_text()
    assert "from[i] <= 0" in (tree.root / "exercises/solutions/relu.cpp").read_text()


@pytest.mark.parametrize("words", [["0"], ["99"], ["1", "--profile", "full"], ["1", "--device", "opencl"]])
def test_what_new_refuses(openreg_gen, tmp_path, words):
    openreg_gen("new", "mybackend", "--lesson", *words, cwd=tmp_path, code=2)
    assert not (tmp_path / "torch_mybackend").exists()


def test_going_on_keeps_what_the_learner_wrote(lesson):
    tree = lesson(8)
    mine = tree.root / "csrc/aten/native/relu.cpp"
    mine.write_text(mine.read_text().replace("from[i] > 0 ? from[i] : 0", "from[i] < 0 ? 0 : from[i]"))
    tree.go_to(9)
    assert "from[i] < 0 ? 0 : from[i]" in mine.read_text()
    assert (tree.root / "exercises/test_layouts.py").is_file() and not (tree.root / "exercises/test_nan.py").exists()


def test_a_file_of_openreg_gen_becomes_the_learners(lesson):
    tree = lesson(10)
    tree.go_to(11)
    guard = tree.root / "csrc/runtime/Guard.cpp"
    assert "C10_REGISTER_GUARD_IMPL" not in guard.read_text() and "Owned" in guard.read_text()
    tree.apply_solution()
    tree.go_to(12)
    assert "C10_REGISTER_GUARD_IMPL" in guard.read_text()


def test_every_solution_is_another_text_under_the_same_header(lesson):
    tree = lesson(1)
    for each in learn.all_lessons():
        tree.go_to(each.number)
        before = (tree.root / each.file).read_text()
        assert (tree.root / each.test).is_file()
        tree.apply_solution()
        after = (tree.root / each.file).read_text()
        assert after != before and after.splitlines()[0] == before.splitlines()[0]
        assert after.endswith((tree.root / each.solution).read_text().partition("\n")[2])


@pytest.mark.parametrize("number", [1, 8, 11])
def test_reset_gives_the_first_text_and_keeps_the_learners(lesson, number):
    tree = lesson(number)
    tree.take()
    file = tree.root / tree.lesson().file
    first = file.read_text()
    file.write_text(first + "mine\n")
    tree.reset()
    assert file.read_text() == first
    assert file.with_name(file.name + ".mine").read_text().endswith("\nmine\n")


@pytest.mark.parametrize("number", ["0", "99"])
def test_a_number_without_a_lesson_is_an_error(lesson, capsys, number):
    tree = lesson(1)
    tree.spec.write_text(tree.spec.read_text().replace("lesson: 1", f"lesson: {number}"))
    assert program.main([]) == 2
    assert re.search(rf"`lesson: {number}`, and there are exercises 1 to \d+", capsys.readouterr().out)


def test_a_reset_that_fails_keeps_the_file(lesson, monkeypatch):
    tree = lesson(8)
    file = tree.root / tree.lesson().file
    file.write_text(file.read_text() + "mine\n")
    assert "[openreg-gen " in file.read_text()
    monkeypatch.setenv("OPENREG_GEN", "/bin/false")
    with pytest.raises(learn.LearnError):
        tree.reset()
    assert file.read_text().endswith("mine\n")


def test_progress_is_kept_if_writing_fails(lesson, monkeypatch):
    tree = lesson(8)
    tree.hint()
    state = tree.root / "exercises/progress.json"
    before = state.read_text()
    write_text = type(state).write_text

    def full_disk(path, text, **options):
        write_text(path, text[:5], **options)
        raise OSError("no space left")

    monkeypatch.setattr(type(state), "write_text", full_disk)
    with pytest.raises(OSError):
        tree.hint()
    assert state.read_text() == before


def test_the_program_shows_hints_one_by_one(lesson, capsys):
    lesson(8)
    assert program.main([]) == 0
    out = capsys.readouterr().out
    count = len(learn.all_lessons())
    assert f"[{'-' * count}] 0 of {count}" in out and "Exercise 8: NaN is not less" in out and "relu.cpp" in out
    numbers = []
    for _ in range(4):
        program.main(["hint"])
        numbers.append(capsys.readouterr().out[:1])
    assert numbers == ["1", "2", "3", "3"]
    assert program.main(["solution"]) == 2 and "has not passed yet" in capsys.readouterr().out
    assert program.main(["solution", "--now"]) == 0 and "<= 0" in capsys.readouterr().out


def test_a_folder_without_a_lesson_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert program.main([]) == 2
    assert re.search("not in a tree.*--lesson 1", capsys.readouterr().out)
