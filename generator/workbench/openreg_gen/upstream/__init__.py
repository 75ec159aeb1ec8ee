"""Runs PyTorch's own test files on a backend.

    openreg-gen upstream --device NAME --discover pytorch
    openreg-gen upstream [--device NAME] pytorch/test/test_torch.py -- -k pin_memory
    OPENREG_GEN_DEVICE=NAME pytest -p openreg_gen.upstream pytorch/test/test_ops.py -k test_out

Files that use `instantiate_device_type_tests` get tests for this device, and for no other. From the backend's `_workbench`
come `excluded` (tests that are left out), and with `operators` the skips (a skip of `out` leaves PyTorch's tests of out=
of that operator out) and the tolerances; without them every test runs as PyTorch has it. With `--native` only the
operators of `operators` are tested, with `--cuda` also tests that are written for CUDA alone. As a plugin of pytest, it
takes both from OPENREG_GEN_UPSTREAM=native,cuda.
"""

import os
import sys
import unittest
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import torch

from .. import command, device, protocol
from ..absent import absent, line
from ..testing import opinfos
from ..testing.forms import Forms, Operator as OperatorForms


class Skip(Protocol):
    """A check that is left out, for one dtype or (None) for all."""

    @property
    def check(self) -> str: ...
    @property
    def dtype(self) -> str | None: ...
    @property
    def reason(self) -> str: ...


class Operator(OperatorForms, Protocol):
    """A row of the protocol's `operators`."""

    @property
    def skips(self) -> Sequence[Skip]: ...


# The tests of PyTorch's test_ops.py, test_ops_gradients.py and their like that make a check of ours.
UPSTREAM_TESTS: dict[str, tuple[str | None, ...]] = {
    "forward": (None,),  # all of them
    "out": ("test_out", "test_out_warning", "test_out_integral_dtype", "test_out_requires_grad_error"),
    "inplace": ("test_variant_consistency_eager", "test_inplace_grad", "test_inplace_gradgrad"),
    "noncontiguous": ("test_noncontiguous_samples", "test_non_contig", "test_non_contig_index"),
    "empty": ("test_batch_vs_slicing", "test_empty_tensor_empty_slice"),
    "error_inputs": ("test_errors",),
    "backward": ("test_fn_grad", "test_fn_gradgrad", "test_inplace_grad", "test_inplace_gradgrad", "test_backward"),
}


def about(operator: Operator) -> list[Any]:
    """The OpInfos whose subject is the operator."""
    return opinfos.split(Forms(operator))[0]


def allowlist(operators: Iterable[Operator]) -> list[str]:
    """Full names of the OpInfos whose subject is one of the operators."""
    return sorted({info.full_name for operator in operators for info in about(operator)})


def overrides(operators: Iterable[Operator]) -> dict[str, list[Any]]:
    """OpInfo -> what decorates its tests: skips and tolerances of the spec."""
    from torch.testing._internal.common_device_type import tol, toleranceOverride
    from torch.testing._internal.opinfo.core import DecorateInfo

    found: dict[str, list[Any]] = {}
    for operator in operators:
        decorators: list[Any] = []
        for skip in operator.skips:
            dtypes = None if skip.dtype is None else (getattr(torch, skip.dtype),)
            for name in UPSTREAM_TESTS[skip.check]:
                decorators.append(DecorateInfo(unittest.skip(skip.reason), None, name, dtypes=dtypes))
        if operator.tolerance is not None:
            rtol, atol = operator.tolerance
            floating = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
            decorators.append(DecorateInfo(toleranceOverride(dict.fromkeys(floating, tol(atol=atol, rtol=rtol)))))
        for info in about(operator) if decorators else ():
            found.setdefault(info.full_name, []).extend(decorators)
    return found


def by_class(rows: Iterable[tuple[str, str, str]]) -> dict[str, list[str] | str]:
    """Class -> tests that are left out; "*" for the class as a whole, by itself: releases after 2.13 want it so."""
    found: dict[str, list[str] | str] = {}
    for name, test, _ in rows:
        if test == "*" or found.get(name) == "*":
            found[name] = "*"
        else:
            found[name] = [*found.get(name, []), test]
    return found


