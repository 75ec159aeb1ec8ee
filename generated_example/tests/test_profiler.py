# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `profiler` in the spec changes it, then `openreg-gen generate`.
"""torch.profiler shows what the device did: kernels, copies and memsets with their times, joined to their operators."""

import json
import pathlib
import threading

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

import torch_openreg  # noqa: F401

NAME = "openreg"
BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
ADD, MUL = "add_kernel", "mul_kernel"


@pytest.fixture(scope="module")
def kernels():
    """A tree may run all operators on copies, and launch nothing."""
    with profile(activities=BOTH) as prof:
        torch.ones(1).to(NAME) + 1
    aliases = list(pathlib.Path(__file__).parents[1].glob("csrc/*/alias"))
    if not aliases and all(e.name.startswith("Mem") for e in of_device(prof)):
        pytest.skip("the device has no kernel for add")


def step(device, size=64):
    x = torch.ones(size, size).to(device)
    y = (x + x) * 2
    y.zero_()
    return y.sum().item()


def trace_of(prof, tmp_path):
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    return json.loads(path.read_text())["traceEvents"]


def of_device(prof):
    return [e for e in prof.events() if e.device_type == DeviceType.PrivateUse1]


def test_the_device_is_among_the_activities():
    assert ProfilerActivity.PrivateUse1 in torch.profiler.supported_activities()
    assert getattr(ProfilerActivity, NAME.upper()) == ProfilerActivity.PrivateUse1


@pytest.mark.usefixtures("kernels")
def test_kernels_and_copies_have_times(device):
    with profile(activities=BOTH) as prof:
        step(device)
    found = of_device(prof)
    names = {e.name for e in found}
    assert ADD in names
    assert any(name.startswith("Memcpy HtoD") for name in names), names
    assert any(name.startswith("Memcpy DtoH") for name in names), names
    for event in found:
        assert 0 <= event.time_range.elapsed_us() < 10e6
        assert event.device_index == torch.device(device).index or event.device_index == 0


def test_operators_have_device_times(device):
    with profile(activities=BOTH) as prof:
        step(device, 512)
    averages = {e.key: e for e in prof.key_averages() if e.device_type == DeviceType.CPU}
    assert averages["aten::add"].device_time_total > 0
    assert averages["aten::add"].self_device_time_total <= averages["aten::add"].device_time_total
    assert f"Self {NAME.upper()}" in prof.key_averages().table()
    assert prof.key_averages().total_average().self_device_time_total > 0


@pytest.mark.usefixtures("kernels")
def test_kernels_run_after_their_launch_and_in_order(device, tmp_path):
    with profile(activities=BOTH) as prof:
        x = torch.ones(1000).to(device)
        for _ in range(20):
            x = x + 1
    events = trace_of(prof, tmp_path)
    launches = {e["args"]["correlation"]: e for e in events if e.get("cat") == "privateuse1_runtime"}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert len(kernels) >= 20
    for kernel in kernels:
        launch = launches[kernel["args"]["correlation"]]
        assert kernel["ts"] >= launch["ts"] - 1
    ends = 0.0
    for kernel in sorted(kernels, key=lambda e: e["ts"]):
        assert kernel["ts"] >= ends - 0.01
        ends = kernel["ts"] + kernel["dur"]


