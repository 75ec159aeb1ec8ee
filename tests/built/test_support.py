"""Where samples come from, what outcomes mean, and the support table."""

import importlib
import json
import sys

import pytest
import torch
from built import PACKAGE, ROOT

pytest.importorskip(f"{PACKAGE}.testing", reason="the tree has no component testing", exc_type=ModuleNotFoundError)
checks, forms, opinfos, samples, spec, support = (
    importlib.import_module(f"{PACKAGE}.testing.{name}")
    for name in ("checks", "forms", "opinfos", "samples", "spec", "support")
)
Operator, Skip = spec.Operator, spec.Skip
ABS = Operator("abs.out", "native", forms=["abs", "abs_"], serves=["abs", "abs_"], dtypes=["float32"])
needs_opinfos = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")


@needs_opinfos
@pytest.mark.parametrize(
    ("overload", "full_name"),
    [
        ("abs", "abs"),
        ("add.Tensor", "add"),
        ("add_.Tensor", "add"),
        ("threshold_backward", "nn.functional.relu"),
        ("_softmax", "softmax"),
        ("_softmax_backward_data", "softmax"),
        ("native_layer_norm", "nn.functional.layer_norm"),
        ("embedding_dense_backward", "nn.functional.embedding"),
        ("sum.dim_IntList", "sum"),
        ("max.dim", "max.reduction_with_dim"),
        ("_foreach_add.List", "_foreach_add"),
        ("convolution_overrideable", "nn.functional.conv2d"),
    ],
)
def test_opinfos_of_an_overload(overload, full_name):
    assert full_name in {info.full_name for info in opinfos.find(overload)}


@needs_opinfos
@pytest.mark.parametrize("name", ["abs", "exp", "mm", "sum", "_foreach_abs"])
def test_the_opinfo_about_an_overload_comes_first(name):
    overload = {"sum": "sum.dim_IntList"}.get(name, name)
    assert opinfos.find(overload)[0].full_name == name


@needs_opinfos
def test_samples_are_the_arguments_of_the_overload():
    operator = Operator("threshold_backward.grad_input", "structured", forms=["threshold_backward"])
    sample = next(samples.from_opinfos(forms.Forms(operator), torch.float32))
    assert list(sample.inputs) == ["grad_output", "self", "threshold"]
    assert sample.inputs["self"].dtype == torch.float32
    assert sample.source != "schema"


def test_samples_from_the_schema_have_a_shape_of_each_kind():
    found = list(samples.from_schema(forms.Forms(ABS), torch.float32))
    assert {(0, 3), (), (3, 4)} <= {tuple(sample.inputs["self"].shape) for sample in found}


def test_copies_keep_strides_gaps_and_shared_elements(device):
    x = torch.arange(12.0).reshape(3, 4)
    for value in (x.t(), x[:, ::2], x[:1].expand(3, 4), x[:0], torch.tensor(2.0)):
        copy = forms.copied(value, device)
        assert copy.stride() == value.stride()
        assert torch.equal(copy.cpu(), value)
    assert forms.copied(x[:1].expand(3, 4), device).untyped_storage().nbytes() == 16


def test_a_skip_of_the_spec_has_its_reason(device):
    operator = Operator("abs.out", "native", skips=[Skip("forward", "int8", "why not")])
    assert checks.run(operator, "forward", "int8", device) == ("skip", "why not")
    assert operator.skipped("forward", "float32") is None
    assert operator.skipped("out", "int8") is None


def test_what_does_not_apply_says_why(device):
    operator = Operator("abs.out", "native", dtypes=["float32"])
    assert checks.run(operator, "inplace", "float32", device).status == checks.NONE
    assert not checks.applies(operator, "inplace")
    assert checks.applies(operator, "out")