def configure(
    kind: str, allowed: Iterable[str] | None = None, cuda: bool = False, exclude: bool = True
) -> protocol.Workbench:
    """Before a test file is imported: its tests are made for this device, as the backend's `_workbench` says.

    kind: the device's type. allowed: full names of the OpInfos that are tested (None: all). cuda: also tests for CUDA
    alone. exclude: without the tests that the backend leaves out. Returns what the backend provides. Raises
    protocol.ProtocolError if that is wrong.
    """
    workbench = protocol.of(kind)
    missing = absent(kind, workbench, {"excluded": "tests to leave out", "operators": "skips and tolerances"})
    if missing and exclude:
        print(line(missing), file=sys.stderr)
    ours = "cpu" if kind == "cpu" else "privateuse1"
    os.environ["PYTORCH_TESTING_DEVICE_ONLY_FOR"] = ours
    if cuda:
        os.environ["PYTORCH_TESTING_DEVICE_FOR_CUSTOM"] = ours
    from torch.testing._internal.common_device_type import CPUTestBase, PrivateUse1TestBase

    base = CPUTestBase if kind == "cpu" else PrivateUse1TestBase
    # Until its setUpClass ran, PrivateUse1TestBase calls its device "privateuse1", and overrides (which it files under
    # the backend's name) would miss the first test of a file.
    base.setUpClass()
    base.bypass_device_restrictions = cuda
    rows = workbench.excluded if exclude else ()
    base.set_test_configs(
        op_overrides=overrides(workbench.operators),
        op_allowlist=None if allowed is None else list(allowed),
        test_exclusions=by_class(rows),
    )
    if single := {(name, test) for name, test, _ in rows}:

        def leave_out(cls: Any, made: str, source: str, test: str) -> None:
            if (source, made) in single:
                delattr(cls, made)

        on_instantiation(leave_out)
    return workbench


def on_instantiation(seen: Callable[[Any, str, str, str], None]) -> None:
    """From now on, `seen` is called for each test that PyTorch makes: the class that it makes, the name of the method that it made,
    the class and the method in the source. One method of a source becomes one per dtype and parameter."""
    from torch.testing._internal import common_device_type

    base: Any = common_device_type.DeviceTypeTestBase
    make = base.instantiate_test.__func__

    def instantiate_test(cls: Any, name: str, test: Any, *, generic_cls: Any = None) -> None:
        before = set(cls.__dict__)
        make(cls, name, test, generic_cls=generic_cls)
        source = cls.__name__ if generic_cls is None else generic_cls.__name__
        for made in set(cls.__dict__) - before:
            seen(cls, made, source, name)

    base.instantiate_test = classmethod(instantiate_test)


def native(kind: str) -> list[str]:
    """The allowlist of the backend's `operators`. Raises protocol.ProtocolError if it has none."""
    workbench = protocol.of(kind)
    if "operators" not in workbench.provided:
        adds = "".join(
            f"; in its tree: `{each.command}`" for each in absent(kind, workbench, {"operators": ""}) if each.component
        )
        raise protocol.ProtocolError(f"torch.{kind}._workbench has no operators, so none can be chosen{adds}")
    return allowlist(workbench.operators)


def pytest_configure(config: Any) -> None:
    """As a plugin: OPENREG_GEN_DEVICE=NAME pytest -p openreg_gen.upstream FILE.py"""
    with command.reported():
        _from_environment()


def _from_environment() -> None:
    name = os.environ.get("OPENREG_GEN_DEVICE") or device.current()
    if name is None:
        command.fail("no backend is loaded", "set OPENREG_GEN_DEVICE to the device's name")
    words = os.environ.get("OPENREG_GEN_UPSTREAM", "").split(",")
    if unknown := sorted(set(words) - {"", "native", "cuda"}):
        command.fail(f"OPENREG_GEN_UPSTREAM: {', '.join(unknown)}", "choose from native, cuda")
    kind = device.open_device(name)
    configure(kind, native(kind) if "native" in words else None, "cuda" in words)
