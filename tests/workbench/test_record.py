"""Recording the operators that a model asks of a backend; on the CPU, those that it would ask for."""

import json
import os
import pathlib
import re
import threading

import pytest
import torch
from openreg_gen import calls as operator_calls
from openreg_gen import observed, protocol, shapes
from openreg_gen.record import MINIMAL, Recording, RecordedOp, RecordingError, load, record

ROOT = pathlib.Path(__file__).parents[2]


def calls(recording) -> dict[str, int]:
    return {op.op: op.calls for op in recording.ops}


def test_lists_what_reaches_the_backend(device):
    x = torch.ones(2, 3, device=device)
    with record(device) as recording:
        torch.nn.functional.linear(x, x)
        x.sigmoid()
        x.cpu() + 1
        torch.ones(3).sigmoid()
    found = calls(recording)
    assert found["sigmoid.out"] == 1  # the form that a backend registers, once, and not the form of the CPU
    assert "linear" not in found
    assert "sigmoid" not in found
    assert "_copy_from" not in found  # every backend has it
    assert found == dict(sorted(found.items()))


def test_backward_is_recorded(device):
    x = torch.ones(4, device=device, requires_grad=True)
    with record(device) as recording:
        torch.sigmoid(x).backward(torch.ones(4, device=device))
    assert calls(recording)["sigmoid_backward.grad_input"] == 1


def test_recordings_nest_and_end(device):
    x = torch.ones(4, device=device)
    with record(device) as outer:
        x.sigmoid()
        with record(device) as inner:
            x.sigmoid()
        x.tanh()
    x.sigmoid()
    assert calls(inner)["sigmoid.out"] == 1
    assert calls(outer)["sigmoid.out"] == 2
    assert "tanh.out" not in calls(inner)


def test_a_trace_ends_when_the_device_has_nothing_to_do(device, monkeypatch):
    """A kernel that calls operators on the device's thread must not end in the next trace, in which it never began."""
    stream = torch.accelerator.current_stream(device)
    events, returned, idle, end = [], [], [], operator_calls._Trace.end
    monkeypatch.setattr(operator_calls._Trace, "end", lambda trace: (idle.append(events[-1].query()), end(trace))[1])
    x = torch.ones(1024, 1024, device=device)
    for _ in range(2):
        with operator_calls.counted():
            for _ in range(30):
                torch.mm(x, x)
            events.append(stream.record_event())
            returned.append(events[-1].query())
    if all(returned):
        pytest.skip("the device's work has ended when the call returns")
    assert idle == [True, True]


def test_costs(device):
    if "fallbacks" not in protocol.of(device).provided:
        pytest.skip("the backend does not count what falls back")
    if torch._C._dispatch_has_kernel_for_dispatch_key("aten::bincount", "PrivateUse1"):
        pytest.skip("bincount has a kernel, so nothing falls back")
    x = torch.tensor([1, 2], device=device)
    x.bincount()
    with record(device) as recording:
        x.bincount()
        x.bincount()
    (op,) = [op for op in recording.ops if op.op == "bincount"]
    assert (op.calls, op.fallback) == (2, 2)
    assert op.bytes >= 2 * 3 * 8
    assert op.seconds > 0
    assert "bincount: 2 of 2 calls" in str(recording)


def test_file(device, tmp_path):
    path = tmp_path / "ops.json"
    with pytest.raises(KeyError), record(device, path):
        torch.ones(2, device=device).sigmoid()
        raise KeyError
    data = json.loads(path.read_text())
    assert data["format"] == "openreg-gen ops"
    assert data["version"] == 1
    assert data["torch"] == torch.__version__.partition("+")[0]
    (op,) = [op for op in data["ops"] if op["op"] == "sigmoid.out"]
    costs = {"fallback", "bytes", "seconds"} if "fallbacks" in protocol.of(device).provided else set()
    assert set(op) == {"op", "calls", *costs}


def test_threads_and_children():
    """All threads are recorded; a child that was forked writes nothing into its parent's recording."""
    with record("cpu") as recording:
        thread = threading.Thread(target=lambda: torch.ones(3).sigmoid())
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            torch.ones(3).tanh()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    found = calls(recording)
    assert found["sigmoid.out"] == 1
    assert "tanh.out" not in found


def test_a_backend_that_does_not_count(tmp_path):
    with record("cpu") as recording:
        torch.ones(3).sigmoid()
    assert not recording.costs
    assert str(recording) == "1 operators, 1 calls"  # the CPU has no fallback
    assert recording.ops[0].fallback == 0
    path = tmp_path / "ops.json"
    recording.save(path)
    assert "fallback" not in path.read_text() and not load(path).costs


