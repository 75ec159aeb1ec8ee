# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Recording the operators that a model asks of the backend."""

import contextlib
import json
import subprocess
import sys

import torch_openreg.record
import pytest
import torch

NAME = "openreg"
api = torch.get_device_module(NAME)


def calls(recording) -> dict[str, int]:
    return {op.op: op.calls for op in recording.ops}


def test_lists_what_reaches_the_backend(device):
    x = torch.ones(2, 3, device=device)
    with api.record() as recording:
        torch.nn.functional.linear(x, x)
        x.sigmoid()
        x.cpu() + 1
        torch.ones(3).sigmoid()
    found = calls(recording)
    assert found["sigmoid.out"] == 1  # the form that a backend registers, once, and not the CPU's
    assert "linear" not in found
    assert "sigmoid" not in found
    assert "_copy_from" not in found  # every backend has it
    assert found == dict(sorted(found.items()))


def test_backward_is_recorded(device):
    x = torch.ones(4, device=device, requires_grad=True)
    with api.record() as recording:
        torch.sigmoid(x).backward(torch.ones(4, device=device))
    assert calls(recording)["sigmoid_backward.grad_input"] == 1


def test_recordings_nest_and_end(device):
    x = torch.ones(4, device=device)
    with api.record() as outer:
        x.sigmoid()
        with api.record() as inner:
            x.sigmoid()
        x.tanh()
    x.sigmoid()
    assert calls(inner)["sigmoid.out"] == 1
    assert calls(outer)["sigmoid.out"] == 2
    assert "tanh.out" not in calls(inner)


def test_costs(device):
    if torch._C._dispatch_has_kernel_for_dispatch_key("aten::bincount", "PrivateUse1"):
        pytest.skip("bincount has a kernel, so nothing falls back")
    x = torch.tensor([1, 2], device=device)
    x.bincount()
    with api.record() as recording:
        x.bincount()
        x.bincount()
    (op,) = [op for op in recording.ops if op.op == "bincount"]
    assert (op.calls, op.fallback) == (2, 2)
    assert op.bytes >= 2 * 3 * 8
    assert op.seconds > 0
    assert "bincount: 2 of 2 calls" in str(recording)


def test_file(device, tmp_path):
    path = tmp_path / "ops.json"
    with pytest.raises(KeyError), api.record(path):
        torch.ones(2, device=device).sigmoid()
        raise KeyError
    data = json.loads(path.read_text())
    assert data["format"] == "openreg-gen ops"
    assert data["version"] == 1
    assert data["torch"] == torch.__version__.partition("+")[0]
    (op,) = [op for op in data["ops"] if op["op"] == "sigmoid.out"]
    assert set(op) == {"op", "calls", "fallback", "bytes", "seconds"}


def run(*arguments: str, cwd) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torch_openreg.record", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_recording_that_cannot_begin(device, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def broken(path):
        raise RuntimeError("no recording today")
        yield

    script = tmp_path / "script.py"
    script.write_text("")
    monkeypatch.setattr(api, "record", broken)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(RuntimeError, match="no recording today"):
        torch_openreg.record.main(["-o", str(tmp_path / "ops.json"), str(script)])


def test_script(device, tmp_path):
    (tmp_path / "helper.py").write_text("SHAPE = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys\n"
        "import helper\n"
        "import torch\n"
        'torch.ones(helper.SHAPE, device="openreg").sigmoid()\n'
        "print(__name__, sys.argv)\n"
        "sys.exit(3)\n"
    )
    done = run("script.py", "--steps", "2", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.strip() == "__main__ ['script.py', '--steps', '2']"
    data = json.loads((tmp_path / "ops.json").read_text())
    assert "sigmoid.out" in [op["op"] for op in data["ops"]]
    assert "written to" in done.stderr
    done = run("-o", "no/such/folder.json", "script.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
    assert run("nothing.py", cwd=tmp_path).returncode == 2
