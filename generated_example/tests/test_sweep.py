# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The sweep: what it finds, what a crash or a hang costs, what it keeps."""

import json
import subprocess
import sys

import pytest
import torch
from torch_openreg.testing import opinfos
from torch_openreg.testing.sweep import cases, numbers, report, results, variants
from torch_openreg.testing.sweep.cases import Selection, Task
from torch_openreg.testing.sweep.compare import Call, check
from torch_openreg.testing.sweep.copies import Copier
from torch_openreg.testing.sweep.known import DIFFERENCES, Known

needs_opinfos = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")


def here(x: torch.Tensor) -> bool:
    """On the device, where the functions below go wrong."""
    return x.device.type != "cpu"


def error(x: torch.Tensor, kind: type[Exception]) -> torch.Tensor:
    raise kind("wrong")


WRONG = {
    "raising": lambda x: error(x, ValueError) if here(x) else x + 1,
    "error": lambda x: error(x, ValueError if here(x) else IndexError),
    "structure": lambda x: [x, x] if here(x) else [x],
    "device": lambda x: (x + 1).cpu(),
    "dtype": lambda x: (x + 1).double() if here(x) else x + 1,
    "shape": lambda x: (x + 1)[None] if here(x) else x + 1,
    "value": lambda x: x + 2 if here(x) else x + 1,
    "strides": lambda x: (x + 1).T.contiguous().T if here(x) else x + 1,
    "aliasing": lambda x: x.clone() if here(x) else x,
}


@pytest.mark.parametrize("category", WRONG)
def test_each_category_is_found(category):
    found = check(Call(WRONG[category], (torch.rand(2, 3),), {}), 0)
    assert found is not None
    assert found.category == category


def test_what_a_call_writes_is_compared():
    found = check(Call(lambda x: x.fill_(2 if here(x) else 1).sum() * 0, (torch.rand(2, 3),), {}), 0)
    assert found is not None
    assert found.category == "value"


