# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""PyTorch's own test files on openreg: what the spec leaves out is left out, the rest runs on this device only."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
import torch
from torch_openreg.testing import opinfos, upstream
from torch_openreg.testing.spec import Operator, Skip

api = torch.openreg
pytestmark = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")

FILE = """
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, run_tests


class TestOurs(TestCase):
    def test_kept(self, device):
        self.assertEqual(torch.ones(2, device=device).cpu(), torch.ones(2))

    def test_left_out(self, device):
        raise AssertionError("excluded by the spec")

    @ops([op for op in op_db if op.name in ("abs", "neg")], allowed_dtypes=(torch.float32, torch.float64))
    def test_out(self, device, dtype, op):
        self.assertEqual(torch.device(device).type, torch._C._get_privateuse1_backend_name())


class TestGone(TestCase):
    def test_anything(self, device):
        raise AssertionError("excluded by the spec")


instantiate_device_type_tests(TestOurs, globals())
instantiate_device_type_tests(TestGone, globals())
if __name__ == "__main__":
    run_tests()
"""
RUN = """
import sys
from torch_openreg.testing import upstream
from torch_openreg.testing.spec import Operator, Skip
upstream.EXCLUDED[:] = [("TestOurs", "test_left_out", "raises"), ("TestGone", "*", "raises")]
skip = Skip("out", "float64", "no doubles there")
upstream.OPERATORS[:] = [Operator("abs.out", "native", forms=["abs"], serves=["abs"], skips=[skip])]
sys.argv = ["upstream", sys.argv[1], "-v"]
upstream.main()
"""

# What PyTorch's tests say about the devices that they are for.
DECORATED = """
import torch
from torch.testing._internal.common_device_type import (
    PrivateUse1TestBase, deviceCountAtLeast, dtypes, dtypesIfPRIVATEUSE1, expectedFailureCPU, instantiate_device_type_tests,
    onlyCPU, onlyCUDA, onlyNativeDeviceTypes, onlyNativeDeviceTypesAnd, onlyOn, onlyPRIVATEUSE1, skipCPUIf, skipCUDAIf,
    skipIf, skipPRIVATEUSE1, skipPRIVATEUSE1If, skipXLA)
from torch.testing._internal.common_utils import TestCase, run_tests

OURS = torch._C._get_privateuse1_backend_name()


class TestWho(TestCase):
    @onlyCPU
    def test_cpu(self, device):
        self.assertEqual(torch.device(device).type, OURS)

    @onlyCUDA
    def test_cuda(self, device):
        self.assertEqual(torch.device(device).type, OURS)

    @skipPRIVATEUSE1
    def test_out_skipped(self, device):
        pass

    @skipPRIVATEUSE1If(True, "not yet")
    def test_out_skipped_if(self, device):
        pass

    @onlyOn(["cpu", "cuda"])
    def test_listed(self, device):
        self.assertEqual(torch.device(device).type, OURS)

    @onlyPRIVATEUSE1
    def test_in_only(self, device):
        pass

    @onlyNativeDeviceTypes
    def test_in_native(self, device):
        pass

    @onlyOn(OURS)
    def test_in_on(self, device):
        pass

    @skipCPUIf(True, "not on the CPU")
    @skipCUDAIf(True, "not on CUDA")
    @skipPRIVATEUSE1If(False, "on this one")
    @skipXLA
    def test_in_not_skipped(self, device):
        pass

    @expectedFailureCPU
    def test_in_fails_elsewhere(self, device):
        pass

    def test_out_by_itself(self, device):
        if torch.device(device).type == OURS:
            self.skipTest("by itself")

    @deviceCountAtLeast(2)
    def test_in_two_devices(self, devices):
        self.assertEqual(len(set(devices)), torch.accelerator.device_count())

    @dtypes(torch.float32)
    @dtypesIfPRIVATEUSE1(torch.int32, torch.int64)
    def test_in_dtypes(self, device, dtype):
        self.assertFalse(dtype.is_floating_point)
        self.assertEqual(torch.ones(2, dtype=dtype, device=device).cpu().dtype, dtype)


instantiate_device_type_tests(TestWho, globals())
if __name__ == "__main__":
    run_tests()
"""


@pytest.mark.parametrize("cuda", [False, True])
def test_decorators_of_devices(tmp_path, cuda):
    if api.device_count() < 2:
        pytest.skip("needs two devices")
    path = tmp_path / "test_who.py"
    path.write_text(DECORATED)
    command = [sys.executable, "-m", "torch_openreg.testing.upstream", str(path), "-v"]
    env = {**os.environ, "CI": "", "OPENREG_UPSTREAM": "cuda" if cuda else ""}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert found.returncode == 0, found.stderr
    one = r"^(test_\w+?)_openreg\w* \(.*?\)(?:\n.*?)?\s\.\.\. (ok|skipped)"
    verdicts = dict(re.findall(one, found.stderr, re.M))
    assert len(verdicts) == 13, found.stderr
    for name, verdict in verdicts.items():
        runs = cuda if name in ("test_cpu", "test_cuda", "test_listed") else name.startswith("test_in_")
        assert verdict == ("ok" if runs else "skipped"), name


@pytest.mark.parametrize("ci", ["", "1"])
def test_a_file_of_pytorchs_kind(tmp_path, ci):
    if ci and importlib.util.find_spec("xmlrunner"):
        pytest.skip("PyTorch then writes a report, and says less")
    path = tmp_path / "test_ours.py"
    path.write_text(FILE)
    command, env = [sys.executable, "-c", RUN, str(path)], {**os.environ, "CI": ci}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    said = found.stderr
    assert found.returncode == 0, said
    assert "test_kept_openreg" in said
    assert "_cpu" not in said
    assert "test_left_out_openreg" not in said
    assert "test_anything" not in said.replace("excluded: ", "")
    assert "skipped 'no doubles there'" in said
    assert "(skipped=1)" in said
    # From Python 3.12.1 on, unittest doesn't count those that are skipped.
    assert f"Ran {4 if sys.version_info >= (3, 12, 1) else 5} tests" in said


def test_skips_become_skips_of_pytorchs_tests():
    skips = [Skip("backward", None, "no gradient"), Skip("out", "int8", "no out")]
    operator = Operator("abs.out", "native", forms=["abs"], serves=["abs"], skips=skips)
    decorators = upstream.overrides([operator])["abs"]
    named = {d.test_name: d.dtypes for d in decorators}
    assert named["test_fn_grad"] is None
    assert named["test_out"] == (torch.int8,)
    assert upstream.overrides([Operator("abs.out", "native", forms=["abs"])]) == {}


def test_tolerances_are_those_of_the_spec():
    operator = Operator("abs.out", "native", forms=["abs"], tolerance=(0.25, 0.5))
    (decorator,) = upstream.overrides([operator])["abs"]
    given = decorator.decorators[0](lambda: None).tolerance_overrides[torch.float16]
    assert (given.rtol, given.atol) == (0.25, 0.5)


def test_only_operators_of_the_spec():
    operators = [Operator("abs.out", "native", forms=["abs"]), Operator("relu", "native")]
    assert upstream.allowlist(operators) == ["abs", "nn.functional.relu"]


def test_exclusions_by_class():
    rows = [("TestA", "test_b", "x"), ("TestA", "test_c", "y"), ("TestD", "test_e", "x"), ("TestD", "*", "z")]
    assert upstream.exclusions(rows) == {"TestA": ["test_b", "test_c"], "TestD": "*"}
    assert upstream.exclusions(reversed(rows))["TestD"] == "*"
