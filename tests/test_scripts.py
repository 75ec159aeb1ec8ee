"""Scripts of the tests: what CI runs of them, how stages are run, what is kept of the nightly ones."""

import datetime
import json
import pathlib
import re
import subprocess
import sys

import pytest
from trees import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import choose  # noqa: E402
import golden  # noqa: E402
import nightly_table  # noqa: E402
import try_operators  # noqa: E402

LIGHT = ["command", "format"]
COMMAND = ["command", "format", "rendered", "package"]


@pytest.mark.parametrize(
    "paths, stages",
    [
        ([], LIGHT),
        (["docs/spec.md", "README.md"], LIGHT),
        (["tests/test_new.py", "tests/nightly.md", "benchmarks/run.sh", "scripts/facts.py"], LIGHT),
        (["generator/cli/new.cpp", "docs/spec.md", "specs/schema.json"], COMMAND),
        (["CMakeLists.txt"], COMMAND),
        (["tests/external/card_port.cpp"], [*LIGHT, "external"]),
        (["tests/owned_ops/opencl_kernels.py", "tests/test_package.py"], [*LIGHT, "opencl", "package"]),
        (["docs/book/05-guard.md", "scripts/book.py"], [*LIGHT, "book"]),
        (["templates/lessons/nan.cpp.j2"], [*COMMAND, "book"]),
        (["tests/built/test_build.py"], [*LIGHT, "example", "second", "external", "opencl"]),
        (["scripts/regenerate.sh"], ["command", "format", "rendered"]),
        (["templates/README.md.j2"], choose.STAGES),
        (["generator/model/model.cpp", "generated_example/README.md"], choose.STAGES),
        (["generator/model/model.cpp", "tests/golden/opencl.txt"], choose.STAGES),
        (["specs/full.yaml"], choose.STAGES),
        (["scripts/stages.sh"], choose.STAGES),
        ([".ci/run"], choose.STAGES),
        (["docs/spec.md", "something_new.txt"], choose.STAGES),
        (["generator.txt"], choose.STAGES),
    ],
)
def test_stages_by_paths(paths, stages):
    assert choose.stages_for(paths)[0] == stages


def test_stages_are_those_of_the_script():
    script = (ROOT / "scripts/test.sh").read_text()
    assert set(re.findall(r"^stage_(\w+)\(\)", script, re.MULTILINE)) == set(choose.STAGES) | {
        "release"
    }  # which is nightly
    assert f"set -- {' '.join(choose.STAGES)}\n" in script
    nightly = (ROOT / "scripts/nightly.sh").read_text()
    assert set(re.findall(r"^stage_(\w+)\(\)", nightly, re.MULTILINE)) == set(nightly_table.STAGES)
    workflow = (ROOT / ".github/workflows/nightly.yml").read_text()
    assert f"stage: [{', '.join(nightly_table.STAGES)}]" in workflow
    page = (ROOT / "docs/concepts/ci.md").read_text()
    assert [stage for stage in nightly_table.STAGES if f"`{stage}`" not in page or f" {stage}" not in nightly] == []


def test_what_a_nightly_stage_tests_is_there():
    for stage, subject in nightly_table.SUBJECTS.items():
        for pathspec in subject.split():
            assert nightly_table.git("ls-files", "--", pathspec), f"{stage}: {pathspec}"


def test_every_file_of_the_project_has_a_rule():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], check=False, capture_output=True, text=True).stdout.split()
    unknown = [path for path in listed if any(why.startswith("unknown") for why in choose.stages_for([path])[1])]
    assert unknown == []


def test_components_are_those_of_most_files():
    names = ["device", "loops", "gemm", "amp", "graphs"]
    changed = {"a": {"graphs"}, "b": {"graphs", "amp"}, "c": {"amp"}, "d": {"graphs"}, "e": {"gemm"}, "f": {"device"}}
    assert [name for name, _ in choose.components_for(changed, names)] == ["graphs"]
    assert choose.components_for({"a": set()}, names) == []


def test_components_of_templates():
    rows = choose.rows_of((ROOT / "templates/templates.yaml").read_text())
    assert [path for path in rows if not (ROOT / path).is_file()] == []
    assert {component for component, _ in rows.values()} - {None} <= set(choose.all_components())
    own = next(path for path, (component, _) in rows.items() if component == "profiler")
    shared = "templates/csrc/runtime/Ipc.cpp.j2"
    touched = choose.touched_components([own, shared, "docs/spec.md"], "HEAD")
    assert touched[own] == {"profiler"} and touched[shared] and "docs/spec.md" not in touched