def test_the_minimal_set_is_the_commands():
    source = (ROOT / "generator/spec/minimal_ops.cpp").read_text()
    listed = re.search(r"kMinimal =\n(.*?);", source, re.DOTALL)[1]
    assert set(MINIMAL) == set(re.sub(r"[\s\"]+", " ", listed).split())


def test_lines_of_a_trace():
    node = (
        '  "inputs": {{"values": [[1,2,0,4,4,"{device}"],"<None>"], "shapes": [[4],[]], "types": []}},\n'
        '  "outputs": {{"values": [[1,2,0,4,4,"cpu"]], "shapes": [[4]]}},\n'
        '  "attrs": [{{"name": "op_schema", "type": "string", "value": "{op}"}}]\n'
    )
    text = node.format(device="mine:0", op="aten::add.out(Tensor self) -> Tensor")
    text += node.format(device="mine:1", op="aten::add.out(Tensor self) -> Tensor")
    text += node.format(device="cpu", op="aten::relu(Tensor self) -> Tensor") + node.format(device="cpu", op="")
    text += '"finish_ts": 3\n' + node.format(device="cpu", op="aten::late(Tensor self) -> Tensor")
    assert observed.count(text.splitlines()) == {
        ("aten::add.out", ("mine",), ""): 2,
        ("aten::relu", ("cpu",), ""): 1,
    }
    ((_, _, inputs), calls), *_ = observed.count(text.splitlines(), shapes=True).items()
    assert (json.loads(inputs)["values"], calls) == ([{"offset": 0}, "<None>"], 2)


def arguments(recording: Recording, name: str) -> list:
    (op,) = [op for op in recording.ops if op.op == name]
    return [json.loads(text) for text in op.shapes]


def test_shapes():
    x = torch.ones(2, 3, 4).transpose(0, 1)
    with record("cpu", shapes=True) as recording:
        torch.add(x, x[..., 1:2], alpha=2)
        x.clamp(0, float("inf"))
        torch.cat([x, x], 1)
        torch.sum(x, [1], dtype=torch.float64)
        torch.nn.functional.gelu(x.half(), approximate="tanh")
    turned = {"tensor": "float32", "shape": [3, 2, 4], "strides": [4, 12, 1]}
    column = {"tensor": "float32", "shape": [3, 2, 1], "strides": [4, 12, 1], "offset": 1}
    assert arguments(recording, "add.out") == [[turned, column, 2]]
    assert arguments(recording, "clamp.out") == [[turned, 0, {"float": "inf"}]]
    assert arguments(recording, "cat.out") == [[[turned, turned], 1]]
    assert arguments(recording, "sum.IntList_out") == [[turned, [1], False, {"dtype": "float64"}]]
    assert arguments(recording, "gelu.out")[0][1] == "tanh"
    sample = shapes.made(arguments(recording, "add.out")[0], lambda dtype, shape: torch.ones(shape, dtype=dtype))
    assert [(y.shape, y.stride(), y.storage_offset()) for y in sample[:2]] == [
        ((3, 2, 4), (4, 12, 1), 0),
        ((3, 2, 1), (4, 12, 1), 1),
    ]


def test_shapes_in_a_file(tmp_path):
    """A file has the same text after each equal run, and a merged one is read as its parts are."""
    path = tmp_path / "ops.json"
    for number in range(2):
        old = load(path) if number else None
        with record("cpu", path, shapes=True, before=old):
            torch.ones(3).sigmoid()
            torch.ones(4 + number).sigmoid()
    (op,) = [op for op in load(path).ops if op.op == "sigmoid.out"]
    assert op.calls == 4
    assert {json.loads(text)[0]["shape"][0]: calls for text, calls in op.shapes.items()} == {3: 2, 4: 1, 5: 1}
    again = load(path)
    assert again.to_json() == path.read_text()
    halves = Recording(again.ops[:1], again.costs), Recording(again.ops[1:], again.costs)
    assert halves[0].merged(halves[1]).to_json() == path.read_text()
    path.write_text("[]")
    with pytest.raises(RecordingError, match="is not a recording"):
        load(path)


