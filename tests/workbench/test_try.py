"""`openreg-gen try`: right kernels pass, faults that were planted are found, and a fallback is not taken for a kernel."""

import json
import os
import pathlib

import pytest
import torch
from openreg_gen import record
from openreg_gen.sweep import cases, kernels
from openreg_gen.sweep.known import KnownDifferences
from openreg_gen.testing import opinfos
from openreg_gen.trial import __main__ as trial, verdict

HERE = pathlib.Path(__file__).parent
TRY = ("-m", "openreg_gen.try")
# As in mutants.py, which can be imported only where it may register kernels: operator, dtype, and what is found.
MUTANTS = {
    "tile_border": ("mul.out", "float32", "value"),
    "nan_lost": ("clamp_min.Tensor_out", "float32", "value"),
    "missing_guard": ("flip", "float32", "device"),
    "narrow_sum": ("sum.IntList_out", "float16", "value"),
    "alpha_ignored": ("add.out", "float32", "value"),
    "offset_ignored": ("neg.out", "float32", "value"),
    "channels_last_strides": ("flip", "float32", "strides"),
    "tail": ("sinh.out", "float32", "value"),
    "expanded_written": ("logical_not.out", "float32", "raising"),
    "not_resized": ("sinh.out", "float32", "shape"),
    "truncated": ("div.out_mode", "int64", "value"),
    "negative_dim": ("cumsum.out", "float32", "value"),
    "beta_zero": ("addmm.out", "float32", "value"),
    "conj_ignored": ("bmm.out", "complex64", "value"),
}


@pytest.fixture
def tried(run_python, device, tmp_path):
    """Runs the tool with the kernels of mutants.py, and returns its JSON."""
    if torch.accelerator.device_count() < 2:
        pytest.skip("needs two devices")

    def run(op: str, dtype: str, *words: str, mutant: str = "") -> dict:
        paths = os.pathsep.join([str(HERE), str(HERE.parents[1] / "generator/workbench")])
        named = ("--device", device, "--import", "mutants", "--dtype", dtype, "--jobs", "1", "--json", "-")
        done = run_python(*TRY, op, *named, *words, code=None, PYTHONPATH=paths, MUTANT=mutant)
        answer = json.loads(done.stdout)
        assert done.returncode == (0 if answer["right"] else 1), done.stderr
        return answer

    return run


def test_a_mutant_is_found(tried):
    """One of them on every run; see test_mutants for all."""
    answer = tried("sinh.out", "float32", "--variant", "forward", mutant="tail")
    assert "value" in {each["category"] for each in answer["wrong"]}
    assert answer["proved"]


@pytest.mark.nightly
def test_a_fallback_is_no_kernel(tried):
    if torch._C._dispatch_has_kernel_for_dispatch_key("aten::bincount", "PrivateUse1"):
        pytest.skip("the backend has a kernel of bincount")
    answer = tried("bincount", "int64", "--quick", "--variant", "forward")
    assert not answer["wrong"]
    assert not answer["proved"]
    assert answer["reached"]["aten::bincount"]["by"] == "fallback"


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants(tried, mutant):
    op, dtype, category = MUTANTS[mutant]
    answer = tried(op, dtype, mutant=mutant)
    assert category in {each["category"] for each in answer["wrong"]}, answer
    assert answer["proved"]


@pytest.mark.nightly
@pytest.mark.parametrize("op, dtype", sorted({(op, dtype) for op, dtype, _ in MUTANTS.values()}))
def test_right_kernels_pass(tried, op, dtype):
    answer = tried(op, dtype)
    assert answer["right"], answer["wrong"]


def test_sizes_around_tile_borders():
    info = kernels.find("borders:add")
    samples = cases.drawn(lambda: info.sample_inputs("cpu", torch.float32))
    sizes = {size for sample in samples for size in sample.input.shape}
    assert set(kernels.SIZES) <= sizes
    assert kernels.LONG in sizes
    assert tuple(kernels.FOUR) in {tuple(sample.input.shape) for sample in samples}
    assert all(kernels.accepted(opinfos.database()["add"], sample) for sample in samples[:20])


def test_recorded_arguments(tmp_path):
    path = tmp_path / "ops.json"
    table = torch.ones(7, 5).t()
    with record.record("cpu", path, shapes=True):
        torch.add(table, table[:, 1:2], alpha=3)
        torch.nn.functional.embedding(torch.tensor([[6, 1]]), torch.ones(7, 4))
    info = kernels.find(f"recorded:{path}:add.out")
    (sample,) = info.sample_inputs("cpu", torch.float32)
    assert (sample.input.shape, sample.input.stride()) == ((5, 7), (1, 5))
    x, y, alpha = sample.input, *sample.args
    assert alpha == 3
    assert torch.equal(info.op(x, y, alpha), torch.add(x, y, alpha=3))
    assert torch.equal(info.op(x, y, alpha, out=torch.empty(0)), torch.add(x, y, alpha=3))
    assert info.inplace_variant(x, y, alpha) is x
    name = next(op.op for op in record.load(path).ops if op.op.startswith(("embedding", "index_select")))
    info = kernels.find(f"recorded:{path}:{name}")
    assert list(info.sample_inputs("cpu", torch.float32))  # the indices that are made up fit
    task = cases.Task(f"recorded:{path}:add.out", "float32")
    listed = [case.name for case in cases.cases(task, cases.Selection(("forward", "out", "inplace")))]
    assert [name.rsplit("/", 3)[1] for name in listed] == ["forward", "inplace", "out"]
    assert cases.find(listed[0]) is not None
    with record.record("cpu", path, shapes=True):
        torch.sum(table, 0)
    name = next(op.op for op in record.load(path).ops if op.op.startswith("sum"))
    task = cases.Task(f"recorded:{path}:{name}", "float32")
    assert list(cases.cases(task, cases.Selection(("offset", "dim_from_end"))))  # which ask what the operator is called


def test_names_of_kernels():
    assert verdict.base_of("aten::add_.Tensor") == "add"
    found = verdict.Verdict("add.Tensor", "cpu")
    assert found.is_judged("aten::add.out")  # the form that serves it
    assert not found.is_judged("aten::add.Scalar_out")
    assert verdict.Verdict("add", "cpu").is_judged("aten::add_.Tensor")


def test_too_little_memory_is_no_fault():
    found = verdict.Verdict("abs", "mine")
    lost = ["large:abs/forward/int8/0", "raising", "mine raises OutOfMemoryError: no more; the CPU does not"]
    found.add(cases.Task("large:abs", "int8"), {"counts": {"forward": 1}, "found": [lost]}, KnownDifferences())
    assert (found.wrong, found.no_memory) == ([], [lost[0]])
    found.add(cases.Task("abs", "int8"), {"counts": {"forward": 1}, "found": [lost]}, KnownDifferences())
    assert found.wrong  # elsewhere it is one


def test_bad_input(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for words, said in (
        (("nothing_at_all", "--device", "cpu"), "PyTorch has no such operator"),
        (("add.nothing", "--device", "cpu"), "hint: there are"),
        (("add.out", "--device", "cpu", "--shapes", "none.json"), "record --shapes"),
        (("add.out",), "--device"),
    ):
        with pytest.raises(SystemExit) as ended:
            trial.main(words)
        printed = capsys.readouterr()
        assert (ended.value.code, printed.out) == (2, ""), printed.err
        assert said in printed.err, printed.err