def one_by_one(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """In another order on the device, as kernels may."""
    for i in reversed(range(3)) if here(x) else range(3):
        out[i] = x[i] + 1
    return out.clone()


def test_where_the_cpu_reads_what_it_wrote_its_values_are_no_reference():
    memory = torch.arange(4.0)
    assert check(Call(one_by_one, (memory[:3], memory[1:]), {}), 0) is None
    apart = check(Call(lambda x, out: one_by_one(x, out) + here(x), (memory[:3], torch.zeros(3)), {}), 0)
    assert apart is not None
    assert apart.category == "value"


def test_random_results_are_not_compared():
    assert check(Call(lambda x: torch.rand_like(x), (torch.rand(2, 3),), {}), 0) is None
    wrong = Call(lambda x: torch.rand_like(x, dtype=torch.double if here(x) else None), (torch.rand(2),), {})
    doubled = check(wrong, 0)
    assert doubled is not None
    assert doubled.category == "dtype"


def test_copies_keep_what_can_be_seen(device):
    base = torch.arange(12.0).to(torch.complex64)
    x, y = base[1:9].view(2, 4).t().conj(), base[3:]
    number = torch.tensor(1.0)
    copies = Copier(device, (number,))([x, y, x, x.imag, number, "cpu"])
    assert copies[0] is copies[2]
    assert (copies[0].stride(), copies[0].storage_offset()) == (x.stride(), 1)
    assert copies[0].is_conj()
    assert copies[3].is_neg()
    assert copies[0].untyped_storage().data_ptr() == copies[1].untyped_storage().data_ptr()
    assert copies[4].device.type == "cpu"
    assert copies[5] == device
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
def test_samples_beside_those_of_pytorch():
    info = opinfos.database()["mul"]
    sample = next(s for s in info.sample_inputs("cpu", torch.complex64) if s.input.dim() > 1)
    given = variants.Given(info, sample, torch.complex64, 0)
    assert next(variants.conj(given)).args[0].is_conj()
    assert next(variants.neg(given)).args[0].is_neg()
    assert next(variants.zero_size(given)).args[0].numel() == 0
    assert not next(variants.noncontiguous(given)).args[0].is_contiguous()
    firsts = {type(call.args[0]) for call in numbers.numbers(given)}
    assert firsts >= {int, float, bool, complex}
    assert any(call.args[0] is call.kept[0] for call in numbers.zero_dim_cpu(given))


RUN = """
import os, sys, time
import torch_openreg
from torch_openreg.testing.sweep import cases, compare, runner
from torch_openreg.testing.sweep.cases import Case, Selection, Task
import torch


def die(x):
    os._exit(7) if x.device.type != "cpu" else None


def stay(x):
    time.sleep(600) if x.device.type != "cpu" else None


def listed(task, selection):
    for index, function in enumerate([abs, die, abs, stay, abs]):
        yield Case(f"{task.subject}/forward/float32/{index}", compare.Call(function, (torch.ones(2),), {}), 0)


cases.cases = listed
# Whatever the load: what has begun and never ends is late, the rest is not.
runner.START = "fork"  # takes along what this script changes
runner.overdue = lambda worker, timeout: worker.case.endswith("/3") and worker.on_device
for task, found in runner.run([Task("a", "float32"), Task("b", "float32")], Selection(), 2, 0):
    print(task, found["counts"], sorted(row[:2] for row in found["found"]))
"""


def test_a_crash_and_a_hang_cost_one_case_each():
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    found = [("SUBJECT/forward/float32/1", "crash"), ("SUBJECT/forward/float32/3", "hang")]
    wanted = {f"{s}/float32 {{'forward': 3}} {found}".replace("SUBJECT", s) for s in "ab"}
    assert set(done.stdout.splitlines()) == wanted, done.stderr


def test_results_are_taken_up_again(tmp_path):
    path, task = tmp_path / "sweep.jsonl", Task("add", "float32")
    kept = results.Results(path, Selection(), False)
    kept.add("default", task, {"counts": {"forward": 3}, "found": [["add/forward/float32/1", "value", "text"]]})
    with path.open("a") as file:
        file.write('{"selection": "half a li')
    again = results.Results(path, Selection(), False)
    assert again.done("default") == {task}
    assert not again.done("copy")
    assert [f.category for f in again.findings([], ["default"])] == ["value"]
    assert not results.Results(path, Selection(("out",)), False).done("default")


def test_known_differences_need_a_reason_and_do_not_outlive_it(tmp_path):
    assert not results.wrong_entries(DIFFERENCES)
    entry = Known("add/out*/float32/*", "strides", "as it is")
    assert results.wrong_entries([entry]) == []
    assert len(results.wrong_entries([entry._replace(category="value")])) == 1
    assert results.wrong_entries([entry._replace(category="value", cites="pytorch#1")]) == []
    kept = results.Results(tmp_path / "sweep.jsonl", Selection(), False)
    task = Task("add", "float32")
    kept.add("default", task, {"counts": {"out": 3}, "found": [["add/out_empty/float32/1", "strides", "text"]]})
    found = list(kept.findings([entry], ["default"]))
    assert found[0].known == entry
    assert results.stale([entry], found, [task], ["default"]) == []
    assert results.stale([entry], [], [task], ["default"]) == [entry]
    assert results.stale([entry], [], [Task("sub", "float32")], ["default"]) == []
    of_any = entry._replace(case="add/out*/*/*")
    assert results.stale([of_any], [], [Task("add", "int64")], ["default"]) == []
    assert results.stale([of_any], [], [task], ["default"]) == [of_any]
    for mode, there in (("*", True), ("default", True), ("!copy", True), ("copy", False), ("!default", False)):
        some = entry._replace(mode=mode)
        assert [f.known for f in kept.findings([some], ["default"])] == [some if there else None]
        assert results.stale([some], [], [task], ["default"]) == ([some] if there else [])
    for kernel, there in (("empty.memory_format", True), ("!empty.memory_format", False)):  # each backend has it
        some = entry._replace(kernel=kernel)
        assert [f.known for f in kept.findings([some], ["default"])] == [some if there else None]
        assert results.stale([some], [], [task], ["default"]) == ([some] if there else [])
    page = report.page(kept, found, ["default"])
    assert "add/out_empty/float32/1" in page
    assert "@DATA@" not in page


@needs_opinfos
def test_the_command(tmp_path):
    command = [sys.executable, "-m", "torch_openreg.testing.sweep"]
    chosen = ["add", "--dtype=float32", "--variant=forward", "--most=2", "--results"]
    done = subprocess.run([*command, *chosen, str(tmp_path / "r.jsonl")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1/1 tasks, 0 differ" in done.stderr
    (row,) = (json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines())
    assert row["counts"] == {"forward": 2}
    assert "Sweep of openreg" in (tmp_path / "r.html").read_text()
    done = subprocess.run([*command, "--case", "add/forward/float32/0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no difference" in done.stdout