@pytest.mark.usefixtures("kernels")
def test_the_trace_has_a_row_for_each_stream(tmp_path):
    module = getattr(torch, NAME)
    streams = [torch.Stream(f"{NAME}:0"), torch.Stream(f"{NAME}:0")]
    x = torch.ones(10).to(f"{NAME}:0")
    module.synchronize()
    with profile(activities=BOTH) as prof:
        x + 1
        for stream in streams:
            with stream:
                x + 1
        module.synchronize()
    events = trace_of(prof, tmp_path)
    rows = {e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    assert f"{NAME}:0 stream 0 (default)" in rows, rows
    used = {(e["pid"], e["tid"]) for e in events if e.get("cat") == "kernel"}
    assert len(used) == 3
    assert len([name for name in rows if name.startswith(f"{NAME}:0 stream ")]) == 3


def test_flows_lead_from_launches_to_kernels(device, tmp_path):
    with profile(activities=BOTH) as prof:
        step(device)
    events = trace_of(prof, tmp_path)
    begins = {e["id"] for e in events if e.get("ph") == "s" and e.get("cat") == "ac2g"}
    ends = {e["id"] for e in events if e.get("ph") == "f" and e.get("cat") == "ac2g"}
    assert begins and begins == ends


def test_bytes_of_copies(device, tmp_path):
    with profile(activities=BOTH) as prof:
        torch.ones(250).to(device)
    copies = [e for e in trace_of(prof, tmp_path) if e.get("cat") == "gpu_memcpy"]
    assert [e["args"]["bytes"] for e in copies] == [1000]


def test_backward_belongs_to_forward(device):
    x = torch.ones(8, 8).to(device).requires_grad_()
    with profile(activities=BOTH) as prof:
        (x * x).sum().backward()
    backward = [e for e in prof.events() if e.name.endswith("MulBackward0") and e.device_type == DeviceType.CPU]
    assert backward
    assert sum(e.device_time_total for e in backward) > 0


def test_ranges_are_shown_on_the_device(device, tmp_path):
    with profile(activities=BOTH) as prof, record_function("my range"):
        step(device)
    events = trace_of(prof, tmp_path)
    spans = [e for e in events if e.get("cat") == "gpu_user_annotation"]
    assert [e["name"] for e in spans] == ["my range"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    for kernel in kernels:
        assert spans[0]["ts"] - 0.01 <= kernel["ts"]
        assert kernel["ts"] + kernel["dur"] <= spans[0]["ts"] + spans[0]["dur"] + 0.01


@pytest.mark.usefixtures("kernels")
def test_two_devices_have_their_rows(tmp_path):
    module = getattr(torch, NAME)
    if module.device_count() < 2:
        pytest.skip("needs two devices")
    with profile(activities=BOTH) as prof:
        for index in range(2):
            step(f"{NAME}:{index}")
            module.synchronize(index)
    kernels = [e for e in trace_of(prof, tmp_path) if e.get("cat") == "kernel"]
    assert {e["args"]["device"] for e in kernels} == {0, 1}
    assert {e.device_index for e in of_device(prof)} == {0, 1}


def test_threads(device):
    with profile(activities=BOTH) as prof:
        threads = [threading.Thread(target=step, args=(device,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    launching = {e.thread for e in prof.events() if e.device_type == DeviceType.CPU}
    assert launching
    assert of_device(prof)


def test_compiled_kernels_have_their_names(device):
    if not getattr(torch, NAME).get_device_properties().host_accessible:
        pytest.skip("Inductor has no kernels for this device")
    x = torch.ones(64).to(device)
    compiled = torch.compile(lambda x: torch.sin(x) * 2 + 1)
    compiled(x)
    with profile(activities=BOTH) as prof:
        compiled(x)
    names = [e.name for e in of_device(prof)]
    assert any("fused" in name and "sin" in name for name in names), names


def test_shapes(device):
    with profile(activities=BOTH, record_shapes=True) as prof:
        torch.ones(3, 4).to(device) + 1
    adds = [e for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::add"]
    assert adds and all(e.input_shapes[0] == [3, 4] for e in adds)
    assert sum(e.device_time_total for e in adds) > 0


@pytest.mark.usefixtures("kernels")
def test_many_events(device):
    with profile(activities=BOTH) as prof:
        x = torch.ones(1).to(device)
        for _ in range(5000):
            x += 1
    assert sum(e.name.startswith("add_") for e in of_device(prof)) == 5000


@pytest.mark.usefixtures("kernels")
def test_events_and_waits_between_streams(device):
    module = getattr(torch, NAME)
    stream, event = torch.Stream(device), torch.Event(device)
    with profile(activities=BOTH) as prof:
        x = torch.ones(1000).to(device) + 1
        event.record()
        with stream:
            stream.wait_event(event)
            x * 2
        module.synchronize()
    times = {e.name: e.time_range for e in of_device(prof)}
    assert times[MUL].start >= times[ADD].end - 0.01


@pytest.mark.usefixtures("kernels")
def test_a_training_step(device):
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(activities=BOTH) as prof:
        for _ in range(3):
            with record_function("step"):
                optimizer.zero_grad()
                model(torch.randn(8, 16).to(device)).sum().backward()
                optimizer.step()
    names = {e.name for e in of_device(prof)}
    assert any(name == "gemm" or "mm" in name for name in names), names
    assert "step" in prof.key_averages().table(sort_by="self_device_time_total")
