"""`openreg-gen try`: right kernels pass, faults that were planted are found, and a fallback is not taken for a kernel."""

import json
import os
import pathlib
from collections import Counter

import pytest
import torch
from openreg_gen import record
from openreg_gen.calls import counted
from openreg_gen.served import base_of, served
from openreg_gen.sweep import cases, compare, kernels, runner
from openreg_gen.sweep.compare import Call
from openreg_gen.sweep.context import Context
from openreg_gen.sweep.known import KnownDifferences
from openreg_gen.testing import opinfos
from openreg_gen.trial import __main__ as trial, names, verdict
from openreg_gen.trial.proof import OTHER_DTYPES, Witness, hosted

HERE = pathlib.Path(__file__).parent
WORKBENCH = HERE.parents[1] / "generator/workbench"
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
        named = ("--device", device, "--import", "mutants", "--dtype", dtype, "--jobs", "1", "--json")
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
    assert base_of("aten::add_.Tensor") == "add"
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
        (("--device", "cpu"), "required: OP"),
    ):
        with pytest.raises(SystemExit) as ended:
            trial.main(words)
        printed = capsys.readouterr()
        assert (ended.value.code, printed.out) == (2, ""), printed.err
        assert said in printed.err, printed.err


def test_names_are_known_without_a_device(capsys):
    for name in ("abs", "aten::add.out", "nn.functional.gelu", "_softmax"):
        assert names.main([name]) == 0
    for name in ("nothing_at_all", "add.nothing", "nn.functional.nothing"):
        with pytest.raises(SystemExit) as ended:
            names.main([name])
        assert (ended.value.code, "E0574" in capsys.readouterr().err) == (2, True)


def outcome_of(reached=(), inside=(), fallbacks=(), found=(), cases=4, **more):
    rows = {op: [1, how, "somewhere.cpp:1"] for op, how in reached}
    parts = {op: [1, how, "somewhere.cpp:1"] for op, how in inside}
    return {
        "counts": {"forward": cases},
        "found": [*found],
        "reached": rows,
        "inside": parts,
        "fallbacks": [*fallbacks],
        **more,
    }


def verdict_of(op, **given):
    made = verdict.Verdict(op, "mine")
    made.add(cases.Task("any", "float32"), outcome_of(**given), KnownDifferences())
    return made


def test_a_composite_is_proved_by_the_kernels_that_it_reaches():
    reached = [("aten::softmax.int", "math")]
    inside = [*reached, ("aten::empty.memory_format", "kernel"), ("aten::_softmax.out", "kernel")]
    assert verdict_of("softmax", reached=reached, inside=inside).proved
    assert set(verdict_of("softmax", reached=reached, inside=inside).kernels()) == {"aten::_softmax.out"}
    assert not verdict_of("softmax", reached=reached, inside=[*reached, ("aten::_softmax.out", "fallback")]).proved
    assert not verdict_of("softmax", reached=reached, inside=[*reached, ("aten::copy_", "kernel")]).proved
    host = [["aten::_softmax.out", "fallback", 2]]
    assert not verdict_of("softmax", reached=reached, inside=inside, fallbacks=host).proved
    # one that has a kernel itself is judged by that
    assert not verdict_of("softmax", reached=[("aten::softmax.int", "fallback")], inside=inside).proved


def test_entries_of_pytorchs_samples_name_operators():
    for op, reached in (
        ("nn.functional.gelu", "aten::gelu.out"),
        ("special.i0e", "aten::special_i0e.out"),
        ("linalg.inv", "aten::linalg_inv"),
        ("nn.functional.relu", "aten::relu_"),
    ):
        assert verdict_of(op, reached=[(reached, "kernel")]).proved, op
        assert not verdict_of(op, reached=[("aten::add.out", "kernel")]).reached()


def test_dtypes_that_a_kernel_leaves_to_the_host_are_no_fault():
    reached = [("aten::hypot.out", "kernel")]
    left = verdict_of("hypot.out", reached=reached, fallbacks=[["aten::hypot.out", OTHER_DTYPES, 11]])
    assert left.proved
    assert "11 calls with other dtypes" in verdict.text(left, Context("mine"), {})
    assert not verdict_of("hypot.out", reached=reached, fallbacks=[["aten::hypot.out", "fallback", 1]]).proved


def test_a_kernel_that_calls_the_cpu_computes_on_the_host():
    """It ran, and left all of the work to the host: no kernel of the device was tried."""
    reached = [("aten::relu", "kernel"), ("aten::relu_", "kernel")]
    found = verdict_of("relu", reached=reached, hosted=["aten::relu", "aten::relu_"])
    said = verdict.text(found, Context("mine"), {})
    assert said.endswith("relu: right, but computed on the host: this backend's kernel calls the CPU's kernel")
    assert "registered at somewhere.cpp:1: it calls the CPU's kernel, on the host" in said
    assert found.json()["hosted"] == ["aten::relu", "aten::relu_"] and found.json()["computed_on"] == "host"
    part = verdict_of("relu", reached=reached, hosted=["aten::relu"])
    assert verdict.text(part, Context("mine"), {}).endswith(
        "computed on the host in part: this backend's kernel calls the CPU's kernel"
    )
    copies = verdict_of("relu", reached=reached, fallbacks=[["aten::relu", "kernel", 4]])
    assert verdict.text(copies, Context("mine"), {}).endswith("and this backend's kernel computed it, on the host")
    own = verdict_of("relu", reached=reached)
    assert verdict.text(own, Context("mine"), {}).endswith("and this backend's kernel computed it")
    assert own.json()["computed_on"] == "device"


