"""torch.profiler beside what it records of the device: schedules, handlers, ends, other ways to profile."""

import json
import os
import re
import subprocess
import sys

import pytest
import torch
from built import NAME, PACKAGE, ROOT, module_of
from torch.profiler import ProfilerActivity, profile, record_function, schedule

if not (ROOT / "tests/test_profiler.py").exists():
    pytest.skip("the tree has no component profiler", allow_module_level=True)
tree = module_of(ROOT / "tests/test_profiler.py")
ADD, BOTH, of_device, step, trace_of = tree.ADD, tree.BOTH, tree.of_device, tree.step, tree.trace_of
if hasattr(tree, "records"):
    records = tree.records


def test_schedules(device):
    traces = []
    steps = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=BOTH, schedule=steps, on_trace_ready=lambda p: traces.append(of_device(p))) as prof:
        for _ in range(8):
            step(device)
            prof.step()
    assert len(traces) == 2
    adds = [sum(e.name == ADD for e in found) for found in traces]
    assert adds == [2, 2]


def test_tensorboard_handler(device, tmp_path):
    with profile(activities=BOTH, on_trace_ready=torch.profiler.tensorboard_trace_handler(str(tmp_path))):
        step(device)
    (written,) = tmp_path.glob("*.pt.trace.json")
    assert any(e.get("cat") == "kernel" for e in json.loads(written.read_text())["traceEvents"])


def test_the_cpu_alone(device):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        step(device)
    assert not of_device(prof)


def test_without_kineto(device):
    with torch.autograd.profiler.profile(use_device=NAME, use_kineto=False) as prof:
        step(device, 256)
    adds = [e for e in prof.function_events if e.name == "aten::add"]
    assert adds
    assert all(0 <= e.device_time_total < 10e6 for e in adds)
    assert sum(e.device_time_total for e in prof.function_events) > 0


# In the place of PREFIX is that of the device's C functions.
FAST = """
#include <dlfcn.h>
#include "NAME.h"
extern "C" PREFIXError_t PREFIXActivityRead(PREFIXActivity* records, size_t most, size_t* count, size_t* lost) {
  void* const library = dlopen("libNAME.so", RTLD_LAZY | RTLD_NOLOAD);
  const auto read = reinterpret_cast<decltype(&PREFIXActivityRead)>(dlsym(library, "PREFIXActivityRead"));
  const auto status = read(records, most, count, lost);
  for (size_t i = 0; i < *count; ++i) {
    records[i].queueEnd = records[i].start + 1000;
    records[i].end = records[i].start;
  }
  return status;
}
"""
PROFILE = f"""
import sys, torch, {PACKAGE}
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
    (torch.ones(8, 8).to("{NAME}") + 1).cpu()
prof.export_chrome_trace(sys.argv[1])
"""


def test_a_device_that_starts_before_the_call_returns(device, tmp_path):
    header = next((ROOT / "third_party").glob(f"*/include/{NAME}.h"))
    prefix = re.search(r"(\w+)GetDeviceCount\(", header.read_text())[1]
    (tmp_path / "fast.cpp").write_text(FAST.replace("NAME", NAME).replace("PREFIX", prefix))
    include = header.parent
    command = ["c++", "-std=c++17", "-shared", "-fPIC", "-I", include, "fast.cpp", "-o", "fast.so", "-ldl"]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=300)
    environment = {**os.environ, "LD_PRELOAD": str(tmp_path / "fast.so")}
    script = [sys.executable, "-c", PROFILE, str(tmp_path / "trace.json")]
    subprocess.run(script, check=True, env=environment, timeout=600)
    found = [e["args"] for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if "args" in e]
    assert {each["queued (us)"] for each in found if "queued (us)" in each} == {0}
    assert all(each["memory bandwidth (GB/s)"] < 1e6 for each in found if "memory bandwidth (GB/s)" in each)


def test_execution_trace_observer(device, tmp_path):
    from torch.profiler import ExecutionTraceObserver

    path = tmp_path / "execution.json"
    observer = ExecutionTraceObserver().register_callback(str(path))
    with profile(activities=BOTH, execution_trace_observer=observer):
        step(device)
    observer.unregister_callback()
    assert any(node["name"] == "aten::add" for node in json.loads(path.read_text())["nodes"])


def test_a_second_profile_sees_only_its_own(device):
    with profile(activities=BOTH):
        step(device)
    with profile(activities=BOTH) as prof:
        torch.ones(3).to(device)
    assert not [e for e in of_device(prof) if e.name == ADD]


def test_an_exception_ends_the_profile(device):
    with pytest.raises(ZeroDivisionError), profile(activities=BOTH):
        step(device)
        _ = 1 / 0
    with profile(activities=BOTH) as prof:
        step(device)
    assert ADD in {e.name for e in of_device(prof)}


def test_a_profile_that_ends_within_a_range_leaves_nothing_behind(device, tmp_path):
    x = torch.ones(3).to(device)
    first = profile(activities=BOTH)
    first.start()
    with record_function("cut off"):
        x + 1
        first.stop()
    with profile(activities=BOTH) as prof:
        x + 1
    assert "gpu_user_annotation" not in {e.get("cat") for e in trace_of(prof, tmp_path)}


def test_nothing_to_show(device):
    getattr(torch, NAME).synchronize()
    with profile(activities=BOTH) as prof:
        torch.empty(0).to(device).view(0, 1)
    assert not of_device(prof)


def test_memory_is_reported(device):
    with profile(activities=BOTH, profile_memory=True) as prof:
        x = torch.ones(1 << 20).to(device)
        del x
    assert any(e.device_memory_usage > 0 for e in prof.key_averages())


def test_inference_and_data_transfer(device):
    model = torch.nn.Linear(4, 4).to(device).eval()
    with profile(activities=BOTH) as prof, torch.no_grad():
        model(torch.ones(2, 4).to(device)).cpu()
    names = [e.name for e in of_device(prof)]
    assert names.index("Memcpy HtoD (Pageable -> Device)") < names.index("Memcpy DtoH (Device -> Pageable)")
