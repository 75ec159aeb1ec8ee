"""openreg-gen sanitize says what it did not see: never "no race" of work that nobody looked at."""

import importlib
import json
import multiprocessing
import os
import sys
import threading

import pytest
import torch
from openreg_gen.sanitize import Sanitizer
from openreg_gen.sanitize.__main__ import main
from openreg_gen.sanitize.unseen import Unseen, Watch

SIZE = 1 << 12


@pytest.fixture
def hooked(device):
    if not hasattr(getattr(torch, device), "_gpu_trace"):
        pytest.skip("the backend calls no trace hooks")
    torch.accelerator.synchronize()
    return device


def test_a_thread_that_started_earlier(hooked):
    begin, x = threading.Event(), torch.zeros(SIZE, device=hooked)

    def work():
        begin.wait(60)
        x.add_(1)

    thread = threading.Thread(target=work, name="an old one")
    thread.start()
    with Sanitizer(hooked) as races:
        begin.set()
        thread.join()
    torch.accelerator.synchronize()
    assert races.unseen[Unseen.EARLIER_THREADS] >= 1
    assert "an old one" in races.threads
    assert "no race in what was seen\nnot seen (" in str(races)


def test_a_pool_that_started_earlier(hooked):
    """Tasks that are submitted to it are seen."""
    from concurrent.futures import ThreadPoolExecutor

    x = torch.zeros(SIZE, device=hooked)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with Sanitizer(hooked) as races:
            pool.submit(x.add_, 1).result()
        torch.accelerator.synchronize()
    assert races.calls == 1
    assert Unseen.EARLIER_THREADS not in races.unseen


def test_a_thread_of_another_library(hooked):
    """Python doesn't start it, but its hooks are heard."""
    side = torch.Stream(hooked)
    with Sanitizer(hooked) as races:
        x = torch.ones(SIZE, device=hooked, requires_grad=True)
        (x * 2).sum().backward()  # autograd's threads take the modes with them
        assert not races.unseen
        _foreign_thread(side.record_event)
    assert races.unseen == {Unseen.OTHER_THREADS: 1}


def _foreign_thread(function):
    """A thread of the C library that calls a function of Python."""
    import ctypes

    body = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: function() and None)
    library, thread = ctypes.CDLL(None), ctypes.c_ulong()
    assert library.pthread_create(ctypes.byref(thread), None, body, None) == 0
    library.pthread_join(thread, None)


def test_a_thread_that_outlives_the_sanitizer(hooked):
    end, x = threading.Event(), torch.zeros(SIZE, device=hooked)

    def work():
        end.wait(60)
        x.add_(1)

    with Sanitizer(hooked) as races:
        thread = threading.Thread(target=work)
        thread.start()
    end.set()
    thread.join()
    torch.accelerator.synchronize()
    assert races.calls == 0


def test_nothing_stays_replaced(hooked):
    before = [threading.Thread.start, torch.Tensor.numpy, sys.meta_path[:], "numpy" in vars(torch.Tensor)]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), Sanitizer(hooked):
            1 / 0  # noqa: B018
    assert before == [threading.Thread.start, torch.Tensor.numpy, sys.meta_path[:], "numpy" in vars(torch.Tensor)]


def test_numpy_of_memory_that_a_stream_copies(hooked):
    host = torch.ones(SIZE).pin_memory()
    array = host.numpy()
    with Sanitizer(hooked) as races:
        host.numpy()
        torch.accelerator.synchronize()
        assert not races.unseen
        host.to(hooked, non_blocking=True)
        array[:] = 5
        torch.accelerator.synchronize()
    assert races.unseen == {Unseen.POINTERS: 1}
    assert "numpy" in str(races)


def test_a_process(hooked):
    with Sanitizer(hooked) as races:
        x = torch.ones(4)
        process = multiprocessing.get_context("fork").Process(target=x.add_, args=(1,))
        process.start()
        process.join(60)
    assert process.exitcode == 0
    assert races.unseen == {Unseen.PROCESSES: 1}


def test_a_child_forked_while_another_thread_holds_the_lock(hooked):
    with Sanitizer(hooked):
        sanitizer = torch.utils._python_dispatch._get_current_dispatch_mode()._sanitizer
        held, release = threading.Event(), threading.Event()

        def hold():
            with sanitizer.lock:
                held.set()
                release.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(60)
        child = os.fork()
        if child == 0:
            torch.ones(4).add_(1)
            os._exit(7)
        release.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class _Graph:
    def replay(self):
        return 5


class _Derived(_Graph):
    pass


class _Module:
    Graph, Derived = _Graph, _Derived


def test_replays_of_graphs():
    noted = []
    watch = Watch(_Module, noted.append)
    watch.open()
    assert (_Graph().replay(), _Derived().replay()) == (5, 5)
    watch.close()
    _Graph().replay()
    assert noted == [Unseen.REPLAYS] * 2


@pytest.mark.parametrize("imported", [True, False])
def test_calls_of_compiled_graphs(monkeypatch, tmp_path, imported):
    """With a module in Inductor's place, which is imported before or later."""
    name = "torch._inductor.output_code"
    (tmp_path / "output_code.py").write_text(
        "class OutputCode: pass\nclass Compiled(OutputCode):\n    def __call__(self, inputs): return inputs\n"
    )
    package = type(sys)("torch._inductor")
    package.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "torch._inductor", package)
    monkeypatch.setitem(sys.modules, name, None)  # puts back what was there
    del sys.modules[name]
    noted = []
    watch = Watch(_Module, noted.append)
    if imported:
        importlib.import_module(name)
    watch.open()
    graph = importlib.import_module(name).Compiled()
    assert [graph(1), graph(2)] == [1, 2]
    watch.close()
    graph(3)
    assert noted == [Unseen.COMPILED] * 2


@pytest.mark.nightly
def test_what_inductor_compiled(hooked):
    compiled = torch.compile(lambda x: (x * 2 + 1).relu(), fullgraph=True)
    with Sanitizer(hooked) as races:
        compiled(torch.ones(64, device=hooked))
        compiled(torch.ones(64, device=hooked))
        torch.accelerator.synchronize()
    assert races.unseen.get(Unseen.COMPILED) == 2, str(races)


def test_the_command_says_it(hooked, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing\n"
        "process = multiprocessing.get_context('fork').Process(target=int)\n"
        "process.start()\n"
        "process.join()\n"
    )
    assert main(("--device", hooked, f"--json={tmp_path}/found.json", str(script))) == 0
    assert "not seen (1): other processes" in capsys.readouterr().err
    assert json.loads((tmp_path / "found.json").read_text())["unseen"] == {"processes": 1}


@pytest.mark.nightly
def test_pytest_says_it(hooked, run_python, tmp_path):
    (tmp_path / "test_process.py").write_text(
        "import multiprocessing\n"
        "def test_it():\n"
        "    process = multiprocessing.get_context('fork').Process(target=int)\n"
        "    process.start()\n"
        "    process.join()\n"
    )
    plugin = ("-p", "openreg_gen.sanitize.pytest_plugin")
    done = run_python("-m", "pytest", "-q", *plugin, "test_process.py", OPENREG_GEN_DEVICE=hooked)
    assert "sanitizer: not seen (1): other processes" in done.stdout
