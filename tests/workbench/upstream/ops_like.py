"""OpInfo tests in the style of PyTorch's test/test_ops.py: nothing here knows which device it runs on."""

import itertools

import torch
from torch.testing._internal.common_device_type import (
    OpDTypes,
    instantiate_device_type_tests,
    onlyNativeDeviceTypes,
    ops,
)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.utils._pytree import tree_map_only

SAMPLES = 4
with_out = [op for op in op_db if op.supports_out]
with_gradient = [op for op in op_db if op.supports_autograd]


def to_cpu(value):
    return tree_map_only(torch.Tensor, lambda x: x.detach().cpu(), value)


def raises(op, wrong):
    sample = wrong.sample_input
    try:
        op(sample.input, *sample.args, **sample.kwargs)
    except wrong.error_type:
        return True
    return False


class TestOpsLike(TestCase):
    def samples(self, op, device, dtype, **kwargs):
        return itertools.islice(op.sample_inputs(device, dtype, **kwargs), SAMPLES)

    @onlyNativeDeviceTypes
    @ops(op_db, dtypes=OpDTypes.any_one)
    def test_compare_cpu(self, device, dtype, op):
        for sample in self.samples(op, device, dtype):
            host = sample.transform(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x)
            actual = op(sample.input, *sample.args, **sample.kwargs)
            expected = op(host.input, *host.args, **host.kwargs)
            self.assertEqual(to_cpu(actual), expected)

    @ops(op_db, dtypes=OpDTypes.any_one)
    def test_noncontiguous_samples(self, device, dtype, op):
        for sample in self.samples(op, device, dtype):
            gaps = sample.noncontiguous()
            expected = op(sample.input, *sample.args, **sample.kwargs)
            self.assertEqual(op(gaps.input, *gaps.args, **gaps.kwargs), expected)

    @ops(with_out, dtypes=OpDTypes.any_one)
    def test_out(self, device, dtype, op):
        for sample in self.samples(op, device, dtype):
            expected = op(sample.input, *sample.args, **sample.kwargs)
            if not isinstance(expected, torch.Tensor):
                continue
            out = torch.empty_like(expected)
            result = op(sample.input, *sample.args, **sample.kwargs, out=out)
            self.assertIs(result, out)
            self.assertEqual(out, expected)

    @ops([op for op in op_db if op.error_inputs_func is not None], dtypes=OpDTypes.none)
    def test_errors(self, device, op):
        there, here = list(op.error_inputs(device)), list(op.error_inputs("cpu"))
        pairs = zip(there, here if len(here) == len(there) else [None] * len(there), strict=True)
        for wrong, host in pairs:
            if host is not None and not raises(op, host):
                continue  # no error on the CPU either
            sample = wrong.sample_input
            with self.assertRaisesRegex(wrong.error_type, wrong.error_regex):
                op(sample.input, *sample.args, **sample.kwargs)

    @ops(with_gradient, dtypes=OpDTypes.supported_backward, allowed_dtypes=(torch.float32,))
    def test_backward(self, device, dtype, op):
        for sample in self.samples(op, device, dtype, requires_grad=True):
            if not isinstance(sample.input, torch.Tensor):
                continue
            x = sample.input.detach().cpu().requires_grad_()
            host = sample.transform(lambda y: y.detach().cpu() if isinstance(y, torch.Tensor) else y)
            result = op(sample.input, *sample.args, **sample.kwargs)
            expected = op(x, *host.args, **host.kwargs)
            if not isinstance(expected, torch.Tensor) or not expected.requires_grad:
                continue
            result.backward(torch.ones_like(result))
            expected.backward(torch.ones_like(expected))
            self.assertEqual(sample.input.grad.cpu(), x.grad)


instantiate_device_type_tests(TestOpsLike, globals())

if __name__ == "__main__":
    run_tests()