@pytest.mark.parametrize("check", ["forward", "out", "inplace", "noncontiguous", "empty", "backward"])
def test_a_wrong_result_is_a_failure(device, monkeypatch, check):
    """Each check sees a kernel that is wrong by one, on the device only."""
    right = forms.call

    def wrong(overload, inputs, outs=None):
        found = right(overload, inputs, outs)
        there = any(x.device == device for x in forms.tensors(inputs))
        with torch.no_grad():
            if there and outs:
                for value in outs.values():
                    value.copy_(value.cpu() + 1)
            elif there and forms.kind(overload) == "inplace":
                inputs["self"].copy_(inputs["self"].cpu() + 1)
        if there and not outs and forms.kind(overload) == "functional":
            return (found.cpu() * 2 + 1).to(device)
        return found

    first = checks.run(ABS, check, "float32", device)
    if first.status == checks.NONE:  # `fallback: none`, and its backward needs operators that have no kernel
        pytest.skip(first.detail)
    assert first.status == checks.PASS
    monkeypatch.setattr(checks, "call", wrong)
    outcome = checks.run(ABS, check, "float32", device)
    assert outcome.status == checks.FAIL
    assert "float32" in outcome.detail  # names the sample


def test_what_an_operator_raises_is_its_failure(device, monkeypatch):
    def broken(overload, inputs, outs=None):
        if any(x.device == device for x in forms.tensors(inputs)):
            raise MemoryError("no more")
        return right(overload, inputs, outs)

    right = forms.call
    monkeypatch.setattr(checks, "call", broken)
    assert checks.run(ABS, "forward", "float32", device) == ("fail", "MemoryError: no more")


def test_the_table_is_json_and_markdown(device, monkeypatch, tmp_path, capsys):
    again = Operator("abs.out", "cpu_fallback", dtypes=["float32", "float64"], skips=[Skip("empty", None, "a | b")])
    monkeypatch.setattr(support, "OPERATORS", [again])
    paths = tmp_path / "t.json", tmp_path / "t.md"
    argv = ["support", "ab*", "--json", str(paths[0]), "--markdown", str(paths[1])]
    monkeypatch.setattr(sys, "argv", argv)
    assert support.main() == 0
    assert "fail: 0" in capsys.readouterr().out
    data = json.loads(paths[0].read_text())
    assert [(row["op"], row["dtype"]) for row in data["rows"]] == [("abs.out", "float32"), ("abs.out", "float64")]
    assert data["rows"][0]["checks"]["forward"] == "fallback"
    assert data["totals"]["empty"]["skip"] == 2
    assert all(sum(total.values()) == len(data["rows"]) for total in data["totals"].values())
    text = paths[1].read_text()
    assert "| `abs.out` | cpu_fallback | float32, float64 | cpu |" in text
    assert "a \\| b" in text


def test_products_may_differ_by_the_order_of_their_sums(device):
    """And no more: not by what a 16-bit sum would lose."""
    a, b = (
        torch.testing.make_tensor(shape, dtype=torch.complex64, device="cpu", low=-9, high=9)
        for shape in ((1, 4, 500), (1, 500, 4))
    )
    inputs = {"self": torch.zeros(1, 4, 4, dtype=torch.complex64), "batch1": a, "batch2": b, "beta": 1, "alpha": 0.5}
    group = forms.Forms(Operator("baddbmm.out", "native", forms=["baddbmm"], serves=["baddbmm"], dtypes=["complex64"]))
    run = checks.Run(group, torch.complex64, device)
    exact = (a.to(torch.complex128) @ b.to(torch.complex128) * 0.5).to(torch.complex64)
    most = checks.rounding(group, inputs)
    assert 0 < most < 500 * 81 * 4 * 1e-6
    checks.compare(run, (exact + most / 2).to(device), exact, "in another order", most)
    with pytest.raises(AssertionError, match="wrong"):
        checks.compare(run, (exact + 100 * most).to(device), exact, "wrong", most)
    with pytest.raises(AssertionError, match="as any operator"):
        checks.compare(run, (exact + most / 2).to(device), exact, "as any operator")
    assert checks.rounding(forms.Forms(ABS), {"self": a}) == 0


PLUGIN = f"""
import os
import {PACKAGE}.testing.opinfos as opinfos

def trace():
    print(f"traced during {{os.environ['PYTEST_CURRENT_TEST']!r}}", flush=True)
    return {{}}

opinfos.trace = trace
"""


def test_samples_are_traced_before_the_first_test(python, tmp_path):
    (tmp_path / "tracing.py").write_text(PLUGIN)
    tests = ROOT / "tests/test_operators.py"
    options = ("-q", "-p", "tracing", "-p", "no:cacheprovider", "-s", "-k", "test_registered")
    env = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTEST_CURRENT_TEST": ""}
    assert "traced during ''\n" in python("-m", "pytest", *options, str(tests), **env).stdout