def test_a_file_stays_small():
    steps = {json.dumps([{"tensor": "float32", "shape": [8]}, step / 7]): 1 for step in range(100)}
    sizes = {json.dumps([{"tensor": "float32", "shape": [size]}, 0.5]): 9 for size in range(20)}
    kept = shapes.most_frequent(shapes.Counter({**steps, **sizes}))
    assert len(kept) == 20
    assert sum(kept.values()) == 100 + 20 * 9
    many = shapes.Counter({json.dumps([{"tensor": "float32", "shape": [size] * 40}]): 1 for size in range(32)})
    recording = Recording([RecordedOp(f"op{number}", 32, shapes=many) for number in range(200)])
    assert len(recording.to_json()) < 1 << 19


def test_tensors_without_an_accessible_storage_have_no_device_in_the_trace():
    """PyTorch writes "" for them; what has a storage on the CPU is not among them."""
    node = """
          "inputs": {{"values": [[4,{storage},0,{size},4,"{device}"],1], "shapes": [[2],[]], "types": ["Tensor(float)","Int"], "strides": []}},
          "attrs": [{{"name": "op_schema", "type": "string", "value": "aten::add.Tensor(Tensor self) -> Tensor"}}]
"""
    lines = (node.format(storage=0, size=0, device="") + node.format(storage=5, size=2, device="cpu")).splitlines()
    assert set(observed.count(lines)) == {("aten::add.Tensor", ("",), ""), ("aten::add.Tensor", ("cpu",), "")}


def test_operators_of_torchscript_alone(device):
    """`sub` has overloads that only TorchScript knows, which no backend can register."""
    with record(device) as recording:
        1 - torch.ones(2, device=device)
    assert any(name.startswith(("sub.", "rsub.")) for name in calls(recording))


def test_script(run_python, device, tmp_path):
    (tmp_path / "helper.py").write_text("SHAPE = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys\n"
        "import helper\n"
        "import torch\n"
        f'torch.ones(helper.SHAPE, device="{device}").sigmoid()\n'
        "print(__name__, sys.argv)\n"
        "sys.exit(3)\n"
    )
    done = run_python("-m", "openreg_gen.record", "--device", device, "script.py", "--", "--steps", "2", code=None)
    assert done.returncode == 1 and "script.py ended itself with exit code 3" in done.stderr, done.stderr
    assert done.stdout.strip() == "__main__ ['script.py', '--steps', '2']"
    data = json.loads((tmp_path / "ops.json").read_text())
    assert "sigmoid.out" in [op["op"] for op in data["ops"]]
    assert "written to" in done.stderr
    assert "Observer" not in done.stderr


def test_bad_input(run_python, tmp_path):
    (tmp_path / "script.py").write_text("")
    for words, code, said in (
        (("-o", "no/such/folder.json", "script.py"), 2, "error[E0574]: no such folder"),
        (("nothing.py",), 2, "error[E0574]: no such script: nothing.py"),
        (("script.py",), 1, "error[E0576]: script.py called no operator on cpu: nothing was recorded"),
        ((), 2, "error[E0500]: the following arguments are required: SCRIPT"),
        (("--merge", "-o", "script.py", "script.py"), 2, "error[E0574]: "),
        (("--device", "nowhere", "script.py"), 3, "error[E0575]: no device 'nowhere'"),
    ):
        done = run_python("-m", "openreg_gen.record", "--device", "cpu", *words, code=None)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert said in done.stderr, done.stderr


def test_a_recording_is_not_replaced_by_nothing(run_python, tmp_path):
    (tmp_path / "script.py").write_text("")
    (tmp_path / "ops.json").write_text("a recording\n")
    done = run_python("-m", "openreg_gen.record", "--device", "cpu", "-o", "ops.json", "script.py", code=1)
    assert "nothing was recorded" in done.stderr and "written" not in done.stderr
    assert (tmp_path / "ops.json").read_text() == "a recording\n"


@pytest.mark.parametrize("tool", ["record", "compare", "trace"])
def test_json_stays_json_whatever_the_script_prints(run_python, device, tmp_path, tool):
    (tmp_path / "script.py").write_text(
        "import os, sys, torch\n"
        f'torch.ones(3, device="{device}").sigmoid()\n'
        "print('from Python', sys.argv[1:])\n"
        "os.write(1, b'from C++\\n')\n"
    )
    done = run_python("-m", f"openreg_gen.{tool}", "--device", device, "--json", "script.py", "--", "--epochs", "1")
    assert isinstance(json.loads(done.stdout), dict)
    assert "from Python ['--epochs', '1']" in done.stderr and "from C++" in done.stderr
