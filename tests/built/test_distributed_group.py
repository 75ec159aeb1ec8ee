"""The process group that PyTorch makes, as the backend's Python part sees it."""

import importlib
import warnings

import pytest
import torch.distributed as dist
from built import NAME, PACKAGE, ROOT

if not (ROOT / PACKAGE / "_distributed.py").exists():
    pytest.skip("the tree has no component distributed", allow_module_level=True)


def test_pytorch_shows_the_group_that_it_makes(device):
    """The backend reads a local variable of PyTorch: if that is renamed, users are warned."""
    ours = importlib.import_module(f"{PACKAGE}._distributed")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*which process group it makes.*")
        dist.init_process_group(f"cpu:gloo,{NAME}:{ours.BACKEND}", store=dist.HashStore(), rank=0, world_size=1)
    dist.destroy_process_group()
    with pytest.warns(UserWarning, match="doesn't show which process group it makes"):
        ours._be_the_default(None)
