"""`upstream --discover`: files are found, failures are sorted, a crash costs one test, and exclusions have reasons."""

import json
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import pytest
from openreg_gen.upstream import discover, exclusions, files, report, runs, triage
from openreg_gen.upstream.exclusions import ExclusionError, Exclusions
from openreg_gen.upstream.files import Choice
from openreg_gen.upstream.runs import Folder, Outcome, Run

WORKBENCH = pathlib.Path(__file__).parents[2] / "generator/workbench"
FAULTY = pathlib.Path(__file__).parent / "upstream/faulty"


def test_files_are_found_by_their_calls(tmp_path):
    found = {file.name: file for file in files.discover(FAULTY)}
    assert sorted(found) == ["test_faults.py", "test_no_import.py", "test_switches.py"]
    classes = (
        ("TestFaults", "ACCELERATOR"),
        ("TestOfOtherDevices", ""),
        ("TestWithoutSetUp", ""),
        ("TestWithoutTearDown", ""),
    )
    assert found["test_faults.py"].classes == classes
    (tmp_path / "test/nn").mkdir(parents=True)
    (tmp_path / "test/nn/test_broken.py").write_text("instantiate_device_type_tests(\n")
    (tmp_path / "test/test_dotted.py").write_text(
        "import m\nclass TestX: pass\nm.instantiate_device_type_tests(TestX, {})\n"
    )
    (tmp_path / "version.txt").write_text("2.14.0a0\n")
    broken, dotted = files.discover(tmp_path)
    assert broken.name == "nn/test_broken.py" and broken.unreadable.startswith("SyntaxError")
    assert dotted.classes == (("TestX", ""),)
    assert files.release(tmp_path) == "2.14" and files.release(FAULTY) == ""


def test_a_folder_of_others_is_foreign(tmp_path):
    assert not Folder(tmp_path / "new").is_foreign() and not Folder(tmp_path).is_foreign()
    (tmp_path / "index.html").write_text("mine")
    assert Folder(tmp_path).is_foreign()
    (tmp_path / "runs").mkdir()
    assert not Folder(tmp_path).is_foreign()


def test_hardware_classes():
    named = files.TestFile("a.py", FAULTY, (("TestA", "GENERIC"), ("TestB", "CUDA")))
    assert named.of_hardware(["CUDA"]) and not named.of_hardware(["ACCELERATOR"])
    assert files.TestFile("a.py", FAULTY, (("TestA", ""),)).of_hardware(["CUDA"])  # it may inherit one


@pytest.mark.parametrize(
    "patterns, chosen",
    [
        ([], True),
        (["test_ops.py"], True),
        (["test_o*.py"], True),
        (["nn/*"], False),
        (["test_out*"], True),
        (["test_in*"], False),
        (["test_ops::TestCommon"], True),
        (["test_ops"], True),
        (["test_nn"], False),
        (["test_ops.py::TestCommon::test_out_*"], True),
        (["test_ops.py::test_in*"], False),
        (["test_torch.py::test_out", "TestCommon.test_out"], True),
    ],
)
def test_select(patterns, chosen):
    names = ("test_ops.py", "TestCommon", "test_out_add_mine_float32", "test_out")
    choice = Choice(patterns).among(["test_ops.py", "nn/test_nn.py"])
    assert (choice.file(names[0]) and choice.test(*names)) is chosen


def test_shards_are_parts_and_keep_dtypes_together():
    names = [("a.py", "TestA", f"test_{i}_{dtype}", f"test_{i}") for i in range(40) for dtype in ("int8", "half")]
    parts = [[name for name in names if Choice((), (i, 3)).test(*name)] for i in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(names) and all(parts)
    assert all(len(part) == 2 * len({name[3] for name in part}) for part in parts)


@pytest.mark.parametrize(
    "category, error, line",
    [
        ("missing operator", NotImplementedError("Could not run 'aten::a' with arguments from the 'X' backend"), ""),
        ("missing operator", RuntimeError("The operator 'aten::a' is not currently implemented for the X device."), ""),
        ("dtype", RuntimeError("\"add_x\" not implemented for 'Half'"), ""),
        ("dtype", AssertionError("The supported dtypes for abs on device type mine are incorrect!"), ""),
        ("dtype", TypeError("mine doesn't support float64"), ""),
        ("error text", AssertionError('"negative" does not match "wrong"'), ""),
        ("error text", AssertionError("RuntimeError not raised"), ""),
        ("CUDA only", AssertionError("Torch not compiled with CUDA enabled"), "s = torch.cuda.Stream()"),
        ("hard-coded device", AssertionError("Torch not compiled with CUDA enabled"), "x = x.to('cuda')"),
        (
            "hard-coded device",
            RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, mine:0 and cpu!"
            ),
            "x + torch.ones(2)",
        ),
        (
            "tolerance",
            AssertionError("Tensor-likes are not close!\n\nGreatest relative difference: 0.001 at index (0,)"),
            "",
        ),
        (
            "wrong value",
            AssertionError("Tensor-likes are not close!\n\nGreatest relative difference: inf at index (0,)"),
            "",
        ),
        ("wrong value", AssertionError("Tensor-likes are not equal!"), ""),
        ("import", ModuleNotFoundError("No module named 'x'"), ""),
        ("other", AssertionError("False is not true"), "self.assertTrue(x.is_pinned())"),
        ("other", ValueError(""), ""),
    ],
)
def test_triage(category, error, line):
    assert triage.categorize(error, [line] if line else []) == category
    assert triage.first_line(error).startswith(type(error).__name__)


