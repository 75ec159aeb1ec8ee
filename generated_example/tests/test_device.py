# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The device: which there are, streams and events, random numbers; importing the package, and fork."""

import os
import subprocess
import sys

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def run(script: str, **environment: str) -> str:
    """The output of a separate process."""
    environment = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_script_may_end_right_after_backward(device):
    """Note [Autograd's threads when Python ends]; several at once, so that these threads are slow."""
    script = f"x = torch.ones(4, 4, device='{device}', requires_grad=True); (x * x).sum().backward()"
    command = [sys.executable, "-c", f"import torch, torch_openreg; {script}"]
    scripts = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    assert [each.communicate(timeout=600)[1] for each in scripts] == [""] * 6
    assert [each.returncode for each in scripts] == [0] * 6


def test_properties(device):
    assert api.is_available()
    assert api.device_count() == torch.accelerator.device_count() > 0
    assert api.get_device_name(device)
    assert api.get_device_properties(device).total_memory > 0


def test_the_current_device_belongs_to_the_thread(other):
    assert api.current_device() == 0
    with api.device(other):
        assert api.current_device() == 1
        assert torch.empty(1, device=NAME).device == other
    assert api.current_device() == 0
    api.set_device(other)
    assert torch.accelerator.current_device_index() == 1


@pytest.mark.parametrize("index", [99, 127, 128, 254])
def test_a_device_that_is_not_there(index):
    with pytest.raises(RuntimeError, match="out of range"):
        torch.empty(1, device=f"{NAME}:{index}")
    with pytest.raises(RuntimeError, match="out of range"):
        torch.ones(1).to(f"{NAME}:{index}")


@pytest.mark.no_device
def test_importing_torch_is_enough():
    script = "import torch; print(torch.openreg.is_initialized())"
    assert run(script, TORCH_DEVICE_BACKEND_AUTOLOAD="1") == "False"


@pytest.mark.no_device
def test_without_a_device():
    script = "import torch, torch_openreg; print(torch.openreg.is_available(), torch.manual_seed(1).initial_seed())"
    assert run(script, OPENREG_DEVICE_COUNT="0") == "False 1"


def test_a_child_of_a_process_that_used_a_device_cannot():
    script = """
import os, torch, torch_openreg
torch.ones(1, device="openreg")
child = os.fork()
if child == 0:
    try:
        torch.ones(1, device="openreg")
    except RuntimeError as error:
        os._exit(7 if "fork" in str(error) else 1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(script) == "7"


# --- Streams and events


def test_the_current_stream(device, other):
    default = api.current_stream(device)
    assert default == api.default_stream(device)
    stream = api.Stream(device)
    there = api.Stream(other)
    with stream:
        assert api.current_stream(device) == stream
        with api.stream(there):
            assert api.current_device() == 1
        assert api.current_stream(device) == stream
    assert api.current_stream(device) == default
    assert len({api.Stream(device).stream_id for _ in range(4)}) == 4


def test_work_of_a_stream_is_done_after_it_was_waited_for(device):
    stream = api.Stream(device)
    with stream:
        x = torch.full((1000,), 3.0, device=device)
    stream.synchronize()
    assert stream.query()
    assert x.sum().item() == 3000


def test_a_stream_waits_for_another(device):
    first, second = api.Stream(device), api.Stream(device)
    x = torch.zeros(100_000, device=device)
    api.synchronize()
    for value in range(20):
        with first:
            x.fill_(value)
        second.wait_stream(first)
        with second:
            y = x.clone()
        first.wait_stream(second)
    api.synchronize(device)
    assert torch.equal(y.cpu(), torch.full((100_000,), 19.0))


def test_events(device):
    start, end = (api.Event(device, enable_timing=True) for _ in range(2))
    assert end.query()
    start.record()
    torch.ones(100_000, device=device)
    end.record()
    end.synchronize()
    assert start.query() and end.query()
    assert start.elapsed_time(end) >= 0


def test_events_of_two_devices(device, other):
    event = api.current_stream(device).record_event()
    stream = api.Stream(other)
    stream.wait_event(event)
    stream.synchronize()
    with pytest.raises(RuntimeError, match="can't be recorded"):
        event.record(stream)


# --- Random numbers

FILLERS = ("normal_", "uniform_", "random_", "exponential_", "cauchy_", "log_normal_")
DRAWS = {
    "rand": lambda device, **more: torch.rand(50, device=device, **more),
    "randn": lambda device, **more: torch.randn(50, device=device, **more),
    "randint": lambda device, **more: torch.randint(1000, (50,), device=device, **more),
    "randperm": lambda device, **more: torch.randperm(50, device=device, **more),
    "bernoulli": lambda device, **more: torch.bernoulli(torch.full((50,), 0.5, device=device), **more),
    "multinomial": lambda device, **more: torch.ones(50, device=device).multinomial(50, **more),
    "geometric_": lambda device, **more: torch.empty(50, device=device).geometric_(0.3, **more),
    **{
        name: lambda device, name=name, **more: getattr(torch.empty(50, device=device), name)(**more)
        for name in FILLERS
    },
}


@pytest.mark.parametrize("name", DRAWS)
def test_seeds(name, device):
    draw = DRAWS[name]
    torch.manual_seed(5)
    first, second = draw(device).cpu(), draw(device).cpu()
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    assert torch.equal(draw(device).cpu(), first)
    generator = torch.Generator(device).manual_seed(5)
    assert torch.equal(draw(device, generator=generator).cpu(), first)
    assert torch.equal(draw(device).cpu(), second)  # the default one was left alone


def test_the_cpu_is_left_alone(device):
    state = torch.get_rng_state()
    torch.rand(10, device=device)
    torch.dropout(torch.ones(10, device=device), 0.5, True)
    assert torch.equal(torch.get_rng_state(), state)


def test_states(device):
    state = api.get_rng_state(device)
    assert (state.dtype, state.device.type) == (torch.uint8, "cpu")
    x = torch.rand(10, device=device).cpu()
    assert not torch.equal(api.get_rng_state(device), state)
    api.set_rng_state(state, device)
    assert torch.equal(torch.rand(10, device=device).cpu(), x)
    with torch.random.fork_rng(devices=[0], device_type=NAME):
        torch.rand(10, device=device)
    with pytest.raises(RuntimeError):
        api.set_rng_state(torch.zeros(3, dtype=torch.uint8), device)
    copy = torch.Generator(device).manual_seed(9).clone_state()
    assert copy.initial_seed() == 9


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_generator_of_another_index_is_refused(device, other, draw):
    with pytest.raises(RuntimeError, match=f"Expected a generator of '{device}' but found one of '{other}'"):
        draw(device, generator=torch.Generator(other))