def test_a_kernel_that_leaves_some_calls_to_the_host_is_not_on_the_host():
    """Matrix products of integers, say: the kernel calls that of the CPU, and launches kernels for all other dtypes."""
    given = {"reached": [("aten::mm.out", "kernel")], "inside": [("aten::mm.out", "kernel")]}
    in_part = (
        {"fallbacks": [["aten::mm.out", "kernel", 205]], "launches": 1},
        {"hosted": ["aten::mm.out"]},  # and the task of another dtype, which is added below, is not
    )
    for each in in_part:
        found = verdict_of("mm.out", **given, **each)
        found.add(cases.Task("any", "float64"), outcome_of(**given), KnownDifferences())
        said = verdict.text(found, Context("mine"), {})
        assert said.endswith("right, and this backend's kernel computed it, in part on the host"), said
        assert (found.right, found.json()["computed_on"], found.json()["hosted"]) == (True, "", [])


def test_a_call_of_the_same_operator_on_the_cpu_is_the_kernels():
    reached = {"aten::relu": [1, "kernel", ""], "aten::add.out": [1, "kernel", ""], "aten::neg": [1, "fallback", ""]}
    counts = {("aten::relu", ("mine",), ""): 1, ("aten::relu", ("cpu",), ""): 1, ("aten::neg", ("cpu",), ""): 1}
    counts |= {("aten::add.out", ("cpu", "mine"), ""): 1, ("aten::empty.memory_format", ("cpu",), ""): 1}
    assert hosted(reached, Counter(counts)) == ["aten::relu"]


def test_a_kernel_that_hands_the_call_to_the_cpu_is_seen(device):
    library = torch.library.Library("aten", "IMPL")
    library.impl("sinc", lambda x: torch.sinc(x.cpu()).to(x.device), "PrivateUse1")
    try:
        with counted() as counts:
            torch.sinc(torch.ones(3, device=device))
        reached = {"aten::sinc": [1, served(device, "aten::sinc")[0], ""]}
        assert hosted(reached, counts) == ["aten::sinc"]
    finally:
        library._destroy()


def test_other_dtypes_are_those_of_arguments():
    witness = Witness.__new__(Witness)
    witness.dtypes = {torch.float32}
    x, y = torch.ones(2), torch.ones(2, dtype=torch.int64)
    for args, kwargs, own in (((x, x), {}, True), ((x, y), {}, False), ((x,), {"dtype": torch.float64}, False)):
        assert witness.is_of_trial(cases.Case("", Call(torch.add, args, kwargs), 0)) is own


def test_why_nothing_ran_is_said():
    failed = ["add/samples/float32/0", "structure", "RuntimeError: Could not run 'aten::set_' (copies.py:1, in tensor)"]
    said = verdict.text(verdict_of("add.out", found=[failed], cases=0), Context("mine"), {})
    assert said.endswith(f"nothing ran: 1 of 1 tasks failed; the first: {failed[2]}")


def test_a_ratio_within_the_noise_is_no_ratio():
    assert verdict.ratio(1.05, 1.0, 0.01) == "the same"
    assert verdict.ratio(1.0, 1.3, 0.4) == "too noisy"
    assert verdict.ratio(3.0, 1.0, 0.1) == "3x"
    assert verdict.ratio(1.0, 2.0, 0.1) == "0.5x"


def test_zeros_without_memory_may_have_other_strides():
    """The CPU's second derivative of abs."""
    zeros = torch._efficientzerotensor((0, 0))
    assert compare.stridden(torch.empty(0, 0), zeros.expand(0, 0), "result") is None
    assert compare.stridden(torch.empty(2, 3).t(), torch.empty(3, 2), "result") is not None


def test_an_error_begins_with_its_cause():
    try:
        torch.ones(2).view(5)
    except RuntimeError as error:
        said = runner.described(error)
    assert said.startswith("RuntimeError: shape '[5]' is invalid for input of size 2 (test_try.py:")


@pytest.mark.parametrize("tool, word", [("try", "relu"), ("sweep", "relu")])
def test_a_missing_package_is_named(run_python, tmp_path, tool, word):
    (tmp_path / "expecttest.py").write_text("raise ModuleNotFoundError('none', name='expecttest')\n")
    done = run_python(
        "-m", f"openreg_gen.{tool}", word, "--device", "cpu", code=3, PYTHONPATH=f"{tmp_path}:{WORKBENCH}"
    )
    assert (
        "error[E0575]: PyTorch's samples need expecttest: " in done.stderr and "pip install expecttest" in done.stderr
    )
