"""Names that a backend can have: what the command says of each, and what PyTorch does with it."""

import json
import os
import re
import textwrap

import pytest
import torch

# Device types of PyTorch's own, and a name that is none.
REFUSED_BY_PYTORCH = ("cpu", "cuda", "hip", "mps", "mtia", "xpu")
WITHOUT_METHODS = ("hpu", "ipu", "maia", "meta", "mkldnn", "xla")  # PyTorch's tensors or storages have is_NAME
TREATED_APART = ("lazy", "privateuseone")
FREE = ("fpga", "ideep", "metal", "opencl", "opengl", "ve", "vulkan", "zephyr")


def in_child(check):
    """What `check` returns in a forked process, since a process can rename PrivateUse1 once."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = check()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = json.loads(pipe.read())
    os.waitpid(child, 0)
    return said


def registered(name, statements):
    torch.utils.rename_privateuse1_backend(name)
    assert torch.device(name, 1).type == name and torch._C._dispatch_key_for_device(name) == "PrivateUse1"
    exec(statements, {"torch": torch})
    x = torch.ones(2)
    assert not getattr(x, f"is_{name}")
    return sorted(f"is_{name}" if hasattr(each, f"is_{name}") else "" for each in (torch.Tensor, torch.UntypedStorage))


def test_pytorch_has_no_device_type_that_is_not_listed_here():
    listed = {*REFUSED_BY_PYTORCH, *WITHOUT_METHODS, *FREE, "lazy", "privateuse1"}
    types = {name.lower() for name in torch._C._autograd.DeviceType.__members__}
    assert types <= listed


@pytest.mark.parametrize("name", [*REFUSED_BY_PYTORCH, *WITHOUT_METHODS, *TREATED_APART])
def test_a_name_that_pytorch_keeps_is_refused(openreg_gen, tmp_path, name):
    said = openreg_gen("new", name, "--dry-run", cwd=tmp_path, code=2).stderr
    assert "E0122" in said
    methods = "torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)"
    outcome = in_child(lambda: registered(name, methods))
    if name in REFUSED_BY_PYTORCH:
        assert "in-tree device name" in outcome
    elif name in WITHOUT_METHODS:
        assert f"already been registered with is_{name}" in outcome


@pytest.mark.parametrize("name", FREE)
def test_a_name_that_pytorch_gives_away_works(openreg_gen, tmp_path, name):
    openreg_gen("new", name, "--profile", "minimal", cwd=tmp_path)
    text = (tmp_path / f"torch_{name}/torch_{name}/_load.py").read_text()
    statements = re.search(r'^torch\.utils\.rename\w+\("\w+"\)\n(.*?)^backend\._register', text, re.M | re.S).group(1)
    assert in_child(lambda: registered(name, textwrap.dedent(statements))) == [f"is_{name}"] * 2