def test_a_crash_says_where():
    words = (
        "the process ended with -6 (SIGABRT): Fatal Python error: Aborted | Current thread 0x1 (most recent call first): "
        '| File "/w/test/test_a.py", line 7 in test_b | File "/lib/unittest/case.py", line 1 in run'
    )
    wanted = 'the process ended with -6 (SIGABRT): Fatal Python error: Aborted | File "test_a.py", line 7 in test_b'
    assert triage.last_words(words, "/w/test") == wanted


SPEC = """# a spec
backend:
  name: mine
tests:
  tolerances: []  # none
  exclude:
  # flaky hardware
  - {test: TestA, reason: no reason at all}
  - test: TestB.test_c
    reason: >-
      the device
      pins nothing
ops: {}
"""


def test_exclusions_are_read_and_written(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(SPEC)
    first, second = exclusions.read(path)
    assert (first.group, first.test, first.reason, first.place) == ("TestA", "*", "no reason at all", f"{path}:8:5")
    assert (second.name, second.reason) == ("TestB.test_c", "the device pins nothing")
    both = Exclusions([first, second])
    assert both.find("TestA", "test_x_mine", "test_x") == first
    assert both.find("TestB", "test_c_mine", "test_c") == second and both.find("TestB", "test_d_mine", "test_d") is None
    exclusions.write(path, [("TestD.test_e_mine_float16", 'says "no": always', "dtype: float16\nnever")])
    text = path.read_text()
    assert text.startswith(SPEC.removesuffix("ops: {}\n")) and text.endswith("\nops: {}\n")
    third = exclusions.read(path)[2]
    assert (third.test, third.reason) == ("test_e_mine_float16", 'says "no": always')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "backend:\n  name: mine\n",
        "tests:\n  tolerances: []\nops: {}\n",
        "tests:\n    exclude: []\nops: {}\n",
        "tests:\n  exclude:\n",
    ],
)
def test_exclusions_get_a_place(tmp_path, text):
    path = tmp_path / "new/mine.yaml"
    path.parent.mkdir()
    path.write_text(text)
    exclusions.write(path, [("TestA.test_b", "why", "x"), ("TestC", "why not", "y")])
    assert [(row.name, row.reason) for row in exclusions.read(path)] == [("TestA.test_b", "why"), ("TestC", "why not")]
    assert {line for line in text.splitlines() if "exclude" not in line} <= set(path.read_text().splitlines())


@pytest.mark.parametrize(
    "text, place, says",
    [
        ("tests:\n  exclude:\n    - test: TestA.test_b\n      reason:\n", "4:14", "TestA.test_b has no reason"),
        ("tests:\n  exclude:\n    - test: TestA.test_b\n      reason: ''\n", "4:15", "TestA.test_b has no reason"),
        ("tests:\n  exclude:\n    - test: TestA.test_b\n", "3:7", "TestA.test_b has no reason"),
        ("tests:\n  exclude:\n    - reason: x\n", "3:7", "an exclusion without `test`"),
        ("tests:\n  exclude: 3\n", "2:12", "not a list"),
        ("tests: [\n", "2:1", "not YAML"),
    ],
)
def test_wrong_exclusions_are_refused(tmp_path, text, place, says):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ExclusionError) as error:
        exclusions.read(path)
    assert str(error.value).startswith(f"{path}:{place}: ") and says in str(error.value) and error.value.hint