@pytest.fixture
def history(tmp_path, monkeypatch):
    """A repository whose commits name files; returns a function that makes one and tells its name."""
    monkeypatch.setattr(choose, "ROOT", tmp_path)
    monkeypatch.delenv("OPENREG_GEN_BASE", raising=False)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@b.c")
    assert choose.git("init", "-q", "-b", "main") is not None

    def commit(path, text=""):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
        assert choose.git("add", "-A") is not None and choose.git("commit", "-qm", path) is not None
        return choose.git("rev-parse", "HEAD")

    return commit


def table(**commits):
    rows = {
        stage: nightly_table.Row(stage, "2026-01-01", commit, "1", "passed", "-") for stage, commit in commits.items()
    }
    return nightly_table.text_of(rows)


def test_the_base_of_a_branch_is_where_it_left_main(history):
    fork = history("a")
    choose.git("update-ref", "refs/remotes/origin/main", history("b"))
    choose.git("checkout", "-q", "-b", "branch", fork)
    history("c")
    assert choose.base_of_change() == (fork, "where the branch left origin/main")
    (choose.ROOT / "d").write_text("")
    assert choose.changed_paths(fork) == ["c", "d"]


def test_the_base_on_main_is_the_last_green_commit(history):
    green = history("a")
    end = history("b")
    assert choose.base_of_change() == (None, "no run of CI recorded a green commit (refs/ci/green)")
    choose.git("update-ref", "refs/ci/green", green)
    assert choose.base_of_change() == (green, "the last green commit")
    choose.git("update-ref", "refs/remotes/origin/main", end)
    assert choose.base_of_change()[0] == green


def test_without_a_base_everything_runs(history, tmp_path, monkeypatch):
    first = history("a")
    assert choose.base_of_change()[0] is None
    choose.git("update-ref", "refs/ci/green", first)
    choose.git("checkout", "-q", "--orphan", "another")
    history("b")
    assert choose.base_of_change() == (None, f"the green commit {first[:10]} is not in this history")
    choose.git("update-ref", "-d", "refs/ci/green")
    monkeypatch.setenv("OPENREG_GEN_BASE", "0123456789")
    assert choose.base_of_change()[0] is None
    monkeypatch.setenv("OPENREG_GEN_BASE", "HEAD")
    assert choose.base_of_change()[0] == choose.git("rev-parse", "HEAD")
    monkeypatch.delenv("OPENREG_GEN_BASE")
    shallow = tmp_path / "shallow"
    assert choose.git("clone", "-q", "--depth", "1", f"file://{tmp_path}", str(shallow)) is not None
    monkeypatch.setattr(choose, "ROOT", shallow)
    assert choose.base_of_change()[0] is None
    monkeypatch.setattr(choose, "ROOT", pathlib.Path("/"))
    assert choose.base_of_change() == (None, "this is not a git checkout")


def test_a_stage_whose_middle_command_fails_has_failed_and_the_next_one_runs(tmp_path):
    (tmp_path / "run.sh").write_text(f"""\
source {ROOT}/scripts/stages.sh
find_python() {{ :; }}
stage_first() {{ mkdir "$work/shared"; }}
stage_middle() {{
  inner() {{ false; echo "went on"; }}
  inner
  echo "went on"
}}
stage_last() {{ [ -d "$work/shared" ]; echo "last ran with: $*"; }}
in_stage "$@"
arguments=(an argument)
run_stages first middle last
""")
    environment = {"PATH": "/usr/bin:/bin", "OPENREG_GEN_BUILD_DIR": str(tmp_path / "build")}
    for logs in ("", str(tmp_path / "logs")):
        done = subprocess.run(
            ["bash", tmp_path / "run.sh"], capture_output=True, text=True, env={**environment, "logs": logs}, timeout=60
        )
        assert done.returncode == 1, done.stderr
        assert "went on" not in done.stdout
        assert "last ran with: an argument" in done.stdout
        assert re.findall(r"(passed|FAILED) +(\w+)$", done.stdout, re.MULTILINE) == [
            ("passed", "first"), ("FAILED", "middle"), ("passed", "last"),
        ]  # fmt: skip
        assert done.stdout.endswith("==> Failed: middle; again:\n  scripts/run.sh middle an argument\n")
    assert (tmp_path / "logs/last.log").read_text() == "last ran with: an argument\n"


