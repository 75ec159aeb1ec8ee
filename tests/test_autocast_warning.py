"""A tree without the component amp: what it adds to the warning of torch.autocast is a part of PyTorch's sentence."""

import ast
import subprocess
import sys

# Only the function is run, since the package needs its library.
WARN = """
import sys, types, warnings
import torch
from typing import Any

torch.utils.rename_privateuse1_backend("mybackend")
module = types.ModuleType("mybackend")
torch._register_device_module("mybackend", module)
exec(sys.argv[1], {"torch": torch, "Any": Any, "__name__": "mybackend"}, module.__dict__)
assert list.__len__(module.get_amp_supported_dtype()) == 0
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    torch.autocast("mybackend", dtype=torch.float16)
print(found[0].message)
"""
SENTENCE = "mybackend Autocast only supports dtypes of the component amp, which this backend lacks (add it: `openreg-gen add component amp`) currently."


def test_the_warning_is_one_sentence(openreg_gen, tmp_path):
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", tmp_path / "tree")
    source = (tmp_path / "tree/torch_mybackend/backend/device.py").read_text()
    (function,) = (node for node in ast.parse(source).body if getattr(node, "name", "") == "get_amp_supported_dtype")
    command = [sys.executable, "-c", WARN, ast.unparse(function)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [SENTENCE]
