"""`openreg_gen.trace` on a backend: kernels and copies with streams and bytes, fallbacks, waits, errors of a device."""

import json

import pytest
import torch
from openreg_gen import protocol
from openreg_gen.trace import code, terminal
from openreg_gen.trace.make import trace


def traced(text, device, **shapes):
    given = {name: code.parse_shape(f"{name}={shape}")[1] for name, shape in shapes.items()}
    return trace(code.expression(text, device, given, False), device, protocol.of(device), 1000)


def events(made, kind):
    return [event for event in made.walk() if event.kind == kind]


def answers(made, question):
    return [text for answer in made.answers if answer.question.startswith(question) for text in answer.text]


@pytest.fixture
def profiled(device):
    """The device, if it has a profiler."""
    if not events(traced("a.cpu()", device), "copy"):
        pytest.skip("this backend has no profiler")
    return device


def test_the_backends_key_comes_last(device):
    made = traced("torch.relu(a + b)", device)
    (add,) = [event for event in made.walk() if event.name == "aten::add.Tensor"]
    assert add.keys[-1].key == "PrivateUse1" and add.keys[-1].fate == "runs"
    assert "AutogradPrivateUse1" in [step.key for step in add.keys]


def test_a_structured_operator_names_its_out_form(device):
    (add,) = [event for event in traced("a + b", device).walk() if event.name == "aten::add.Tensor"]
    if "CompositeExplicitAutogradNonFunctional" not in add.keys[-1].file:
        pytest.skip("this backend registers add.Tensor itself")
    assert add.fields["delegate"] == "aten::add.out"
    out = next(event for event in add.children if event.name == "aten::add.out")
    assert out.keys[-1].key == "PrivateUse1" and out.keys[-1].file


def test_kernels_have_streams(profiled):
    kernels = events(traced("a @ b", profiled), "kernel")
    assert kernels and all("stream" in kernel.fields and "queued_by" in kernel.fields for kernel in kernels)


def test_a_fallbacks_host_function_is_not_drawn_as_a_kernel_of_the_device(profiled):
    made = traced("torch.sinc(a)", profiled)
    fell = [event for event in made.walk() if event.fields.get("fallbacks")]
    if not fell:
        pytest.skip("this backend has a kernel for sinc")
    queued = [part for event in fell for part in event.walk() if part.kind == "kernel"]
    assert queued and all(part.fields.get("host") for part in queued)
    text = "\n".join(terminal.lines(made, True, True, True))
    assert "\033[33mhost function " in text and f"{queued[0].name}" in text
    assert not any("host" in kernel.fields for kernel in events(traced("a @ b", profiled), "kernel"))


def test_what_a_backend_does_not_report_is_one_note(device):
    assert len(traced("a + b", device).notes) <= 1


def test_kernels_are_inside_the_operator_that_queued_them(profiled):
    made = traced("torch.relu(a)", profiled)
    (relu,) = [event for event in made.events if event.name == "torch.relu"]
    assert [event for event in relu.walk() if event.kind == "kernel"]


def test_a_copy_to_the_host_says_where_it_came_from(profiled):
    made = traced("b = a * 2; b.cpu(); b.sum().item()", profiled, a="2x3")
    copies = [event for event in events(made, "copy") if event.fields.get("to_host")]
    assert [event.fields["bytes"] for event in copies] == [24, 4]
    first, second = answers(made, "Where did a copy to the host come from?")[:2]
    assert first.startswith("`b.cpu()`") and "24 bytes" in first
    assert second.startswith("`b.sum().item()`") and "reads a number" in second


def test_reading_a_value_waits_for_the_device(device):
    waits = [event.fields["wait"] for event in traced("a.sum().item()", device).walk() if "wait" in event.fields]
    assert any("until the device computes it" in text for text in waits)


def test_synchronize_is_seen(device):
    if not hasattr(getattr(torch, device), "synchronize"):
        pytest.skip(f"torch.{device} has no synchronize")
    (event,) = traced(f"torch.{device}.synchronize()", device).events
    assert event.name == "synchronize" and "waits for the device" in event.fields["wait"]


def test_a_fallback_has_its_reason(device):
    if "fallbacks" not in protocol.of(device).provided:
        pytest.skip("this backend does not say what falls back")
    made = traced("torch.linalg.eigh(a @ a.T)", device)
    rows = [row for event in made.walk() for row in event.fields.get("fallbacks", ())]
    if not rows:
        pytest.skip("this backend has a kernel of linalg.eigh")
    assert all(row["op"].startswith("aten::") and row["reason"] for row in rows)
    assert any("eigh" in text and "torch.linalg.eigh(a @ a.T)" in text for text in answers(made, "What did the host"))


def test_backward_belongs_to_its_call_whatever_its_thread(device):
    made = traced("(a @ b).sum().backward()", device)
    call = next(event for event in made.events if event.name == "torch.Tensor.backward")
    nodes = [event for event in call.children if event.kind == "backward"]
    assert [node.name for node in nodes][:2] == ["SumBackward0", "MmBackward0"]
    assert any("MmBackward0" in text and "`a @ b`" in text for text in answers(made, "Which operator computed"))


def test_allocations_name_the_device(device):
    made = traced("torch.empty_like(a)", device)
    assert any(event.fields["device"].startswith(device) for event in events(made, "allocation"))


def test_a_missing_kernel_is_explained(device):
    made = traced("torch.ops.aten._cudnn_init_dropout_state(0.5, True, 1, device=a.device, dtype=torch.uint8)", device)
    assert made.error is not None and answers(made, "W")[0].startswith("your code calls")
    failed = [event for event in made.walk() if "error" in event.fields][-1]
    assert failed.keys[-1].key == "PrivateUse1"


def test_an_error_of_a_kernel_names_the_operator_that_raised_it(device):
    made = traced(f"a[torch.full((1,), 99, device={device!r})]; torch.{device}.synchronize()", device)
    if made.error is None or made.error["type"] != "IndexError":
        pytest.skip("this backend does not check indices")
    assert answers(made, "Where does the IndexError")[-1].startswith("aten::index.Tensor")


def test_the_tool_runs_a_script_on_the_device(device, run_python, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        f"import torch\nlayer = torch.nn.Linear(3, 2).to({device!r})\nout = layer(torch.ones(4, 3, device={device!r}))\n"
        "out.sum().backward()\nprint(layer.weight.grad.cpu().shape)\n"
    )
    done = run_python("-m", "openreg_gen.trace", "train.py", "--device", device, "--json=t.json")
    assert "USDT:" not in done.stdout + done.stderr and "weight.grad float32[2, 3] is what" in done.stdout
    row = json.loads((tmp_path / "t.json").read_text())
    assert row["schema"] == 1 and row["device"] == device and list(row["sources"]) == ["train.py"]
