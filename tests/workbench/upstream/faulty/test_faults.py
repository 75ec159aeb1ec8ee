"""Tests in PyTorch's style of which most fail, each in a way of its own. Nothing here knows which device it runs on."""

import ctypes
import os
import time
from enum import Enum

import torch
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import TestCase, run_tests


class Hardware(Enum):
    """As HardwareClassification of releases after 2.13."""

    ACCELERATOR = 1


class TestFaults(TestCase):
    hw_classification = Hardware.ACCELERATOR

    def test_abort(self, device):
        os.abort()

    def test_crash_other_error_text(self, device):
        with self.assertRaisesRegex(RuntimeError, "these words"):
            raise RuntimeError("other words")

    def test_hang(self, device):
        time.sleep(600)

    def test_missing_operator(self, device):
        raise NotImplementedError("Could not run 'aten::frobnicate' with arguments from the 'PrivateUse1' backend.")

    def test_no_error(self, device):
        with self.assertRaises(RuntimeError):
            torch.ones(2, device=device)

    @dtypes(torch.float32, torch.float64)
    def test_of_one_dtype(self, device, dtype):
        if dtype is torch.float64:
            raise RuntimeError("\"abs_kernel\" not implemented for 'Double'")

    def test_segfault(self, device):
        ctypes.string_at(0)

    def test_tolerance(self, device):
        self.assertEqual(torch.ones(3, device=device).cpu(), torch.full((3,), 1.001))

    def test_wrong_value(self, device):
        self.assertEqual(torch.ones(3, device=device).cpu(), torch.full((3,), 7.0))


class TestOfOtherDevices(TestCase):
    def test_cuda_call(self, device):
        torch.cuda.current_stream().synchronize()

    def test_hard_coded(self, device):
        torch.ones(2, device="cuda")

    @onlyCUDA
    def test_only_cuda(self, device):
        raise AssertionError("it runs on CUDA only")

    def test_passes(self, device):
        self.assertEqual(torch.ones(2, device=device).cpu(), torch.ones(2))


class TestWithoutSetUp(TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("nothing to set up")

    def test_anything(self, device):
        pass


class TestWithoutTearDown(TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("nothing to tear down")

    def test_before_tear_down(self, device):
        pass


instantiate_device_type_tests(TestFaults, globals())
instantiate_device_type_tests(TestOfOtherDevices, globals())
instantiate_device_type_tests(TestWithoutSetUp, globals())
instantiate_device_type_tests(TestWithoutTearDown, globals())

if __name__ == "__main__":
    run_tests()
