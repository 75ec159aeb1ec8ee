# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Makes the tests of this folder, which are written as PyTorch writes its own, for openreg and for nothing else."""

import torch
from torch_openreg.testing import opinfos, upstream

if torch.get_device_module("openreg").device_count() > 0 and opinfos.database():
    # Before pytest imports the test files. Not all of the 702 OpInfos: those of the spec's operators, and one that
    # every test has a use for, since PyTorch takes no test that is left without any.
    upstream.configure(allowed=[*upstream.allowlist(upstream.OPERATORS), "add"])
else:
    collect_ignore_glob = ["test_*.py"]  # no device, or not what PyTorch's test modules need: numpy and expecttest
