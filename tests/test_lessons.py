"""Trees with an exercise of the book: `openreg-gen new NAME --lesson N`, and what openreg_gen.learn does to them."""

import ast
import os
import re
import subprocess
import sys

import pytest
import yaml
from trees import COMMAND, ROOT

sys.path.insert(0, str(ROOT / "generator/workbench"))

sys.path.insert(0, str(ROOT / "scripts"))

import exercises  # noqa: E402
from openreg_gen import learn  # noqa: E402
from openreg_gen.learn import __main__ as program  # noqa: E402


@pytest.fixture
def lesson(openreg_gen, environment, tmp_path, monkeypatch):
    """Makes a tree with the exercise of a number; the current folder is inside of it."""
    for name, value in environment[0].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENREG_GEN", str(COMMAND))

    def make(number):
        openreg_gen("new", "lessons", "--lesson", number, "--out", tmp_path / "t")
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


def test_every_exercise_has_planted_solutions_that_are_edits_of_ours(lesson):
    tree = lesson(1)
    for each in learn.all_lessons():
        rows, ours = exercises.planted(each), (tree.root / each.solution).read_text()
        assert sum("wrong" in row for row in rows) >= 2 and sum("right" in row for row in rows) >= 1, each.word
        for row in rows:
            assert exercises.text_of(row, ours) != ours and ("wrong" in row) == ("says" in row), (each.word, row)


def test_planted_solutions_are_those_of_lessons():
    names = [f"{each.number:02}_{each.word}.yaml" for each in learn.all_lessons()]
    assert names == sorted(path.name for path in (ROOT / "tests/exercises").glob("*.yaml"))
    text = (ROOT / "tests/exercises" / names[0]).read_text()
    assert yaml.safe_load(text)[0]["wrong"]


def test_every_assert_of_an_exercise_says_something():
    """Asserts are not rewritten, so that a message never shows the answer: one without text would say nothing."""
    bare = []
    for template in sorted((ROOT / "templates/lessons").glob("test_*.py.j2")):
        text = re.sub(r"{{.*?}}", "name", template.read_text()).removeprefix("name")
        found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert) and node.msg is None]
        bare += [f"{template.name}:{node.lineno}" for node in found]
    assert not bare


def test_each_solution_has_a_reason():
    assert list(learn.WHY) == [each.word for each in learn.all_lessons()]


@pytest.fixture
def built(lesson, monkeypatch):
    """A tree of an exercise in Python whose build does nothing."""

    def make(number):
        tree = lesson(number)
        monkeypatch.setattr(learn.Tree, "build", lambda self: learn.Outcome(True, ""))
        return tree

    return make


PASSES = "def test_it():\n    pass\n"


@pytest.mark.parametrize("text", ["", PASSES, None])
def test_an_edited_test_file_is_refused(built, text):
    tree = built(1)
    path = tree.root / tree.lesson().test
    before = path.read_text()
    path.unlink() if text is None else path.write_text(text)
    outcome = tree.check()
    assert not outcome.passed and "was edited or deleted" in outcome.text and not tree.solved()
    command = outcome.text.splitlines()[-1]
    assert "rm -f exercises/test_where.py && openreg-gen generate" in command
    subprocess.run(
        command.replace("openreg-gen", os.environ["OPENREG_GEN"]), shell=True, check=True, capture_output=True
    )
    assert path.read_text() == before and tree.edited() == []


def test_so_is_what_the_test_imports_and_calls(built):
    tree = built(14)
    for path in ("exercises/checks.py", "csrc/aten/native/Slow.cpp", "csrc/aten/native/Queue.h"):
        before = (tree.root / path).read_text()
        (tree.root / path).write_text(before + "\n")
        assert tree.edited() == [path] and not tree.check().passed
        (tree.root / path).write_text(before)
    assert tree.edited() == []


@pytest.mark.parametrize(
    "code", ["raise SystemExit(0)", "import os; os._exit(0)", "import pytest; pytest.skip(allow_module_level=True)"]
)
def test_a_run_without_a_passed_test_is_not_right(built, code):
    tree = built(1)
    (tree.root / "exercises/where.py").write_text(code + "\n")
    assert not tree.check().passed and not tree.solved()


def test_a_file_that_was_deleted_is_named_and_comes_back(built):
    tree = built(8)
    file = tree.root / tree.lesson().file
    first = file.read_text()
    file.unlink()
    outcome = tree.check()
    assert not outcome.passed and "relu.cpp is not there" in outcome.text
    assert tree.reset() is None and file.read_text() == first


def test_each_reset_keeps_the_text_in_a_file_of_its_own(lesson, capsys):
    tree = lesson(8)
    file = tree.root / tree.lesson().file
    for word in ("one", "two", "three"):
        file.write_text(file.read_text() + f"// {word}\n")
        assert program.main(["reset"]) == 0
    assert "Your text is kept: csrc/aten/native/relu.cpp.mine3" in capsys.readouterr().out
    kept = [file.with_name("relu.cpp.mine" + number).read_text() for number in ("", "2", "3")]
    assert [text.splitlines()[-1] for text in kept] == ["// one", "// two", "// three"]


