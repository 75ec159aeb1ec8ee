# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg.memory has the names of torch.cuda.memory."""

import pytest
import torch

memory = torch.openreg.memory

# What torch.cuda.memory has and this module hasn't, and why.
NOT_HERE = {
    "CUDAPluggableAllocator": "OpenRegPluggableAllocator",
    "list_gpu_processes": "it asks NVIDIA's management library",
    "reset_max_memory_allocated": "deprecated; reset_peak_memory_stats",
    "reset_max_memory_cached": "deprecated; reset_peak_memory_stats",
}


@pytest.mark.no_device
def test_names_are_torch_cudas():
    theirs = set(torch.cuda.memory.__all__)
    missing = theirs - set(memory.__all__) - set(NOT_HERE)
    assert not missing
    assert all(hasattr(memory, name) for name in memory.__all__)
    assert not set(NOT_HERE) & set(memory.__all__)
