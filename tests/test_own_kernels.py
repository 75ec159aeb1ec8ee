"""A minimal tree with a kernel of its owner's that reads addresses: which tensors reach it. And two builds of one tree."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND

pytestmark = [pytest.mark.timeout(1800), pytest.mark.nightly]
BODY = "  return at::empty({}, self.options()).fill_(static_cast<double>(self.numel() + tensor.numel()));\n"


def environment_of(tree):
    env = dict(os.environ, TORCH_DEVICE_BACKEND_AUTOLOAD="0", CCACHE_BASEDIR=str(tree))
    env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{env['PATH']}"
    if shutil.which("ccache"):
        env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    return env


def run(*command, tree, code=0):
    done = subprocess.run(
        command, check=False, cwd=tree, env=environment_of(tree), capture_output=True, text=True, timeout=900
    )
    assert done.returncode == code, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    return done


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    tree = folder / "torch_mybackend"
    run(COMMAND, "new", "mybackend", "--profile", "minimal", tree=folder)
    run(COMMAND, "add", "dot", "--strategy", "native", tree=tree)
    kernel = tree / "csrc/aten/native/dot.cpp"
    text = kernel.read_text().replace("  return host_call<at::_ops::dot>(self, tensor);\n", BODY)
    assert BODY in text
    kernel.write_text(
        text.replace("#include <ATen/ops/dot_ops.h>", "#include <ATen/ops/dot_ops.h>\n#include <ATen/ops/empty.h>")
    )
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
        "-DMYBACKEND_WERROR=ON", tree=tree)  # fmt: skip
    run("cmake", "--build", "build", tree=tree)
    return tree


@pytest.mark.parametrize("other", ["cpu", "mybackend:1"])
def test_a_kernel_gets_no_tensor_of_another_device(tree, other):
    script = f"""
import torch, torch_mybackend
x = torch.ones(3, device="mybackend")
print(x.dot(x).item())
for pair in ((x, x.to("{other}")), (x.to("{other}"), x)):
    try:
        pair[0].dot(pair[1])
    except RuntimeError as error:
        print(error)
"""
    lines = run(sys.executable, "-c", script, tree=tree).stdout.splitlines()
    assert lines[0] == "6.0"
    assert len(lines) == 3
    for line in lines[1:]:
        assert "Expected all tensors to be on the same device" in line and "aten::dot" in line, line


def test_a_build_waits_for_another(tree):
    """As pip's: two at once write over each other's files."""
    with (tree / "build/lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [COMMAND, "test", "-C", tree, "--", "tests/test_device.py", "-k", "nothing_is_called_so"]
        build = subprocess.Popen(command, env=environment_of(tree), stderr=subprocess.PIPE, text=True)
        assert build.stderr.readline() == f"another build runs in {tree / 'build'}: waiting for its end\n"
        assert build.poll() is None
        fcntl.flock(lock, fcntl.LOCK_UN)
        build.communicate(timeout=600)
    assert build.returncode == 1  # no test has that name
