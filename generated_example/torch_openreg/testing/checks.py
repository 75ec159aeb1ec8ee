# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The checks of one operator with one dtype, each against the CPU's answer.

A check raises AssertionError, or what the operator raises; NotApplicable where there is nothing to check. run() turns
that into an outcome; the rendered tests and the support table both call it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map_only

from . import opinfos
from .forms import Forms, call, copied, kind, out_names, tensors, written
from .samples import Sample, dtypes, everything, limit, samples
from .spec import TOLERANCES, Operator

NAME = "openreg"
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
# Two kernels that round at other steps differ by more than assert_close takes of 16 bits near zero.
HALVES = {"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 8e-3)}
PASS, FAIL, SKIP, FALLBACK, NONE = "pass", "fail", "skip", "fallback", "n/a"


class NotApplicable(Exception):
    """There is nothing to check, and why."""


class Outcome(NamedTuple):
    status: str
    detail: str = ""


class Run(NamedTuple):
    """The arguments of a check."""

    forms: Forms
    dtype: torch.dtype
    device: torch.device


def is_random(forms: Forms) -> bool:
    """Whether two runs may differ: random operators, and those that leave memory as it is."""
    return torch.Tag.nondeterministic_seeded in forms.own.tags or "empty" in forms.own._schema.name


def compare(run: Run, actual: Any, expected: Any, what: str) -> None:
    found, wanted = list(tensors(actual)), list(tensors(expected))
    assert len(found) == len(wanted), f"{what}: {len(found)} tensors, not {len(wanted)}"
    for a, e in zip(found, wanted, strict=True):
        assert a.device.type == NAME, f"{what}: the result is on {a.device}"
        assert a.dtype == e.dtype, f"{what}: {a.dtype}, not {e.dtype}"
        assert a.shape == e.shape, f"{what}: shape {tuple(a.shape)}, not {tuple(e.shape)}"
        if is_random(run.forms):
            continue
        dtype = str(e.dtype).removeprefix("torch.")
        given = run.forms.operator.tolerance or TOLERANCES.get(dtype) or HALVES.get(dtype)
        rtol, atol = given if given and (e.dtype.is_floating_point or e.dtype.is_complex) else (None, None)
        try:
            torch.testing.assert_close(a.detach().cpu(), e.detach(), rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            raise AssertionError(f"{what}: {' '.join(str(error).split())}") from None
    if not found and not is_random(run.forms):
        assert actual == expected, f"{what}: {actual}, not {expected}"


def on_cpu(overload: torch._ops.OpOverload, inputs: dict[str, Any], outs: dict[str, Any] | None = None):
    """The CPU's result and the arguments it has written, or None where it refuses."""
    inputs = copied(inputs, "cpu")
    try:
        with opinfos.quiet():
            return call(overload, inputs, outs), written(overload, inputs)
    except REFUSALS:
        return None


def reference(forms: Forms, inputs: dict[str, Any]):
    """The same by the form that the CPU is asked: an out form needs results to know their dtypes."""
    form = forms.main if kind(forms.main) != "out" else forms.relative("functional")
    if form is not None:
        return on_cpu(form, inputs)
    outs = {name: torch.empty(0, dtype=next(tensors(inputs)).dtype) for name in out_names(forms.own)}
    return on_cpu(forms.own, inputs, outs)


def answered(
    run: Run, change: Callable[[Any], Any] = lambda inputs: inputs, wanted: Callable[[Sample], bool] = lambda _: True
) -> Iterator[tuple[Sample, dict[str, Any], Any, Any]]:
    """Samples that the CPU takes with its results: a few, or all. Raises NotApplicable if there is none."""
    count = 0
    for sample in samples(run.forms, run.dtype):
        if not wanted(sample):
            continue
        inputs = change(sample.inputs)
        expected = reference(run.forms, inputs)
        if expected is None:
            continue
        yield sample, inputs, *expected
        count += 1
        if count == limit():
            return
    if count == 0:
        raise NotApplicable("no sample that the CPU takes")


def results(expected: Any) -> list[torch.Tensor]:
    return list(tensors(expected))


def forward_on(run: Run, sample: Sample, inputs: dict[str, Any], expected: Any, changed: Any) -> None:
    form = run.forms.main
    given = copied(inputs, run.device)
    outs = None
    if kind(form) == "out":
        names = out_names(form)
        values = results(expected)
        if len(names) != len(values):
            raise NotApplicable("its results are lists")
        outs = {n: torch.empty(0, dtype=v.dtype, device=run.device) for n, v in zip(names, values, strict=True)}
    actual = call(form, given, outs)
    compare(run, actual, expected, str(sample))
    compare(run, written(form, given), changed, f"{sample}: what it writes")


def forward(run: Run) -> None:
    for sample in answered(run, wanted=lambda sample: not sample.small):
        forward_on(run, *sample)


def empty(run: Run) -> None:
    for sample in answered(run, wanted=lambda sample: sample.small):
        forward_on(run, *sample)


def strided(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same values, with gaps and in the other order."""

    def change(x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 0:
            return x
        x = torch.stack([x, x], -1)[..., 0]
        return x.transpose(0, -1).clone().transpose(0, -1) if x.dim() > 1 and x.numel() % 2 else x

    return tree_map_only(torch.Tensor, change, inputs)


def alike(found: Any, wanted: Any) -> bool:
    try:
        torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-2, atol=1e-2)
    except AssertionError:
        return False
    return True


def noncontiguous(run: Run) -> None:
    def wanted(sample: Sample) -> bool:
        return any(x.dim() > 0 and x.numel() > 1 for x in tensors(sample.inputs))

    count = 0
    for sample, inputs, expected, changed in answered(run, strided, wanted):
        plain = reference(run.forms, sample.inputs)
        # Some kernels take contiguous inputs on trust, the CPU's too (native_layer_norm_backward): no sample, then.
        if plain is None or not is_random(run.forms) and not alike(expected, plain[0]):
            continue
        forward_on(run, sample, inputs, expected, changed)
        count += 1
    if count == 0:
        raise NotApplicable("no sample for which the CPU heeds strides")


def out(run: Run) -> None:
    form = run.forms.form("out")
    if form is None:
        raise NotApplicable("no out form of its own")
    for sample, inputs, expected, _ in answered(run):
        names, values = out_names(form), results(expected)
        if len(names) != len(values):
            raise NotApplicable("its results are lists")
        given = copied(inputs, run.device)
        resized = {n: torch.empty(0, dtype=v.dtype, device=run.device) for n, v in zip(names, values, strict=True)}
        compare(run, call(form, given, resized), tuple(values), f"{sample}: out= of no elements")
        gaps = {n: torch.zeros(*v.shape, 2, dtype=v.dtype).to(run.device) for n, v in zip(names, values, strict=True)}
        views = {name: torch.select(value, -1, 0) for name, value in gaps.items()}
        result = call(form, given, views)
        compare(run, result, tuple(values), f"{sample}: out= with gaps")
        for returned, view in zip(tensors(result), views.values(), strict=True):
            assert returned.data_ptr() == view.data_ptr(), f"{sample}: out= is not what is returned"
        for value in gaps.values():
            assert not value.cpu()[..., 1].any(), f"{sample}: out= wrote beside its elements"
        if not any(x.device.type == NAME for x in tensors(given)):
            continue
        elsewhere = {n: torch.empty(v.shape, dtype=v.dtype) for n, v in zip(names, values, strict=True)}
        try:
            call(form, given, elsewhere)
        except REFUSALS:
            continue
        # A few of PyTorch's own kernels end in a copy, which any device takes.
        for found, value in zip(elsewhere.values(), values, strict=True):
            right = is_random(run.forms) or torch.allclose(found, value, equal_nan=True)
            assert right, f"{sample}: out= on the CPU was taken, and is wrong"


def inplace(run: Run) -> None:
    form = run.forms.form("inplace")
    if form is None:
        raise NotApplicable("no in-place form of its own")
    target = form._schema.arguments[0].name
    count = 0
    for sample in samples(run.forms, run.dtype):
        expected = on_cpu(form, sample.inputs)
        if expected is None:
            continue
        given = copied(sample.inputs, run.device)
        actual = call(form, given)
        if isinstance(given[target], torch.Tensor):
            assert actual is given[target], f"{sample}: in-place returned another tensor"
        compare(run, given[target], expected[1][0], f"{sample}: in-place")
        count += 1
        if count == limit():
            break
    if count == 0:
        raise NotApplicable("no sample that the CPU takes in-place")


def gradients(form: torch._ops.OpOverload, inputs: dict[str, Any], device: Any, seeds: list[torch.Tensor] | None):
    """Gradients of the floating inputs and the seeds they began with; None if nothing is differentiable."""
    given = copied(inputs, device)
    leaves = [x.requires_grad_() for x in tensors(given) if x.is_floating_point() or x.is_complex()]
    if kind(form) == "inplace":
        first = form._schema.arguments[0].name
        given[first] = tree_map_only(torch.Tensor, torch.clone, given[first])
    outputs = [x for x in tensors(call(form, given)) if x.requires_grad]
    if not outputs or not leaves:
        return None
    if seeds is None:
        with opinfos.quiet():
            torch.manual_seed(0)
            seeds = [torch.rand(x.shape, dtype=x.dtype) for x in outputs]
    moved = [seed.to(device) for seed in seeds]
    return torch.autograd.grad(outputs, leaves, moved, allow_unused=True), seeds


def backward(run: Run) -> None:
    form = run.forms.main
    if not (run.dtype.is_floating_point or run.dtype.is_complex):
        raise NotApplicable("not a floating dtype")
    if kind(form) not in ("functional", "inplace") or is_random(run.forms):
        raise NotApplicable("no gradient to compare")
    count = 0
    for sample, inputs, _, _ in answered(run):
        try:
            expected = gradients(form, inputs, "cpu", None)
        except REFUSALS:
            continue
        if expected is None:
            continue
        actual = gradients(form, inputs, run.device, expected[1])
        assert actual is not None, f"{sample}: no gradient"
        for index, (a, e) in enumerate(zip(actual[0], expected[0], strict=True)):
            assert (a is None) == (e is None), f"{sample}: gradient {index} is {a}, not {e}"
            if e is not None:
                compare(run, a, e, f"{sample}: gradient {index}")
        count += 1
    if count == 0:
        raise NotApplicable("not differentiable")


def raises(info: Any, wrong: Any) -> bool:
    sample = wrong.sample_input
    try:
        with opinfos.quiet():
            info.op(sample.input, *sample.args, **sample.kwargs)
    except wrong.error_type as error:
        return re.search(wrong.error_regex, str(error)) is not None
    return False


def error_inputs(run: Run) -> None:
    """Calls that must raise, by the OpInfos that are about the operator."""
    count = 0
    for info in opinfos.split(run.forms)[0]:
        if info.error_inputs_func is None:
            continue
        with opinfos.quiet():
            there, here = list(info.error_inputs(str(run.device))), list(info.error_inputs("cpu"))
        # Some are not errors on the CPU; if the lists differ, an error is only for other devices.
        pairs = zip(there, here if len(here) == len(there) else [None] * len(there), strict=True)
        for wrong, host in pairs:
            sample = wrong.sample_input
            if host is not None and not raises(info, host):
                continue
            count += 1
            try:
                info.op(sample.input, *sample.args, **sample.kwargs)
            except wrong.error_type as error:
                message = str(error)
                assert re.search(wrong.error_regex, message), f"{info.full_name}: {message}, not {wrong.error_regex}"
                continue
            raise AssertionError(f"{info.full_name}: no error like {wrong.error_regex}")
    if count == 0:
        raise NotApplicable("PyTorch has no inputs that must raise")


CHECKS: dict[str, Callable[[Run], None]] = {
    "forward": forward,
    "out": out,
    "inplace": inplace,
    "noncontiguous": noncontiguous,
    "empty": empty,
    "error_inputs": error_inputs,
    "backward": backward,
}


def applies(operator: Operator, check: str) -> bool:
    """Whether the operator has the form, by its schema."""
    forms = Forms(operator)
    if check in ("out", "inplace"):
        return forms.form(check) is not None
    return True


def run(operator: Operator, check: str, dtype: str, device: torch.device) -> Outcome:
    reason = operator.skipped(check, dtype)
    if reason is not None:
        return Outcome(SKIP, reason)
    forms = Forms(operator)
    try:
        CHECKS[check](Run(forms, getattr(torch, dtype), device))
    except NotApplicable as nothing:
        return Outcome(NONE, str(nothing))
    except NotImplementedError as error:
        message = str(error).split(" Add one ", 1)[0]
        other = f"has no kernel for {NAME}" in message and f"aten::{operator.name}" not in message.split()
        return Outcome(NONE if other else FAIL, message)
    except AssertionError as error:
        return Outcome(FAIL, str(error))
    except Exception as error:  # whatever an operator raises is its failure
        return Outcome(FAIL, f"{type(error).__name__}: {error}")
    return Outcome(FALLBACK if operator.strategy == "cpu_fallback" else PASS)


def planned(operator: Operator, check: str) -> tuple[str, ...]:
    """The dtypes of a check: forward has all, the others one of each kind, so that a run stays short."""
    listed = dtypes(operator)
    if check == "error_inputs":
        return listed[:1]
    if check == "backward":
        listed = tuple(d for d in listed if getattr(torch, d).is_floating_point or getattr(torch, d).is_complex)
    if everything() or check == "forward":
        return listed
    floating = [d for d in listed if getattr(torch, d).is_floating_point]
    return tuple(d for d in listed if d in floating[:1] or d not in floating)[: 1 if check == "backward" else 2]
