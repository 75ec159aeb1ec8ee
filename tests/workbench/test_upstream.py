"""PyTorch's own test files: what a backend leaves out is left out, the rest runs on its device only."""

import importlib.util
import pathlib
import re
import sys
from dataclasses import dataclass

import pytest
import torch
from openreg_gen import device as devices
from openreg_gen import protocol, upstream
from openreg_gen.testing import opinfos

pytestmark = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")


@dataclass(frozen=True)
class Skip:
    check: str
    dtype: str | None
    reason: str


@dataclass(frozen=True, eq=False)
class Operator:
    name: str
    forms: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    tolerance: tuple[float, float] | None = None
    skips: tuple[Skip, ...] = ()


FILE = """
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, run_tests


class TestOurs(TestCase):
    def test_kept(self, device):
        self.assertEqual(torch.ones(2, device=device).cpu(), torch.ones(2))

    def test_left_out(self, device):
        raise AssertionError("excluded by the backend")

    @ops([op for op in op_db if op.name in ("abs", "neg")], allowed_dtypes=(torch.float32, torch.float64))
    def test_out(self, device, dtype, op):
        self.assertTrue(torch.device(device).type)


class TestGone(TestCase):
    def test_anything(self, device):
        raise AssertionError("excluded by the backend")


instantiate_device_type_tests(TestOurs, globals())
instantiate_device_type_tests(TestGone, globals())
if __name__ == "__main__":
    run_tests()
"""
RUN = """
import sys
from types import SimpleNamespace as Row
import torch
from openreg_gen.upstream.__main__ import main
skip = Row(check="out", dtype="float64", reason="no doubles there")
row = Row(name="abs.out", forms=["abs"], serves=["abs"], tolerance=None, skips=[skip])
torch.get_device_module(sys.argv[1])._workbench = Row(
    excluded=[
        ("TestOurs", "test_left_out", "raises"),
        ("TestOurs", f"test_out_neg_{sys.argv[1]}_float32", "one test of a method"),
        ("TestGone", "*", "raises"),
    ],
    operators=[row],
)
main(["--device", sys.argv[1], sys.argv[2], "--", "-v"])
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
def test_decorators_of_devices(run_python, device, tmp_path, cuda):
    if devices.module(device).device_count() < 2:
        pytest.skip("needs two devices")
    path = tmp_path / "test_who.py"
    path.write_text(DECORATED)
    words = ["--device", device, *(["--cuda"] if cuda else []), path, "--", "-v"]
    said = run_python("-m", "openreg_gen.upstream", *words, CI="").stderr
    one = rf"^(test_\w+?)_{device}\w* \(.*?\)(?:\n.*?)?\s\.\.\. (ok|skipped)"
    verdicts = dict(re.findall(one, said, re.M))
    assert len(verdicts) == 13, said
    for name, verdict in verdicts.items():
        runs = cuda if name in ("test_cpu", "test_cuda", "test_listed") else name.startswith("test_in_")
        assert verdict == ("ok" if runs else "skipped"), name


@pytest.mark.parametrize("ci", ["", "1"])
def test_a_file_of_pytorchs_kind(run_python, any_device, tmp_path, ci):
    if ci and importlib.util.find_spec("xmlrunner"):
        pytest.skip("PyTorch then writes a report, and says less")
    path = tmp_path / "test_ours.py"
    path.write_text(FILE)
    said = run_python("-c", RUN, any_device, path, CI=ci).stderr
    assert f"test_kept_{any_device}" in said
    assert any_device == "cpu" or "_cpu" not in said
    assert f"test_left_out_{any_device}" not in said
    assert "test_anything" not in said.replace("excluded: ", "")
    assert "skipped 'no doubles there'" in said
    assert "(skipped=1)" in said
    # From Python 3.12.1 on, unittest doesn't count those that are skipped.
    assert f"Ran {3 if sys.version_info >= (3, 12, 1) else 4} tests" in said
    assert f"test_out_neg_{any_device}_float64" in said and f"test_out_neg_{any_device}_float32 (" not in said


@pytest.mark.parametrize("name", ["torch_like", pytest.param("ops_like", marks=pytest.mark.nightly)])
def test_files_written_as_pytorch_writes_its_own(run_python, device, name):
    """Once by the tool, once by pytest with the plugin. Not all of the 702 OpInfos: those of the backend's operators."""
    if "operators" not in protocol.of(device).provided:
        pytest.skip("the backend does not list its operators")
    path = pathlib.Path(__file__).parent / "upstream" / f"{name}.py"
    said = run_python("-m", "openreg_gen.upstream", "--device", device, "--native", path).stderr
    assert re.search(r"^Ran \d{2} tests", said, re.M) and said.rstrip().splitlines()[-1].startswith("OK"), said
    plugin = {"OPENREG_GEN_DEVICE": device, "OPENREG_GEN_UPSTREAM": "native"}
    done = run_python("-m", "pytest", "-q", "-p", "openreg_gen.upstream", "-p", "no:cacheprovider", path, **plugin)
    assert " passed" in done.stdout and "failed" not in done.stdout


