"""Device-generic tests in the style of PyTorch's test/test_torch.py: nothing here knows which device it runs on."""

import copy
import io
import unittest

import torch
from torch.testing import make_tensor
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast,
    dtypes,
    instantiate_device_type_tests,
    onlyNativeDeviceTypes,
    skipMeta,
)
from torch.testing._internal.common_dtype import all_types_and, floating_types_and
from torch.testing._internal.common_utils import TestCase, parametrize, run_tests

REAL = all_types_and(torch.bool, torch.half, torch.bfloat16)


class TestTorchLike(TestCase):
    @onlyNativeDeviceTypes
    def test_device_of_a_new_tensor(self, device):
        x = torch.empty(3, device=device)
        self.assertEqual(x.device, torch.device(device))
        self.assertEqual(torch.empty_like(x).device, x.device)
        self.assertEqual(x.new_zeros(2).device, x.device)

    @dtypes(*REAL)
    def test_copy_there_and_back(self, device, dtype):
        x = make_tensor((4, 5), dtype=dtype, device="cpu")
        self.assertEqual(x.to(device).cpu(), x)
        self.assertEqual(x.t().to(device).t().cpu(), x)

    @dtypes(*REAL)
    def test_fill_and_item(self, device, dtype):
        x = torch.empty(2, 3, dtype=dtype, device=device).fill_(1)
        self.assertEqual(x, torch.ones(2, 3, dtype=dtype, device=device))
        self.assertEqual(x[1, 2].item(), 1)

    @dtypes(torch.float, torch.long)
    def test_views_share_memory(self, device, dtype):
        x = torch.zeros(4, 4, dtype=dtype, device=device)
        x.view(16)[5] = 1
        x.t()[0, 3] = 2
        x.as_strided((2,), (5,), 10).fill_(3)
        expected = torch.zeros(4, 4, dtype=dtype)
        expected[1, 1], expected[3, 0], expected[2, 2], expected[3, 3] = 1, 2, 3, 3
        self.assertEqual(x.cpu(), expected)

    @dtypes(*floating_types_and(torch.half, torch.bfloat16))
    def test_sum_and_mean(self, device, dtype):
        x = make_tensor((6, 7), dtype=dtype, device=device)
        self.assertEqual(x.sum(0).cpu(), x.cpu().sum(0))
        self.assertEqual(x.mean().cpu(), x.cpu().mean())

    @parametrize("size", [(0,), (0, 3), ()])
    def test_sizes_at_the_edge(self, device, size):
        x = torch.ones(size, device=device)
        self.assertEqual((x + x).cpu(), torch.full(size, 2.0))
        self.assertEqual(x.sum().item(), x.numel())

    def test_indexing(self, device):
        x = torch.arange(24, device=device).reshape(2, 3, 4)
        y = torch.arange(24).reshape(2, 3, 4)
        self.assertEqual(x[:, 1, ::2].cpu(), y[:, 1, ::2])
        self.assertEqual(x[x > 11].cpu(), y[y > 11])
        self.assertEqual(x[torch.tensor([1, 0], device=device)].cpu(), y[[1, 0]])

    def test_errors_name_devices(self, device):
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.add(torch.ones(2, 2, device=device), torch.ones(2, 2))

    def test_backward_through_a_layer(self, device):
        torch.manual_seed(0)
        host = torch.nn.Linear(4, 3)
        layer = copy.deepcopy(host).to(device)
        x = torch.randn(5, 4)
        host(x).square().sum().backward()
        layer(x.to(device)).square().sum().backward()
        self.assertEqual(layer.weight.grad.cpu(), host.weight.grad)
        self.assertEqual(layer.bias.grad.cpu(), host.bias.grad)

    def test_save_and_load(self, device):
        x = torch.arange(6, device=device)
        buffer = io.BytesIO()
        torch.save(x, buffer)
        buffer.seek(0)
        y = torch.load(buffer)
        self.assertEqual(y.device, x.device)
        self.assertEqual(y, x)

    def test_generator_state(self, device):
        generator = torch.Generator(device=device).manual_seed(7)
        state = generator.get_state()
        x = torch.rand(8, device=device, generator=generator)
        generator.set_state(state)
        self.assertEqual(torch.rand(8, device=device, generator=generator), x)

    @skipMeta
    def test_deepcopy_and_repr(self, device):
        x = torch.ones(2, device=device)
        y = copy.deepcopy(x)
        y += 1
        self.assertEqual(x.cpu(), torch.ones(2))
        self.assertIn(f"device='{x.device}'", repr(x))

    @deviceCountAtLeast(2)
    def test_copies_between_devices(self, devices):
        x = torch.arange(10, device=devices[0])
        y = x.to(devices[1])
        self.assertEqual(y.device, torch.device(devices[1]))
        self.assertEqual(y.cpu(), x.cpu())
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.add(x, y)

    @unittest.skipIf(not torch.accelerator.is_available(), "no accelerator")
    def test_accelerator_is_this_one(self, device):
        self.assertEqual(torch.accelerator.current_accelerator().type, torch.device(device).type)


instantiate_device_type_tests(TestTorchLike, globals())

if __name__ == "__main__":
    run_tests()
