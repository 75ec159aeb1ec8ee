"""The sweep: what it finds, what a crash or a hang costs, what it keeps and prints."""

import importlib
import json
import os
import shutil
from typing import Any

import pytest
import torch
from openreg_gen.protocol import Workbench
from openreg_gen.sweep import baseline, cases, context, known, numbers, report, results, variants, written
from openreg_gen.sweep.cases import Selection, Task
from openreg_gen.sweep.compare import Call, check
from openreg_gen.sweep.context import Context
from openreg_gen.sweep.copies import Copier
from openreg_gen.sweep.everywhere import EVERYWHERE
from openreg_gen.sweep.known import KnownDifference, KnownDifferences, KnownError
from openreg_gen.testing import opinfos

needs_opinfos = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")


@pytest.fixture
def place(any_device) -> torch.device:
    return Context(any_device).place(0)


class Second:
    """A function whose second call, on the device, differs from the first one, on the CPU."""

    def __init__(self, right, wrong):
        self.right, self.wrong, self.calls = right, wrong, 0

    def __call__(self, x: torch.Tensor) -> Any:
        self.calls += 1
        return (self.wrong if self.calls == 2 else self.right)(x)


def error(kind: type[Exception]) -> Any:
    raise kind("wrong")


def plain(x: torch.Tensor) -> torch.Tensor:
    return x + 1


WRONG = {
    "raising": (plain, lambda x: error(ValueError)),
    "error": (lambda x: error(IndexError), lambda x: error(ValueError)),
    "structure": (lambda x: [x], lambda x: [x, x]),
    "device": (plain, lambda x: plain(x).to("meta")),
    "dtype": (plain, lambda x: plain(x).double()),
    "shape": (plain, lambda x: plain(x)[None]),
    "value": (plain, lambda x: x + 2),
    "strides": (plain, lambda x: plain(x).T.contiguous().T),
    "aliasing": (lambda x: x, torch.clone),
}


@pytest.mark.parametrize("category", WRONG)
def test_each_category_is_found(category, place):
    found = check(Call(Second(*WRONG[category]), (torch.rand(2, 3),), {}), 0, place)
    assert found is not None
    assert found.category == category


def test_what_does_not_differ_is_not_found(place):
    assert check(Call(plain, (torch.rand(2, 3),), {}), 0, place) is None


def test_what_a_call_writes_is_compared(place):
    writes = Second(lambda x: x.fill_(1).sum() * 0, lambda x: x.fill_(2).sum() * 0)
    found = check(Call(writes, (torch.rand(2, 3),), {}), 0, place)
    assert found is not None
    assert found.category == "value"