def test_without_the_protocol_everything_runs(run_python, device, tmp_path):
    path = tmp_path / "test_ours.py"
    path.write_text(FILE)
    run = f"import sys, torch; torch.{device}._workbench = None; from openreg_gen.upstream.__main__ import main; main(sys.argv[1:])"
    done = run_python("-c", run, "--device", device, path, "--", "-k", "test_left_out", code=None)
    assert done.returncode == 1 and "AssertionError: excluded by the backend" in done.stderr
    assert done.stderr.count("not shown, since the backend doesn't report it: tests to leave out") == 1


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("--device", "cpu", "nothing.py"), 2, "nothing.py: no such file\nhint: PyTorch's tests are in its repository"),
        (("--device", "nowhere", __file__), 3, "error[E0575]: no device 'nowhere'"),
        (("--device", "cpu", "--native", __file__), 3, "error[E0575]: torch.cpu._workbench has no operators"),
    ],
)
def test_bad_input(run_python, words, code, said):
    done = run_python("-m", "openreg_gen.upstream", *words, code=code)
    assert said in done.stderr and done.stdout == ""


def test_bad_words_for_the_plugin(run_python):
    words = {"OPENREG_GEN_DEVICE": "cpu", "OPENREG_GEN_UPSTREAM": "native,all"}
    done = run_python("-m", "pytest", "-p", "openreg_gen.upstream", "--collect-only", code=None, **words)
    assert "error[E0574]: OPENREG_GEN_UPSTREAM: all\nhint: choose from native, cuda" in done.stderr


def test_skips_become_skips_of_pytorchs_tests():
    skips = (Skip("backward", None, "no gradient"), Skip("out", "int8", "no out"))
    operator = Operator("abs.out", forms=("abs",), serves=("abs",), skips=skips)
    decorators = upstream.overrides([operator])["abs"]
    named = {d.test_name: d.dtypes for d in decorators}
    assert named["test_fn_grad"] is None
    assert named["test_out"] == (torch.int8,)
    assert upstream.overrides([Operator("abs.out", forms=("abs",))]) == {}


def test_tolerances_are_those_of_the_backend():
    operator = Operator("abs.out", forms=("abs",), tolerance=(0.25, 0.5))
    (decorator,) = upstream.overrides([operator])["abs"]
    given = decorator.decorators[0](lambda: None).tolerance_overrides[torch.float16]
    assert (given.rtol, given.atol) == (0.25, 0.5)


def test_only_operators_of_the_backend():
    operators = [Operator("abs.out", forms=("abs",)), Operator("relu")]
    assert upstream.allowlist(operators) == ["abs", "nn.functional.relu"]


def test_exclusions_by_class():
    rows = [("TestA", "test_b", "x"), ("TestA", "test_c", "y"), ("TestD", "test_e", "x"), ("TestD", "*", "z")]
    assert upstream.by_class(rows) == {"TestA": ["test_b", "test_c"], "TestD": "*"}
    assert upstream.by_class(reversed(rows))["TestD"] == "*"
