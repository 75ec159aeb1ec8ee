"""Variants that the sweep leaves out, because PyTorch's own kernels for the CPU are wrong there."""

import pytest
import torch
from openreg_gen.sweep.written import CARELESS
from torch.testing._internal.common_methods_invocations import op_db

ON_SOME_PROCESSORS = {"torch._scaled_mm"}  # oneDNN's kernel of another processor may respect the strides
BYTES = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def written_past_the_end(info, dtype):
    """Whether out= with one row for all is written where only a whole result has memory."""
    for sample in info.sample_inputs("cpu", dtype):
        result = info(sample.input, *sample.args, **sample.kwargs)
        if result.dim() < 2 or result.size(0) < 2 or result.numel() == 0:
            continue
        memory = torch.zeros(result.numel(), dtype=BYTES[result.element_size()])
        row = memory.view(result.dtype).as_strided(result.shape, (0, *result.contiguous().stride()[1:]))
        try:
            info(sample.input, *sample.args, **{**sample.kwargs, "out": row})
        except RuntimeError:  # refused: nothing is written
            continue
        if memory[result[0].numel() :].count_nonzero():
            return True
    return False


@pytest.mark.parametrize("name", CARELESS)
def test_careless_kernels_ignore_the_strides_of_out(name):
    (info,) = [each for each in op_db if each.name == name]
    dtype = torch.float8_e4m3fn if name == "torch._scaled_mm" else torch.float32
    if not written_past_the_end(info, dtype):
        assert name in ON_SOME_PROCESSORS
        pytest.skip("not on this processor")


def test_others_respect_them():
    (info,) = [each for each in op_db if each.name == "mm"]
    assert not written_past_the_end(info, torch.float32)