def one_by_one(order, more=0):
    """out[i] = x[i] + 1, in an order that kernels may choose."""

    def function(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        for i in order:
            out[i] = x[i] + 1
        return out + more

    return function


class SecondOfTwo(Second):
    def __call__(self, *args: torch.Tensor) -> Any:
        self.calls += 1
        return (self.wrong if self.calls == 2 else self.right)(*args)


def test_where_the_cpu_reads_what_it_wrote_its_values_are_no_reference(place):
    memory = torch.arange(4.0)
    backwards = SecondOfTwo(one_by_one(range(3)), one_by_one(reversed(range(3))))
    assert check(Call(backwards, (memory[:3], memory[1:]), {}), 0, place) is None
    apart = SecondOfTwo(one_by_one(range(3)), one_by_one(range(3), more=1))
    found = check(Call(apart, (memory[:3], torch.zeros(3)), {}), 0, place)
    assert found is not None
    assert found.category == "value"


def test_random_results_are_not_compared(place):
    assert check(Call(torch.rand_like, (torch.rand(2, 3),), {}), 0, place) is None
    wrong = Second(torch.rand_like, lambda x: torch.rand_like(x, dtype=torch.double))
    found = check(Call(wrong, (torch.rand(2),), {}), 0, place)
    assert found is not None
    assert found.category == "dtype"


def test_copies_keep_what_can_be_seen(place):
    base = torch.arange(12.0).to(torch.complex64)
    x, y = base[1:9].view(2, 4).t().conj(), base[3:]
    number = torch.tensor(1.0)
    copies = Copier(place, (number,))([x, y, x, x.imag, number, "cpu"])
    assert copies[0] is copies[2]
    assert (copies[0].stride(), copies[0].storage_offset()) == (x.stride(), 1)
    assert copies[0].is_conj()
    assert copies[3].is_neg()
    assert copies[0].untyped_storage().data_ptr() == copies[1].untyped_storage().data_ptr()
    assert copies[4].device.type == "cpu"
    assert copies[5] == place
    assert torch.equal(copies[0].cpu(), x)


@needs_opinfos
def test_cases_have_the_same_names_each_time():
    first, second = ([case.name for case in cases.cases(Task("add", "float32"), Selection((), 2))] for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first)
    found = {name.split("/")[1] for name in first}
    assert found >= {"forward", "backward", "inplace", "out", "numbers", "zero_dim_cpu"}
    assert cases.find(first[-1])[1].name == first[-1]


@needs_opinfos
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_an_input_is_one_output_at_most(dtype):
    info = opinfos.database()["sort"]
    sample = next(s for s in info.sample_inputs("cpu", dtype) if s.input.dim() > 1)
    call = next(written.out_is_input(variants.OpSample(info, sample, dtype, 0)))
    assert [x is sample.input for x in call.kwargs["out"]] == [True, False]


@needs_opinfos
def test_samples_beside_those_of_pytorch():
    info = opinfos.database()["mul"]
    sample = next(s for s in info.sample_inputs("cpu", torch.complex64) if s.input.dim() > 1)
    given = variants.OpSample(info, sample, torch.complex64, 0)
    assert next(variants.conj(given)).args[0].is_conj()
    assert next(variants.neg(given)).args[0].is_neg()
    assert next(variants.zero_size(given)).args[0].numel() == 0
    assert not next(variants.noncontiguous(given)).args[0].is_contiguous()
    firsts = {type(call.args[0]) for call in numbers.numbers(given)}
    assert firsts >= {int, float, bool, complex}
    assert any(call.args[0] is call.kept[0] for call in numbers.zero_dim_cpu(given))


RUN = """
import os, sys, time
import torch
from openreg_gen.sweep import cases, compare, runner
from openreg_gen.sweep.cases import Case, Selection, Task
from openreg_gen.sweep.context import Context


class Second:
    # The first call of a case is on the CPU, the second on the device.
    def __init__(self, then):
        self.then, self.calls = then, 0

    def __call__(self, x):
        self.calls += 1
        return self.then() if self.calls == 2 else None


def listed(task, selection):
    die, stay = Second(lambda: os._exit(7)), Second(lambda: time.sleep(600))
    for index, function in enumerate([abs, die, abs, stay, abs]):
        yield Case(f"{task.subject}/forward/float32/{index}", compare.Call(function, (torch.ones(2),), {}), 0)


cases.cases = listed
# Whatever the load: what has begun and never ends is late, the rest is not.
runner.overdue = lambda worker, timeout: worker.case.endswith("/3") and worker.on_device
where = Context(sys.argv[1], start="fork")  # takes along what this script changes
for task, found in runner.run(where, [Task("a", "float32"), Task("b", "float32")], Selection(), 2, 0):
    print(task, found["counts"], sorted(row[:2] for row in found["found"]))
"""


def test_a_crash_and_a_hang_cost_one_case_each(run_python, any_device):
    found = [("SUBJECT/forward/float32/1", "crash"), ("SUBJECT/forward/float32/3", "hang")]
    wanted = {f"{s}/float32 {{'forward': 3}} {found}".replace("SUBJECT", s) for s in "ab"}
    assert set(run_python("-c", RUN, any_device).stdout.splitlines()) == wanted


LEFT = """
import os
import torch
from openreg_gen.sweep import cases, compare, runner
from openreg_gen.sweep.cases import Case, Selection, Task
from openreg_gen.sweep.context import Context


def suspended():
    with torch._C._PreserveDispatchKeyGuard():
        yield


def leave(x):
    # As a fake tensor's error does: a cycle that sets back what the dispatcher excluded when it was made.
    with torch._C._AutoDispatchBelowAutograd():
        block = suspended()
        next(block)
    cycle = [block]
    cycle.append(cycle)


def tracked(x):
    many = [[i] for i in range(2000)]  # Python collects garbage meanwhile
    if not (x * 2).requires_grad:
        os._exit(len(many) % 2 + 7)


def listed(task, selection):
    x = torch.ones(2, requires_grad=True)
    for index in range(200):
        function = leave if index % 2 == 0 else tracked
        yield Case(f"a/forward/float32/{index}", compare.Call(function, (x,), {}), 0)


cases.cases = listed
for task, found in runner.run(Context("cpu", start="fork"), [Task("a", "float32")], Selection(), 1, 60):
    print(found["counts"], len(found["found"]))
"""


def test_garbage_of_a_case_does_not_turn_autograd_off_in_later_ones(run_python):
    assert run_python("-c", LEFT).stdout == "{'forward': 200} 0\n"


REFUSED = """
from openreg_gen.device import DeviceError
from openreg_gen.sweep import runner
from openreg_gen.sweep.cases import Selection, Task
from openreg_gen.sweep.context import Context


def broken(device, package):
    raise DeviceError("it makes no tensor") if {0!r} == "refused" else SystemExit(9)


runner.open_device = broken
try:
    list(runner.run(Context("cpu", start="fork"), [Task("add", "float32")] * 3, Selection(), 1, 60))
except DeviceError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "how, says", [("refused", "it makes no tensor"), ("ends", "a process that opened 'cpu' ended with 9")]
)
def test_a_device_that_does_not_answer_ends_the_run(run_python, how, says):
    assert run_python("-c", REFUSED.format(how)).stdout.startswith(says)


@pytest.mark.nightly
def test_a_case_that_wants_more_devices_than_there_are_is_left_out(run_python):
    words = ["--device", "cpu", "add", "--dtype=float32", "--variant=device_1", "--limit=1"]
    assert "No case ran" in run_python("-m", "openreg_gen.sweep", *words).stdout
    said = run_python("-m", "openreg_gen.sweep", "--device=cpu", "--case=add/device_1/float32/0", code=3).stderr
    assert said.startswith("openreg-gen: error[E0575]: add/device_1/float32/0: this case needs two devices\nhint: ")


def test_results_are_taken_up_again(tmp_path):
    path, task = tmp_path / "sweep.jsonl", Task("add", "float32")
    kept = results.Results(path, "mine", Selection())
    kept.add("default", task, {"counts": {"forward": 3}, "found": [["add/forward/float32/1", "value", "text"]]})
    with path.open("a") as file:
        file.write('{"selection": "half a li')
    again = results.Results(path, "mine", Selection())
    assert again.done("default") == {task}
    assert not again.done("copy")
    assert [f.category for f in again.findings(KnownDifferences(), ["default"])] == ["value"]
    assert not results.Results(path, "mine", Selection(("out",))).done("default")
    assert not results.Results(path, "other", Selection()).done("default")


def test_results_of_another_build_are_not_taken_over(tmp_path, monkeypatch):
    package = tmp_path / "torch_built"
    package.mkdir()
    (package / "__init__.py").write_text("")
    library, path, task = package / "_C.so", tmp_path / "sweep.jsonl", Task("add", "float32")
    library.write_bytes(b"wrong")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(torch, "built", importlib.import_module("torch_built"), raising=False)
    results.Results(path, "built", Selection()).add("default", task, {"counts": {}, "found": []})
    (package / "known.py").write_text("DIFFERENCES = []")
    assert results.Results(path, "built", Selection()).done("default") == {task}
    library.write_bytes(b"mended")
    assert not results.Results(path, "built", Selection()).done("default")


def test_known_differences_need_a_reason():
    assert [entry for entry in EVERYWHERE if entry.wrong()] == []
    row = ("add/out*/float32/*", "strides", "as it is")
    assert known.from_rows([row, [*row, "", "copy"]], "known") == [
        KnownDifference(*row),
        KnownDifference(*row, mode="copy"),
    ]
    wrong = [("add", *row[1:]), (row[0], "colour", "why"), (*row[:2], ""), (row[0], "value", "why"), "add", row[:2]]
    with pytest.raises(KnownError) as raised:
        known.from_rows([row, *wrong], "torch.mine._workbench.known")
    lines = str(raised.value).splitlines()
    assert [line.split(" ")[0].rstrip(",") for line in lines] == [
        f"torch.mine._workbench.known[{i}]" for i in range(1, len(wrong) + 1)
    ]


def test_known_differences_do_not_outlive_their_reason(tmp_path):
    entry = KnownDifference("add/out*/float32/*", "strides", "as it is")
    kept = results.Results(tmp_path / "sweep.jsonl", "mine", Selection())
    task = Task("add", "float32")
    kept.add("default", task, {"counts": {"out": 3}, "found": [["add/out_empty/float32/1", "strides", "text"]]})
    found = list(kept.findings(KnownDifferences([entry]), ["default"]))
    assert found[0].known == entry
    assert results.stale([entry], found, [task], ["default"]) == []
    assert results.stale([entry], [], [task], ["default"]) == [entry]
    assert results.stale([entry], [], [Task("sub", "float32")], ["default"]) == []
    of_any = entry._replace(case="add/out*/*/*")
    assert results.stale([of_any], [], [Task("add", "int64")], ["default"]) == []
    assert results.stale([of_any], [], [task], ["default"]) == [of_any]
    for mode, there in (("*", True), ("default", True), ("!copy", True), ("copy", False), ("!default", False)):
        some = entry._replace(mode=mode)
        assert kept.findings(KnownDifferences([some]), ["default"]).__next__().known == (some if there else None)
        assert results.stale([some], [], [task], ["default"]) == ([some] if there else [])
    for kernel, there in (("no_such_operator.out", False), ("!no_such_operator.out", True)):
        some = entry._replace(kernel=kernel)
        assert kept.findings(KnownDifferences([some]), ["default"]).__next__().known == (some if there else None)
        assert results.stale([some], [], [task], ["default"]) == ([some] if there else [])


def test_a_kernel_of_the_backend_decides(device):
    assert known.has_kernel("empty.memory_format")  # each backend has it
    assert not known.has_kernel("no_such_operator")


def test_a_sample_may_find_no_more_known_differences_than_the_backend_says():
    plain = KnownDifference("add/*/*/*", "strides", "as it is")
    found = [
        results.Finding("default", f"add/out/int64/{i}", "strides", "", plain._replace(kernel=kernel))
        for i, kernel in enumerate(["", "", "add.out"])
    ]
    assert results.above(found, {"strides": 2}, ["default"]) == []
    assert results.above(found, {"strides": 1}, ["default"]) == [
        "default: 2 known differences of category strides, at most 1 are allowed"
    ]


def test_variables_of_the_default_mode_are_set_in_all_modes():
    assert context.modes(Workbench()) == {"default": {}, "deterministic": {}}
    given = Workbench(modes={"default": {"A": "1"}, "sync": {"B": "2"}, "one": {"A": "3"}})
    assert context.modes(given) == {
        "default": {"A": "1"},
        "deterministic": {"A": "1"},
        "sync": {"A": "1", "B": "2"},
        "one": {"A": "3"},
    }


@pytest.mark.parametrize(
    "new, old, says",
    [
        (0, 0, "Nothing differs: all 3 cases on mine do what the CPU does."),
        (0, 1, "Nothing new differs: of 3 cases on mine, 1 differs for a known reason."),
        (1, 2, "Of 3 cases on mine, 1 differs from the CPU for no known reason; 2 differ for a known reason."),
        (2, 0, "Of 3 cases on mine, 2 differ from the CPU for no known reason."),
    ],
)
def test_the_answer_is_a_sentence(new, old, says):
    assert report.verdict(Context("mine"), 3, new, old) == says


@needs_opinfos
def test_the_command(tmp_path, run_python, any_device):
    words = ["-m", "openreg_gen.sweep", "--device", any_device]
    chosen = ["add", "--dtype=float32", "--variant=forward", "--limit=2", "--out", "r.jsonl"]
    done = run_python(*words, *chosen, OPENREG_GEN_COMMAND="openreg-gen")
    assert "1/1 tasks, 0 new, 0 known differences" in done.stderr
    assert done.stdout.startswith("Nothing differs: all 2 cases")
    (row,) = (json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines())
    assert row["schema"] == results.SCHEMA
    assert row["device"] == any_device
    assert row["counts"] == {"forward": 2}
    page = (tmp_path / "r.html").read_text()
    assert f"openreg-gen sweep --device {any_device}" in page
    assert "@DATA@" not in page
    assert "no difference" in run_python(*words, "--case", "add/forward/float32/0").stdout


@needs_opinfos
def test_modes_run_in_processes_of_their_own(tmp_path, run_python, device):
    words = ["-m", "openreg_gen.sweep", "--device", device, "add", "--dtype=float32", "--variant=forward", "--limit=1"]
    assert "modes: deterministic" in run_python(*words, "--mode", "deterministic", "--fresh").stdout
    assert [json.loads(row)["mode"] for row in (tmp_path / "sweep.jsonl").read_text().splitlines()] == ["deterministic"]


@pytest.mark.parametrize(
    "text, foreign",
    [("", False), ('{"selection": "1"}\n', False), ("a thesis\n", True), ('{"title": 1}', True), ("[1]", True)],
)
def test_a_file_that_no_sweep_wrote_is_foreign(tmp_path, text, foreign):
    assert not results.is_foreign(tmp_path / "new")
    (tmp_path / "thesis.txt").write_text(text)
    assert results.is_foreign(tmp_path / "thesis.txt") == foreign


def test_a_file_that_no_sweep_wrote_stays(tmp_path, run_python):
    (tmp_path / "thesis.txt").write_text("a thesis\n")
    words = ["--device=cpu", "add", "--dtype", "float32", "--out", str(tmp_path / "thesis.txt"), "--fresh"]
    assert "not a file of results" in run_python("-m", "openreg_gen.sweep", *words, code=2).stderr
    assert (tmp_path / "thesis.txt").read_text() == "a thesis\n"


BACKEND = """
import types, torch

torch.cpu._workbench = types.SimpleNamespace(start="never")
"""


@pytest.mark.parametrize(
    "words, code, says",
    [
        (["--device", "no_such"], 3, "openreg-gen: error[E0575]: no device 'no_such' in "),
        (
            ["--device=cpu", "--import", "no_such_module"],
            3,
            "openreg-gen: error[E0575]: no_such_module: can't be imported by ",
        ),
        (
            ["--device=cpu", "no_such_subject"],
            2,
            "openreg-gen: error[E0574]: no_such_subject: no subject matches\nhint: ",
        ),
        (
            ["--device=cpu", "add", "--mode", "fast"],
            2,
            "openreg-gen: error[E0574]: --mode fast: cpu has no such mode\nhint: there are default",
        ),
        (["--device=cpu", "--case", "add"], 2, "openreg-gen: error[E0574]: add: no such case\nhint: "),
        (
            ["--device=cpu", "--case", "add/forward/float32/99999"],
            2,
            "openreg-gen: error[E0574]: add/forward/float32/99999: no such",
        ),
        (
            ["--device=cpu", "add", "--baseline", "no_such.jsonl"],
            2,
            "openreg-gen: error[E0574]: --baseline no_such.jsonl: [Errno 2] No such",
        ),
        (
            ["--device=cpu", "add", "--baseline", "sweep.jsonl"],
            2,
            "openreg-gen: error[E0574]: --baseline sweep.jsonl: this run writes its results there\nhint: ",
        ),
        (
            ["--device=cpu", "add", "--import", "backend"],
            2,
            "openreg-gen: error[E0574]: torch.cpu._workbench.start is 'never'; it has to be",
        ),
    ],
)
def test_bad_input_is_named(tmp_path, run_python, words, code, says):
    (tmp_path / "backend.py").write_text(BACKEND)
    done = run_python("-m", "openreg_gen.sweep", *words, code=code)
    assert done.stderr.startswith(says), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_known_differences_from_a_file(tmp_path, run_python):
    (tmp_path / "rows.json").write_text('[["add/*/*/*", "strides", "as it is"]]')
    assert known.from_file(tmp_path / "rows.json") == [KnownDifference("add/*/*/*", "strides", "as it is")]
    (tmp_path / "wrong.json").write_text("{}")
    for name in ("wrong.json", "no_such.json"):
        with pytest.raises(KnownError, match=name):
            known.from_file(tmp_path / name)


def results_with(tmp_path, found) -> results.Results:
    kept = results.Results(tmp_path / "sweep.jsonl", "mine", Selection())
    kept.add("default", Task("add", "float32"), {"counts": {"out": 5}, "found": found})
    kept.add("default", Task("sub", "float32"), {"counts": {"out": 4}, "found": []})
    return kept


@pytest.fixture(scope="module")
def browser():
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is looked at with playwright")
    if not chromium:
        pytest.skip("the page is looked at in Chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


def page_of(kept, found, *more):
    mine = Context("mine")
    return report.page(mine, report.document(mine, kept, found, ["default"], *more))


@pytest.mark.parametrize("width", [1400, 420])
def test_the_page_folds_what_is_alike(tmp_path, browser, width):
    rows = [[f"add/out/float32/{i}", "strides", f"result 0 has strides ({i},)"] for i in range(3)]
    kept = results_with(tmp_path, [*rows, ["add/forward/float32/0", "value", "<b>wrong</b>"]])
    entry = KnownDifference("add/forward/*/*", "value", "as it is", "CUDA does the same")
    found = list(kept.findings(KnownDifferences([entry]), ["default"]))
    path = tmp_path / "page.html"
    path.write_text(page_of(kept, found))
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    assert page.locator("#legend li").all_inner_texts() == ["3 new", "1 known", "5 equal"]
    assert page.locator("#count").inner_text() == "4 cases in 2 rows"
    assert page.locator(".kind").all_inner_texts() == ["new, strides", "known, value"]
    assert page.locator(".cases li").count() == 0
    page.locator(".groups summary").first.click()
    page.locator(".cases li").nth(2).wait_for()  # a toggle is an event of its own
    assert page.locator(".cases li").count() == 3
    assert "--device mine --case 'add/out/float32/2'" in page.locator(".cases li").last.inner_text()
    assert not page.locator("#subjects").is_visible()
    page.locator("#equal summary").click()
    page.locator("#subjects li").nth(1).wait_for()
    assert page.locator("#subjects li").all_inner_texts() == ["add\n1", "sub\n4"]
    page.locator("#state").select_option("known")
    assert page.locator("#count").inner_text() == "1 case in 1 row"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_page_says_when_nothing_differs(tmp_path, browser):
    kept = results_with(tmp_path, [])
    path = tmp_path / "page.html"
    path.write_text(page_of(kept, []))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("#verdict").inner_text() == "Nothing differs: all 9 cases on mine do what the CPU does."
    assert not page.locator("#differences").is_visible()
    page.close()


def test_the_page_folds_operators_and_shows_what_is_fixed(tmp_path, browser):
    old = tmp_path / "old.jsonl"
    then = results.Results(old, "mine", Selection())
    wrong = [
        [f"{name}/out/float32/0", "strides", f"result 0 has strides ({i},)"] for i, name in enumerate(["add", "sub"])
    ]
    fixed = ["add/out/float32/1", "value", "text"]
    then.add(
        "default", Task("add", "float32"), {"counts": {"out": 5}, "found": [fixed, ["add/out/float32/2", "value", "x"]]}
    )
    kept = results_with(tmp_path, [*wrong, ["add/out/float32/2", "value", "x"]])
    since = baseline.load(old, "mine")
    found = since.marked(list(kept.findings(KnownDifferences(), ["default"])))
    path = tmp_path / "page.html"
    path.write_text(page_of(kept, found, since, (["aten::a", "aten::b"], {"aten::a"})))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("#legend li").all_inner_texts() == ["2 new", f"1 as in {old}", "0 known", "6 equal"]
    assert page.locator(".kind").all_inner_texts() == ["new, strides", "same, value"]
    assert page.locator(".what code").all_inner_texts() == ["add, sub", "add/out/float32/2"]
    page.locator("#since summary").click()
    assert page.locator("#fixes li").all_inner_texts() == ["add/out/float32/1"]
    assert page.locator("#ran").inner_text() == "1 of 2 kernels of this backend ran; not reached: b"
    page.close()