def made(number: int, **tests: str) -> Run:
    """A run: test -> state, or the category of its failure."""
    head = {
        "number": number,
        "date": f"2026-11-0{number}T10:00:00",
        "torch": "2.13.0",
        "device": "mine",
        "seconds": 2.0,
    }
    rows = []
    for name, what in tests.items():
        state = "failed" if what in triage.CATEGORIES else what
        category = what if state == "failed" else ""
        rows.append(Outcome("test_a.py", "TestA", name, name, state, category, f"text of {what}" if category else ""))
    return Run(head, rows)


def test_runs_are_compared():
    first = made(1, a="passed", b="passed", c="dtype", d="passed", e="passed")
    second = made(2, a="passed", b="passed", c="dtype", d="dtype", e="passed")
    third = made(3, a="passed", b="crash", c="passed", d="passed", f="dtype", e="flaky")
    found = runs.compare(third, second, [first])
    names = [[outcome.name for outcome in each] for each in (found.new, found.fixed, found.flaky)]
    assert names == [["b"], ["c"], ["d", "e"]] and found.both == 5


def test_a_run_is_saved_and_told(tmp_path):
    run = made(1, a="passed", b="crash", c="dtype", d="dtype", e="skipped")
    run.outcomes.append(Outcome("test_c.py", "", "import", "", "failed", "import", "no module"))
    run.outcomes.append(Outcome("test_b.py", "TestB", "x<\x00y", "x", "failed", "error text", "<\x00>"))
    folder = Folder(tmp_path)
    folder.save(run)
    assert folder.numbers() == [1] and folder.run(1).outcomes == run.outcomes == runs.load(tmp_path).outcomes
    assert run.counts()["test_a.py"] == {"passed": 1, "crash": 1, "dtype": 2, "skipped": 1}
    with pytest.raises(runs.RunError, match="nothing.json: not the results.json of a run"):
        runs.load(tmp_path / "nothing.json")
    said = report.text(run, None, None, [], 3)
    assert said.startswith("7 tests in 3 files on mine, PyTorch 2.13.0: 1 passes, 5 fail, 1 is skipped.")
    run.outcomes[-1] = run.outcomes[-1]._replace(name="x")
    suites = {suite.get("name"): suite.attrib for suite in xml.fromstring(report.junit(run))}
    assert suites["test_a.py"] == {
        "name": "test_a.py",
        "tests": "5",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
        "time": "0.000",
    }
    page = report.page([run], None, None, [])
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert len(data["rows"]) == 5 and "https://" not in page and "@DATA@" not in page


def test_entries_name_a_method_if_all_of_its_tests_fail():
    rows = [
        Outcome("a.py", "TestA", "test_b_mine_int8", "test_b", "failed", "dtype", "x"),
        Outcome("a.py", "TestA", "test_b_mine_half", "test_b", "failed", "dtype", "x"),
        Outcome("a.py", "TestA", "test_c_mine_int8", "test_c", "failed", "crash", "y"),
        Outcome("a.py", "TestA", "test_c_mine_half", "test_c", "passed"),
    ]
    run = Run({}, rows)
    assert [entry[0] for entry in discover.entries(run, run.failures(), "why")] == [
        "TestA.test_b",
        "TestA.test_c_mine_int8",
    ]


@pytest.mark.parametrize(
    "words, says",
    [
        ([], "neither FILE.py nor --discover CHECKOUT is given"),
        (["--discover", "x", "--last"], "--discover and --last exclude each other"),
        (["--last", "--write-exclusions"], "--write-exclusions needs a file"),
        (["--last", "--reason", " "], "--reason is empty"),
        (["--last", "--shard", "3/2"], "3/2 is not a shard; write 1/4"),
    ],
)
def test_arguments_that_do_not_fit(capsys, words, says):
    from openreg_gen.upstream.__main__ import main

    with pytest.raises(SystemExit) as end:
        main(["--device", "cpu", *words])
    assert end.value.code == 2 and says in capsys.readouterr().err


def words(device: str, folder: pathlib.Path, *more: str) -> list[str]:
    given = ["--device", device, "--discover", str(FAULTY), "--out", str(folder), "--jobs", "2", *more]
    return ["-m", "openreg_gen.upstream", *given]


def states(folder: pathlib.Path) -> dict[str, str]:
    run = runs.load(folder)
    return {outcome.origin or outcome.file: outcome.category or outcome.state for outcome in run.outcomes}


def test_a_crash_costs_one_test(run_python, any_device, tmp_path):
    (tmp_path / "abort").touch()
    only = ("--select", "test_switches.py", "--timeout", "120")
    done = run_python(*words(any_device, tmp_path / "r", *only), code=1, OPENREG_GEN_SWITCHES=str(tmp_path))
    found = states(tmp_path / "r")
    assert found.pop("test_abort") == "crash" and set(found.values()) == {"passed"} and len(found) == 4
    assert "5 tests in 1 file" in done.stdout and "(SIGABRT)" in done.stdout


