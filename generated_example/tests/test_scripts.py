# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What scripts do that no single operator shows: processes that fork and end, threads on one tensor, memory that runs out."""

import gc
import os
import subprocess
import sys
import threading

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def run(code: str) -> None:
    """In a process of its own, which ends well and says nothing."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.no_device
def test_import_uses_no_device_and_exit_is_clean():
    run("""
import torch, torch_openreg
assert not torch.openreg.is_initialized()
torch.manual_seed(0)
torch.openreg.device_count()
assert not torch.openreg.is_initialized()
if torch.openreg.is_available():
    keep = [torch.ones(10, device="openreg"), torch.ones(10).pin_memory(), torch.openreg.Stream()]
    keep.append(keep[-1].record_event())
    keep.append(keep)  # a cycle: freed while the interpreter ends, or never
""")


def test_fork_before_first_use():
    run("""
import os, torch, torch_openreg
child = os.fork()
assert torch.ones(3, device="openreg").tolist() == [1, 1, 1]
if child:
    assert os.waitpid(child, 0)[1] == 0
""")


def test_forked_child_knows(device):
    x = torch.ones(100, device=device)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        known = api._is_in_bad_fork() and not api.is_initialized()
        torch.manual_seed(1)  # leaves the device alone
        try:
            torch.ones(1, device=device)
        except RuntimeError as error:
            os.write(write, f"{known}: {error}".encode())
        del x  # what it would free is the parent's
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    assert said.startswith("True: ") and "forked subprocess" in said and "spawn" in said
    assert os.waitpid(child, 0)[1] == 0
    assert not api._is_in_bad_fork()
    assert x.tolist() == [1] * 100


def run_together(*functions):
    """Runs each on a thread of its own, all from one moment on; raises what one of them raised."""
    start = threading.Barrier(len(functions))
    errors = []

    def run(function):
        try:
            start.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_two_threads_read_one_tensor(device):
    x = torch.arange(1000.0).reshape(20, 50)
    y = x.to(device)

    def read():
        for _ in range(20):
            assert torch.equal(y.t().contiguous().cpu(), x.t())
            assert torch.equal(y[:, ::3].cpu(), x[:, ::3])

    run_together(read, read)


def test_two_threads_write_halves_of_one_tensor(device):
    x = torch.zeros(2, 1000, device=device)

    def write(row, value):
        for step in range(20):
            x[row].fill_(value + step)
            x[row, ::2].copy_(torch.full((500,), -1.0))

    run_together(lambda: write(0, 100), lambda: write(1, 200))
    expected = torch.full((2, 1000), -1.0)
    expected[0, 1::2], expected[1, 1::2] = 119, 219
    assert torch.equal(x.cpu(), expected)


def test_two_threads_with_streams_of_their_own(device):
    x = torch.full((1 << 14,), 3.0, device=device)
    x_is_there = api.current_stream().record_event()

    def work():
        with api.stream(api.Stream(device)) as stream:
            stream.wait_event(x_is_there)
            x.record_stream(stream)
            for _ in range(20):
                assert torch.equal(x.clone().cpu(), torch.full((1 << 14,), 3.0))

    run_together(work, work)


@pytest.mark.parametrize("first", ["resize_", "set_"])
def test_a_tensor_changes_hands(device, first):
    """One thread makes and fills, another reads and drops, time and again: memory goes from thread to thread."""
    made, taken = threading.Semaphore(0), threading.Semaphore(1)
    box = []

    def make():
        for step in range(50):
            taken.acquire()
            x = torch.empty(0, device=device)
            x = x.resize_(100 + step) if first == "resize_" else x.set_(torch.empty(100 + step, device=device))
            box.append(x.fill_(step))
            del x
            made.release()

    def take():
        for step in range(50):
            made.acquire()
            x = box.pop()
            taken.release()
            assert torch.equal(x.cpu(), torch.full((100 + step,), float(step)))

    run_together(make, take)


def test_two_threads_compute_with_one_tensor(device):
    x = torch.rand(40, 50, generator=torch.Generator().manual_seed(0))
    y = x.to(device).requires_grad_()
    gradients = []

    def compute():
        for _ in range(10):
            assert torch.equal(y.detach().cumsum(0).cpu(), x.cumsum(0))
            gradients.append(torch.autograd.grad((y * y).sum(), y)[0])

    run_together(compute, compute)
    assert all(torch.equal(gradient.cpu(), 2 * x) for gradient in gradients)


MIB = 1 << 20
# Results of 64 MiB and more.
BEYOND_MEMORY = {
    "new": lambda x, out: torch.cumsum(x.expand(16, -1), 1),
    "several": lambda x, out: torch.sort(x.expand(16, -1), 1),
    "given": lambda x, out: torch.cumsum(x.expand(16, -1), 1, out=out),
    "resized": lambda x, out: out.resize_(16 * MIB),
    "composite": lambda x, out: torch.cdist(x[:4096, None], x[:4096, None]),
}


@pytest.fixture
def little_memory(device):
    """Room for 32 MiB beside what is there."""
    gc.collect()
    api.empty_cache()
    _, total = api.mem_get_info(device)
    api.set_per_process_memory_fraction((api.memory_reserved(device) + 32 * MIB) / total, device)
    yield
    api.set_per_process_memory_fraction(1.0, device)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("run", BEYOND_MEMORY.values(), ids=BEYOND_MEMORY)
def test_inputs_are_whole_after_memory_ran_out(device, little_memory, run):
    x = torch.arange(MIB, dtype=torch.float32)
    y, out = x.to(device), torch.full((3,), 2.0, device=device)
    address = y.data_ptr()
    with pytest.raises(torch.OutOfMemoryError):
        run(y, out)
    assert y.data_ptr() == address
    assert torch.equal(y.cpu(), x)
    assert torch.equal(out.cpu(), torch.full((3,), 2.0))
    del y
    assert torch.equal(torch.full((MIB,), 5.0, device=device).cpu(), torch.full((MIB,), 5.0))  # and there is room again