def test_a_stage_that_is_not_there_is_refused():
    for script in ("test.sh", "nightly.sh"):
        command = ["bash", ROOT / "scripts" / script, "comand"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3 and "no such stage: comand; there are: " in done.stderr


LOG = """\
==> The sweep
40544 cases of 12 tasks; modes: default, copy

category       known     new
raising           32       0
all               102       3

raising: add/out/float32/1: no
figures: direct builds
"""


def test_figures_of_a_nightly_stage(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<testsuites tests="5"><testsuite tests="5" errors="1" failures="1" skipped="2"/></testsuites>'
    )
    (tmp_path / "cut_off.xml").write_text("<testsuites")
    (tmp_path / "b.xml").write_text('<testsuite tests="1200" failures="0" disabled="1" skipped="0"/>')
    assert nightly_table.figures(LOG, sorted(tmp_path.iterdir())) == (
        "1205 tests, 2 failed, 3 skipped; 40,544 cases (default, copy), 102 known, 3 new; direct builds"
    )
    assert nightly_table.figures("", []) == "-"


def test_a_stage_is_recorded_as_nightly_sh_does(tmp_path, monkeypatch):
    monkeypatch.setattr(nightly_table, "ROOT", tmp_path)
    monkeypatch.setattr(nightly_table, "TABLE", tmp_path / "nightly.md")
    monkeypatch.setattr(nightly_table, "git", lambda *words: "" if words[0] == "status" else "0123456789")
    (tmp_path / "owned.log").write_text(LOG)
    (tmp_path / "1.xml").write_text('<testsuite tests="5" failures="1"/>')
    call = re.search(r"nightly_table\.py\" (record .*)", (ROOT / "scripts/nightly.sh").read_text())[1]
    names = {"$1": "owned", "$2": "FAILED", "$seconds": "90", "$logs/$1.log": f"{tmp_path}/owned.log"}
    files = [str(tmp_path / name) for name in ("1.xml", "none.xml")]
    words = []
    for word in call.replace('"', "").split():
        words += files if word.endswith(".xml") else [names.get(word, word)]
    nightly_table.main(words)
    row = nightly_table.parse((tmp_path / "nightly.md").read_text())["owned"]
    assert row[2:5] == ("0123456789", "2", "FAILED") and row.figures.startswith("5 tests, 1 failed")


def test_rows_of_the_nightly_table_are_replaced():
    rows = nightly_table.parse(table(soak="0123456789", slow="0123456789"))
    rows["soak"] = nightly_table.Row("soak", "2026-01-03", "abc", "7", "FAILED", "5 tests")
    text = nightly_table.text_of(rows)
    assert "| soak | 2026-01-03 | abc | 7 | FAILED | 5 tests |\n" in text
    assert "| kinds | - | - | - | never run | - |\n" in text
    assert nightly_table.parse(text) == rows
    said = nightly_table.age(rows["soak"], datetime.date(2026, 1, 13), 4)
    assert said == "soak           FAILED  10 days, 4 commits ago (abc): 5 tests"
    assert "not in this checkout" in nightly_table.age(rows["soak"], datetime.date(2026, 1, 3), None)


@pytest.fixture
def nights(history, monkeypatch):
    """A history with a table of nightly stages; returns a function that commits one and gives what `check` answers."""
    root = choose.ROOT
    monkeypatch.setattr(nightly_table, "ROOT", root)
    monkeypatch.setattr(nightly_table, "TABLE", root / "tests/nightly.md")
    monkeypatch.setattr(nightly_table, "STAGES", ("soak", "book"))
    monkeypatch.setattr(nightly_table, "SUBJECTS", {"soak": "device", "book": "docs :!docs/old-page"})
    monkeypatch.setattr(nightly_table, "MOST_COMMITS", 2)

    def check(**rows):
        if rows:
            made = {stage: nightly_table.Row(stage, "2026-01-01", *row) for stage, row in rows.items()}
            history("tests/nightly.md", nightly_table.text_of(made))
        return nightly_table.check()

    return check


def test_a_row_that_failed_or_never_ran_fails_ci(nights, history, capsys, monkeypatch):
    first = history("device/a")
    good = (first, "1", "passed", "-")
    assert nights(soak=good, book=good) == 0 and capsys.readouterr().out == ""
    monkeypatch.setenv("OPENREG_GEN_BASE", choose.git("rev-parse", "HEAD"))
    history("other/a")
    assert nights(soak=good, book=(first, "1", "FAILED", "-")) == 1
    assert "book           FAILED; renew it: scripts/nightly.sh book\n" in capsys.readouterr().out
    assert nights(soak=good) == 1
    assert "book           never run; renew it: scripts/nightly.sh book\n" in capsys.readouterr().out
    assert nights(soak=good, book=("0123456789", "1", "passed", "-")) == 1
    assert "its commit 0123456789 is not in this history" in capsys.readouterr().out


def test_a_row_is_old_by_commits_of_what_it_tests(nights, history, capsys, monkeypatch):
    good = (history("device/a"), "1", "passed", "-")
    assert nights(soak=good, book=good) == 0
    monkeypatch.setenv("OPENREG_GEN_BASE", choose.git("rev-parse", "HEAD"))
    for name in ("docs/old-page", "other/b", "other/c", "other/d"):
        history(name)
        assert nights() == 0
    history("device/b"), history("device/c")
    assert nights() == 0
    history("device/d")
    assert nights() == 1
    said = capsys.readouterr().out
    assert "soak           3 commits changed what it tests; renew it" in said and "book" not in said


def test_rows_can_be_renewed_one_by_one(nights, history, capsys, monkeypatch):
    first = history("device/a")
    assert nights(soak=(first, "1", "FAILED", "-")) == 1
    bad = choose.git("rev-parse", "HEAD")
    assert nights(soak=(first, "1", "FAILED", "5 tests")) == 1  # it ran again, and failed again
    capsys.readouterr()
    assert nights(soak=(history("device/b"), "1", "passed", "-")) == 0
    assert "1 rows say nothing of today's code; this change renews: soak" in capsys.readouterr().out
    later = history("device/c")
    for name in "bc":  # it is not known where the change begins: two commits are looked at
        history(f"other/{name}")
    assert nights() == 1
    monkeypatch.setenv("OPENREG_GEN_BASE", bad)
    assert nights() == 0  # the change begins there
    monkeypatch.setenv("OPENREG_GEN_BASE", later + "^")
    assert nights() == 1  # it was renewed before
    assert "renews none of them" in capsys.readouterr().out


def test_a_shallow_checkout_says_that_rows_are_not_checked(nights, history, tmp_path, capsys, monkeypatch):
    history("device/a")
    assert nights(soak=("0123456789", "1", "FAILED", "-")) == 1
    shallow = tmp_path / "shallow"
    assert choose.git("clone", "-q", "--depth", "1", f"file://{tmp_path}", str(shallow)) is not None
    monkeypatch.setattr(nightly_table, "ROOT", shallow)
    assert nights() == 0 and "rows are not checked: this checkout has no history" in capsys.readouterr().out


def test_ci_fails_for_rows_and_records_green_commits(history, tmp_path):
    """.ci/run with stages that do nothing."""
    files = {"scripts/choose.py": "", "scripts/nightly_table.py": "", ".ci/run": ""}
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / ".ci/run").chmod(0o755)
    (tmp_path / "scripts/test.sh").write_text('#!/bin/sh\necho "runs: $*"\n[ ! -e "$(dirname "$0")/../broken" ]\n')
    (tmp_path / "scripts/test.sh").chmod(0o755)
    (tmp_path / ".gitignore").write_text("__pycache__\n")

    def run(*stages):
        done = subprocess.run([tmp_path / ".ci/run", *stages], check=False, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    first = history("a")
    status, said = run()
    assert status == 1 and "soak           never run; renew it" in said and f"runs: {' '.join(choose.STAGES)}\n" in said
    assert choose.git("rev-parse", "--verify", "-q", "refs/ci/green") is None
    end = history("tests/nightly.md", table(**dict.fromkeys(nightly_table.STAGES, first)))
    assert run("command")[0] == 0
    assert choose.git("rev-parse", "--verify", "-q", "refs/ci/green") is None  # one stage says nothing of the others
    assert run()[0] == 0 and choose.git("rev-parse", "refs/ci/green") == end
    history("docs/page.md")
    history("broken")
    assert run()[0] == 1 and choose.git("rev-parse", "refs/ci/green") == end


def test_the_nightly_table_is_machine_written():
    text = nightly_table.TABLE.read_text()
    assert nightly_table.text_of(nightly_table.parse(text)) == text


def test_goldens_show_each_form_once():
    example = {"same": b"1\n", "other": b"1\n2\n3\n", "gone": b"\n", "long": b""}
    long = "".join(f"{number}\n" for number in range(golden.MOST + 1)).encode()
    one = {"same": b"1\n", "other": b"1\nTWO\n3\n", "new": b"text\n", "long": long}
    two = {"other": b"1\nTWO\n3\n", "new": b"words\n"}
    assert golden.golden(example, {"one": one, "two": two}) == {
        "paths": ["generated_example", "|one", "||two", "a-- gone", "ab- long", "-ab new", "abb other", "aa- same"],
        "one": [
            f"=== long b: +{golden.MOST + 1} -0 {golden.digest(long)}",
            "=== new a", "+text",
            "=== other b", "@@", "-2", "+TWO",
        ],
        "two": ["=== new b", "@@", "-text", "+words"],
    }  # fmt: skip


def test_goldens_can_be_reviewed():
    assert sum(path.read_text().count("\n") for path in (ROOT / "tests/golden").iterdir()) <= 3000


def test_parts_of_the_trials_take_turns(monkeypatch, capsys):
    assert try_operators.next_place("standard", "-") == "standard"
    assert (
        try_operators.next_place("full", "full: 30 right, 0 wrong, 1 no samples; next: full:mul.out") == "full:mul.out"
    )
    monkeypatch.setattr(
        try_operators, "tried", lambda op, words: try_operators.Trial(op, "wrong" if op == "c" else "right")
    )
    assert try_operators.run("standard:b", [], ["a", "b", "c", "d"], 1e9) == 1
    assert (
        "figures: standard: 2 right, 0 in part, 0 on the host, 1 wrong, 0 no samples; next: standard\n"
        in capsys.readouterr().out
    )
    assert try_operators.run("opencl", [], ["a", "b"], 1e9) == 0
    assert "next: opencl\n" in capsys.readouterr().out
    assert try_operators.run("full", [], ["a", "b"], -1.0)  # nothing was tried
    assert "next: full:a\n" in capsys.readouterr().out


def fallen(calls, on_host):
    reached = {"aten::mul.out": {"calls": calls, "by": "kernel", "at": ""}}
    return {
        "right": False, "cases": 3, "wrong": [], "computed_on": "", "reached": reached, "parts": {}, "on_host": on_host,
    }  # fmt: skip


@pytest.mark.parametrize(
    "answer, outcome",
    [
        ({"right": True, "computed_on": "device"}, "right"),
        (fallen(3, {"kernel": 3}) | {"right": True, "computed_on": "host"}, "wrong"),
        (fallen(9, {"fallback": 3, "other dtypes": 3}), "in part"),
        (fallen(0, {"fallback": 3}), "wrong"),
        (
            fallen(0, {"fallback": 3}) | {"reached": {"aten::mul.Tensor": {"calls": 3, "by": "boxed", "at": ""}}},
            "no samples",
        ),
        (fallen(9, {}) | {"wrong": [{"case": "a", "category": "value", "detail": "no"}]}, "wrong"),
        ({"right": False, "cases": 0, "wrong": []}, "no samples"),
        ({"diagnostics": [{"message": "angle: PyTorch has no samples for it"}]}, "no samples"),
        ({"diagnostics": [{"message": "no device"}]}, "wrong"),
    ],
)
def test_answers_of_a_trial(monkeypatch, answer, outcome):
    answered = subprocess.CompletedProcess([], 0, json.dumps(answer), "")
    monkeypatch.setattr(try_operators.subprocess, "run", lambda *_, **__: answered)
    assert try_operators.tried("mul.out", []).outcome == outcome


def test_operators_of_the_host_are_written_there(monkeypatch):
    on_host = fallen(3, {"fallback": 3})
    answered = subprocess.CompletedProcess([], 1, json.dumps(on_host), "")
    monkeypatch.setattr(try_operators.subprocess, "run", lambda *_, **__: answered)
    assert {try_operators.tried(op, []).outcome for op in try_operators.HOST} == {"on the host"}