@pytest.mark.nightly
def test_each_fault_has_its_category(run_python, any_device, tmp_path):
    given = words(
        any_device, tmp_path / "r", "--select", "test_faults.py", "--select", "test_no*.py", "--timeout", "30"
    )
    run_python(*given, code=1)
    assert states(tmp_path / "r") == {
        "test_abort": "crash",
        "test_anything": "import",
        "test_before_tear_down": "other",
        "test_crash_other_error_text": "error text",
        "test_cuda_call": "CUDA only",
        "test_hang": "time-out",
        "test_hard_coded": "hard-coded device",
        "test_missing_operator": "missing operator",
        "test_no_error": "error text",
        "test_no_import.py": "import",
        "test_of_one_dtype": "dtype",
        "test_only_cuda": "skipped",
        "test_passes": "passed",
        "test_segfault": "crash",
        "test_tolerance": "tolerance",
        "test_wrong_value": "wrong value",
    }
    run_python(*given, "--hw-classification", "ACCELERATOR", "--select", "test_no_error", code=1)
    assert not {"test_passes", "test_anything"} & set(states(tmp_path / "r"))


@pytest.mark.nightly
def test_runs_follow_each_other(run_python, any_device, tmp_path):
    known = tmp_path / "known.yaml"
    given = words(any_device, tmp_path / "r", "--select", "test_switches.py")
    variables = {"OPENREG_GEN_SWITCHES": str(tmp_path)}
    run_python(*given, code=0, **variables)
    (tmp_path / "fails").touch()
    (tmp_path / "once").touch()
    said = run_python(*given, code=1, **variables).stdout
    assert "1 new, 0 fixed, 1 flaky" in said and "flaky  test_switches.py::TestSwitches::test_fails_once" in said
    again = [*given[:4], "--out", str(tmp_path / "r"), "--last", "--exclusions", str(known), "--write-exclusions"]
    assert f"1 entry added to {known}" in run_python(*again, code=1).stdout
    refused = run_python(*given, "--exclusions", str(known), code=2).stderr
    assert (
        f"error[E0574]: {known}:5:15: the exclusion of TestSwitches.test_fails has no reason\nhint: write why"
        in refused
    )
    known.write_text(known.read_text().replace('""', "ticket 12"))
    assert "nothing was added: no failure is left to exclude" in run_python(*again, code=0).stdout
    said = run_python(*given, "--exclusions", str(known), code=0, **variables).stdout
    assert "1 is excluded" in said
    (tmp_path / "fails").unlink()
    said = run_python(
        *given, "--exclusions", str(known), "--baseline", str(tmp_path / "r/runs/0002.json"), code=1, **variables
    ).stdout
    assert (
        f"unexpected pass: TestSwitches.test_fails is excluded (ticket 12), and passes: delete it, {known}:3:7" in said
    )
    assert "Compared with the other run (run 2 of" in said


@pytest.mark.nightly
def test_an_interrupted_run_goes_on(any_device, tmp_path, run_python):
    (tmp_path / "waits").touch()
    given = words(
        any_device, tmp_path / "r", "--select", "test_switches.py", "--select", "test_no*.py", "--timeout", "300"
    )
    variables = {"OPENREG_GEN_SWITCHES": str(tmp_path), "PYTHONPATH": str(WORKBENCH), "PATH": "/usr/bin:/bin"}
    argv = [sys.executable, *given]

    def heed_interrupts():  # which a job in the background ignores from the start
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        argv, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as process:
        for _ in range(1200):
            if (tmp_path / "waiting").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 3 and "the same command with --resume goes on from here" in said
    (tmp_path / "waits").unlink()
    run_python(*given, "--resume", code=1, **variables)
    assert states(tmp_path / "r")["test_waits"] == "passed" and not (tmp_path / "r/run.jsonl").exists()
    shards = [str(tmp_path / f"s{i}") for i in (1, 2)]
    for i, folder in enumerate(shards, 1):
        run_python(
            *words(any_device, pathlib.Path(folder), "--shard", f"{i}/2", "--select", "test_switches.py"), **variables
        )
    merged = [
        "-m",
        "openreg_gen.upstream",
        "--device",
        any_device,
        "--out",
        str(tmp_path / "all"),
        *(word for folder in shards for word in ("--merge", folder)),
    ]
    assert "5 tests in 1 file" in run_python(*merged).stdout