@pytest.mark.parametrize("method", ["go_to", "apply_solution"])
def test_a_full_disk_leaves_the_spec_and_the_exercise(lesson, monkeypatch, method):
    tree = lesson(8)
    paths = [tree.spec, tree.root / tree.lesson().file]
    before = [path.read_text() for path in paths]
    write_text = type(tree.spec).write_text

    def full_disk(path, text, **options):
        write_text(path, text[:5], **options)
        raise OSError("no space left")

    monkeypatch.setattr(type(tree.spec), "write_text", full_disk)
    with pytest.raises(OSError):
        tree.go_to(9) if method == "go_to" else tree.apply_solution()
    assert [path.read_text() for path in paths] == before


def test_a_solution_can_be_read_later(lesson, capsys):
    tree = lesson(9)
    assert program.main(["solution", "8"]) == 2 and "exercise 8 has not passed yet" in capsys.readouterr().out
    tree._remember("solved", "nan")
    assert program.main(["solution", "8"]) == 0
    out = capsys.readouterr().out
    assert "from[i] <= 0" in out and "Why: Every comparison with NaN is false" in out
    for number in ("0", "32"):
        assert (
            program.main(["solution", number]) == 2
            and f"exercise {number} does not exist; there are 1 to 31" in capsys.readouterr().out
        )


def test_watch_checks_on_each_save_until_ctrl_c(lesson, monkeypatch, capsys):
    tree, texts = lesson(8), []
    file = tree.root / tree.lesson().file
    outcomes = [learn.Outcome(False, "wrong"), learn.Outcome(False, "still wrong"), learn.Outcome(True, "")]

    def check(self):
        texts.append(file.read_text())
        return outcomes[len(texts) - 1]

    pauses = 0

    def pause(seconds):  # what happens while watch waits
        nonlocal pauses
        pauses += 1
        if pauses in (2, 4):
            file.write_text(file.read_text() + "// saved\n")
        if pauses == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(learn.Tree, "check", check)
    assert program.watch(tree, pause) == 0
    assert [text.count("// saved") for text in texts] == [0, 1, 2]
    out = capsys.readouterr().out
    assert "wrong" in out and "still wrong" in out and "Right." in out and out.count("Ctrl-C ends") == 3


def test_a_save_during_a_check_is_checked_too(lesson, monkeypatch):
    tree, count = lesson(8), 0
    file = tree.root / tree.lesson().file

    def check(self):
        nonlocal count
        count += 1
        if count == 1:
            file.write_text(file.read_text() + "// saved\n")
        return learn.Outcome(False, "wrong")

    def pause(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(learn.Tree, "check", check)
    assert program.watch(tree, pause) == 1 and count == 2


def test_learn_does_not_import_torch():
    """It takes seconds, and it warns that the tree was rendered after it was built, just before the build."""
    code = "import sys, openreg_gen.learn.__main__; print('torch' in sys.modules)"
    variables = os.environ | {"PYTHONPATH": str(ROOT / "generator/workbench")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "False\n"


def test_lessons_and_the_readers_backend_are_two_packages(lesson, openreg_gen, tmp_path):
    tree = lesson(1)
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", tmp_path / "torch_mybackend")
    names = [re.search(r'^name = "(.*)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)[1] for root in (tree.root, tmp_path / "torch_mybackend")]  # fmt: skip
    assert names == ["torch_lessons", "torch_mybackend"]


# Whether `import torch` lets the package load: it asks _chosen(), with these backends installed.
@pytest.mark.parametrize("installed, variable, loads", [
    (["lessons"], None, True), (["lessons", "mybackend"], None, False), (["lessons", "mybackend"], "mybackend", False),
    (["lessons", "mybackend"], "lessons", True),
])  # fmt: skip
def test_lessons_leave_the_slot_to_another_backend(lesson, tmp_path, installed, variable, loads):
    tree, site = lesson(1), tmp_path / "site"
    for name in installed:
        (site / f"torch_{name}-1.dist-info").mkdir(parents=True)
        (site / f"torch_{name}-1.dist-info/entry_points.txt").write_text(
            f"[torch.backends]\n{name} = torch_{name}:_autoload\n"
        )
    (site / "stub").mkdir()
    (site / "stub/_entry.py").write_text((tree.root / "torch_lessons/_entry.py").read_text())
    code = """
import sys, types
torch = types.ModuleType("torch")
torch.__spec__ = types.SimpleNamespace(_initializing=True)
torch._C = types.SimpleNamespace(_get_privateuse1_backend_name=lambda: "privateuseone")
sys.modules["torch"] = torch
from stub import _entry
print(_entry._chosen())
"""
    variables = {key: value for key, value in os.environ.items() if key != "TORCH_DEVICE_BACKEND"} | {
        "PYTHONPATH": str(site)
    }
    if variable:
        variables["TORCH_DEVICE_BACKEND"] = variable
    done = subprocess.run([sys.executable, "-S", "-c", code], env=variables, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{loads}\n", done.stderr
