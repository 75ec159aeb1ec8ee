# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""PyTorch's own test files on openreg: `python -m torch_openreg.testing.upstream FILE.py [unittest's options]`.

    python -m torch_openreg.testing.upstream pytorch/test/test_torch.py -k pin_memory
    pytest -p torch_openreg.testing.upstream pytorch/test/test_ops.py -k test_out
    OPENREG_UPSTREAM=native python -m torch_openreg.testing.upstream pytorch/test/test_ops.py

Files that use `instantiate_device_type_tests` get tests for this device, and for no other. From the spec come:
`tests.exclude` (tests that are left out), the skips of `ops.*.tests` (a skip of `out` leaves PyTorch's tests of out= of
that operator out) and their tolerances. `OPENREG_UPSTREAM=native`: only operators of the spec.
`OPENREG_UPSTREAM=cuda`: also tests that are written for CUDA alone.
"""

import importlib.util
import os
import pathlib
import runpy
import sys
import unittest
from collections.abc import Iterable
from typing import Any

import torch
import torch_openreg

from . import opinfos
from .forms import Forms
from .spec import EXCLUDED, OPERATORS, Operator

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
        decorators = []
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


def exclusions(rows: Iterable[tuple[str, str, str]]) -> dict[str, list[str] | str]:
    """Class -> tests that are left out; "*" for the class as a whole, by itself: releases after 2.13 want it so."""
    found: dict[str, list[str] | str] = {}
    for name, test, _ in rows:
        if test == "*" or found.get(name) == "*":
            found[name] = "*"
        else:
            found[name] = [*found.get(name, []), test]
    return found


def configure(allowed: Iterable[str] | None = None, cuda: bool = False) -> None:
    """Before a test file is imported: its tests are made for this device, as the spec says.

    `allowed`: full names of the OpInfos that are tested (None: all); `cuda`: also tests for CUDA alone."""
    torch_openreg._autoload()
    os.environ["PYTORCH_TESTING_DEVICE_ONLY_FOR"] = "privateuse1"
    if cuda:
        os.environ["PYTORCH_TESTING_DEVICE_FOR_CUSTOM"] = "privateuse1"
    from torch.testing._internal.common_device_type import PrivateUse1TestBase

    # Until its setUpClass ran, the class calls its device "privateuse1", and overrides (which it files under the
    # backend's name) would miss the first test of a file.
    PrivateUse1TestBase.setUpClass()
    PrivateUse1TestBase.bypass_device_restrictions = cuda
    PrivateUse1TestBase.set_test_configs(
        op_overrides=overrides(OPERATORS),
        op_allowlist=allowed,
        test_exclusions=exclusions(EXCLUDED),
    )


def pytest_configure(config: Any) -> None:
    """As a plugin: pytest -p torch_openreg.testing.upstream FILE.py"""
    from_environment()


def from_environment() -> None:
    words = os.environ.get("OPENREG_UPSTREAM", "").split(",")
    unknown = set(words) - {"", "native", "cuda"}
    if unknown:
        given = ", ".join(sorted(unknown))
        raise SystemExit(f"OPENREG_UPSTREAM: {given} is none of native, cuda")
    configure(allowed=allowlist(OPERATORS) if "native" in words else None, cuda="cuda" in words)


def without_report() -> None:
    """With CI set, PyTorch's run_tests writes a report by a package that few have; without it, it only runs the tests."""
    from torch.testing._internal import common_utils

    if importlib.util.find_spec("xmlrunner") is None:
        common_utils.IS_CI = False


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    path = pathlib.Path(sys.argv[1]).resolve()
    if not path.is_file():
        raise SystemExit(f"{path}: no such file; PyTorch's tests are in its repository, not in its wheel")
    from_environment()
    without_report()
    for _, test, reason in EXCLUDED:
        print(f"excluded: {test}: {reason}", file=sys.stderr)
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main()
