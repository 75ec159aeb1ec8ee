"""Code that says `cuda` runs on a backend's device while as_cuda is on, and nothing is left of it afterwards."""

import json
import os
import pathlib
import threading

import pytest
import torch
from openreg_gen import command
from openreg_gen import device as devices
from openreg_gen.as_cuda import __main__ as program
from openreg_gen.as_cuda import as_cuda
from openreg_gen.as_cuda.source import compile_source
from openreg_gen.collectives import library_of
from openreg_gen.cuda_names import ROWS

SCRIPTS = pathlib.Path(__file__).parent / "cuda_scripts"
NIGHTLY = ["adversaries", "language", "parallel", "serve", "timing"]


@pytest.fixture
def on(device):
    """The device's name, with the translation on."""
    with as_cuda(device):
        yield device


def test_the_table_has_a_row_for_each_public_name_of_torch_cuda():
    names = {name for name in dir(torch.cuda) if not name.startswith("_")}
    if torch.__version__.startswith("2.13"):
        assert names == set(ROWS)
    else:
        assert names <= set(ROWS), "give each a row in openreg_gen/cuda_names.py"


@pytest.mark.parametrize("name", sorted(name for name, row in ROWS.items() if row.runs.startswith("raises")))
def test_names_without_a_counterpart_say_so_and_what_to_type(on, name):
    with pytest.raises(NotImplementedError) as error:
        getattr(torch.cuda, name)()
    assert f"torch.cuda.{name}" in str(error.value) and f"instead: {ROWS[name].write}" in str(error.value)


def test_names_that_the_backend_lacks_say_so(device, monkeypatch):
    module = devices.module(device)
    if not hasattr(module, "memory_summary"):
        pytest.skip("the backend has no memory_summary")
    monkeypatch.delattr(module, "memory_summary")
    with (
        as_cuda(device),
        pytest.raises(NotImplementedError, match=f"torch.{device} has no such name; the backend has to"),
    ):
        torch.cuda.memory_summary()


def test_the_other_names_are_what_the_table_says(on):
    module = devices.module(on)
    for name, row in ROWS.items():
        where, _, target = row.runs.partition(" ")
        target = target.split(",")[0]
        found = getattr(torch.cuda, name)
        if where == "device" and hasattr(module, target) and isinstance(getattr(module, target), type):
            assert found is getattr(module, target), name
        elif where == "constant":
            assert repr(found() if callable(found) else found) == target, name
        elif where == "here" and name != "default_generators":
            assert "torch.cuda" not in getattr(getattr(found, "__code__", None), "co_filename", ""), name


SNAPSHOT = """
import sys, types
import torch, torch.distributed.device_mesh, torch.utils.data, torch.profiler, multiprocessing.spawn, runpy, threading, builtins
def snapshot():
    # The objects themselves: an address may come back.
    found = {}
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.split(".")[0] in ("torch", "multiprocessing", "runpy", "threading", "builtins", "importlib"):
            for key, value in list(vars(module).items()):
                if name == "builtins" and key == "_":
                    continue
                found[name, key] = value
                if isinstance(value, type):
                    for member, held in list(vars(value).items()):
                        found[name, key, member] = held
    found["registry"] = list(torch.serialization._package_registry)
    found["finders"] = list(sys.meta_path)
    found["modes"] = torch._C._len_torch_function_stack()
    return found
def changed(before):
    after = snapshot()
    missing = object()
    return [key for key, value in before.items() if after.get(key, missing) is not value and key not in ALLOWED
            and not (isinstance(value, (list, int)) and after.get(key) == value)]
ALLOWED = {("sys", "modules")}
before = snapshot()
import openreg_gen, openreg_gen.as_cuda, openreg_gen.as_cuda.__main__
assert not changed(before), changed(before)
assert not torch.cuda.is_available() and torch.device("cuda").type == "cuda"
with openreg_gen.as_cuda.as_cuda(sys.argv[1], folder="."):
    assert len(changed(before)) > 100
    assert torch.ones(2).cuda().is_cuda
    try:
        with openreg_gen.as_cuda.as_cuda(sys.argv[1]): pass
    except RuntimeError as error:
        assert "already on" in str(error)
    else:
        raise AssertionError
try:
    with openreg_gen.as_cuda.as_cuda(sys.argv[1]):
        raise KeyError
except KeyError:
    pass
assert not changed(before), changed(before)
"""


def test_off_it_has_no_effect(device, run_python):
    run_python("-c", SNAPSHOT, device)


def test_devices(on):
    assert torch.device("cuda", 0) == torch.device(on, 0)
    assert torch.device("cuda:0").type == on
    assert torch.cuda.is_available() and torch.cuda.device_count() == devices.count(on)
    for made in (
        torch.ones(2, device="cuda"),
        torch.ones(2).to("cuda:0"),
        torch.ones(2).cuda(),
        torch.ones(2).to("cuda", torch.float64),
        torch.nn.Linear(2, 2).cuda().weight,
        torch.nn.Linear(2, 2, device="cuda").weight,
        torch.nn.Linear(2, 2).to("cuda").weight,
        torch.cuda.FloatTensor([1, 2]),
        torch.ones(2).type("torch.cuda.DoubleTensor"),
        torch.ones(2).untyped_storage().cuda(),
    ):
        assert made.is_cuda and made.device.type == on
    assert not torch.ones(2).is_cuda and not torch.ones(2, device="cuda").cpu().is_cuda
    assert torch.einsum("cuda", torch.ones(1, 1, 1, 1)).shape == (1, 1, 1, 1)  # a word, not a device
    with torch.cuda.device(0), torch.device("cuda"):
        assert torch.ones(1).is_cuda


def test_pytorchs_own_modules_still_see_that_there_is_no_cuda(on):
    inside = {"__name__": "torch.anything", "torch": torch}
    assert torch.cuda.is_available() and not eval("torch.cuda.is_available()", inside)


def test_amp(on):
    x = torch.ones(4, 4, device="cuda")
    with torch.autocast("cuda", torch.float16):
        assert torch.is_autocast_enabled("cuda") and torch.is_autocast_enabled()
        assert (x @ x).dtype == torch.float16
    with pytest.warns(FutureWarning), torch.cuda.amp.autocast():
        assert (x @ x).dtype == torch.float16
    for scaler in (torch.amp.GradScaler(), torch.amp.GradScaler("cuda"), torch.amp.GradScaler(device="cuda")):
        assert scaler.is_enabled() and scaler.scale(x.sum()).is_cuda

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
        def forward(ctx, a):
            return a @ a

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(ctx, gradient):
            return gradient

    with torch.autocast("cuda", torch.float16):
        assert Product.apply(x.half().requires_grad_()).dtype == torch.float32


def test_streams_events_and_generators(on):
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        event.record()
    with torch.cuda.stream(None):
        pass
    end = torch.Event("cuda", enable_timing=True)
    end.record()
    torch.cuda.synchronize("cuda:0")
    assert event.elapsed_time(end) is not None
    for made, kind in (
        (stream, torch.cuda.Stream),
        (event, torch.cuda.Event),
        (end, torch.Event),
        (torch.Stream("cuda"), torch.Stream),
    ):
        assert isinstance(made, kind) and made.device.type == on
    generator = torch.Generator("cuda").manual_seed(1)
    assert isinstance(generator, torch.Generator)
    assert torch.rand(2, device="cuda", generator=generator).is_cuda
    torch.cuda.manual_seed(3)
    first = torch.rand(2, device="cuda")
    torch.cuda.manual_seed_all(3)
    assert torch.equal(first, torch.rand(2, device="cuda"))


def test_backward_runs_the_scripts_code_with_the_translation(on):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return gradient + torch.ones(2, device="cuda")

    x = torch.ones(2, device="cuda", requires_grad=True)
    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    (gradient,) = torch.autograd.grad(Twice.apply(x).sum(), x)
    assert gradient.tolist() == [2, 2]


def test_threads(on):
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.ones(1, device="cuda").is_cuda))
    thread.start()
    thread.join(60)
    assert found == [True]


def test_checkpoints(device, tmp_path):
    there = tmp_path / "there.pt"
    registry = torch.serialization._package_registry
    tagged_as_cuda = (0, lambda storage: "cuda:0", lambda storage, location: None)
    registry.insert(0, tagged_as_cuda)
    try:
        torch.save({"a": torch.arange(3.0)}, there)  # a file that a CUDA machine may have written
    finally:
        registry.remove(tagged_as_cuda)
    with pytest.raises(RuntimeError, match="CUDA"):
        torch.load(there)
    with as_cuda(device):
        here = tmp_path / "here.pt"
        torch.save({"a": torch.arange(3.0).cuda()}, here)
        for path in (there, here):
            for where in (None, "cuda", "cuda:0", torch.device("cuda"), lambda storage, _: storage.cuda()):
                loaded = torch.load(path, map_location=where)["a"]
                assert loaded.is_cuda and loaded.tolist() == [0, 1, 2]
            for where in ("cpu", {"cuda:0": "cpu"}, lambda storage, _: storage):
                assert not torch.load(path, map_location=where)["a"].is_cuda
    assert torch.load(there, map_location="cpu")["a"].tolist() == [0, 1, 2]


def test_nccl_is_the_backends_library(on):
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    own, why = library_of(on)
    assert torch.distributed.is_nccl_available() == (own is not None)
    if own is None:
        with pytest.raises(NotImplementedError, match="gloo") as refused:
            torch.distributed.init_process_group("nccl")
        assert why in str(refused.value)
    else:
        assert torch.distributed.is_backend_available("nccl")


def test_comparisons_with_cuda(device):
    source = """
found = [x.device.type == "cuda", "cuda" != x.device.type, x.device.type in ("xpu", "cuda"), str(x.device).startswith("cuda"),
         x.device.type == "cpu", "cuda" in str(x.device), library == "nccl", "cuda" == "cuda"]
"""
    from openreg_gen.as_cuda.source import _HELPER, _said

    names = {"x": torch.ones(1, device=device), "library": "own", _HELPER: _said(device, "own")}
    exec(compile_source(source, "somewhere.py"), names)
    assert names["found"] == [True, False, True, True, False, True, True, True]


def test_what_the_program_refuses(device, capsys, tmp_path):
    (tmp_path / "script.py").touch()
    for words, code, text in (
        (["--device", "nothing", str(tmp_path / "script.py")], 3, "no device 'nothing'"),
        (["--device", "cpu", str(tmp_path / "script.py")], 3, "can't stand in"),
        (["--device", device, str(tmp_path / "other.py")], 2, "no such script"),
        (["--table"], 0, "mem_get_info"),
    ):
        with pytest.raises(SystemExit) as done, command.reported():
            program.main(words)
        printed = capsys.readouterr()
        assert done.value.code in (code, None) and text in printed.out + printed.err


def test_a_scripts_modules_and_its_exit_code(device, run_python, tmp_path):
    (tmp_path / "script.py").write_text("import sys, helper; sys.exit(helper.answer)\n")
    (tmp_path / "helper.py").write_text("import torch\nanswer = 7 if torch.device('cuda').type == 'cuda' else 8\n")
    run_python("-m", "openreg_gen.as_cuda", "--device", device, "script.py", code=7)
    assert not list(tmp_path.rglob("*.pyc"))  # a program without as_cuda would use them


@pytest.mark.parametrize("name", ["digits", *(pytest.param(name, marks=pytest.mark.nightly) for name in NIGHTLY)])
def test_scripts_run_unchanged_and_equal_the_cpu(device, run_python, tmp_path, name):
    if name == "parallel" and devices.count(device) < 2:
        pytest.skip("one device, and two processes on the CPU")
    script = SCRIPTS / f"{name}.py"
    words = ["--epochs", "1"] if name == "digits" and "OPENREG_GEN_NIGHTLY" not in os.environ else []
    run_python(script, "--out", "cpu.json", *words)
    run_python("-m", "openreg_gen.as_cuda", "--device", device, script, "--out", "device.json", *words)
    cpu, there = (json.loads((tmp_path / f"{where}.json").read_text()) for where in ("cpu", "device"))
    assert there.pop("on_gpu") and not cpu.pop("on_gpu")
    # Only digits.py computes in float16.
    tolerance = {"rtol": 5e-3, "atol": 5e-3} if name == "digits" else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(torch.tensor(there["losses"]), torch.tensor(cpu["losses"]), **tolerance)


@pytest.mark.nightly
def test_torchrun(device, run_python, tmp_path):
    if devices.count(device) < 2:
        pytest.skip("one device")
    run = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "openreg_gen.as_cuda")
    run_python(*run, "--device", device, SCRIPTS / "parallel.py", "--out", "device.json")
    run_python(SCRIPTS / "parallel.py", "--out", "cpu.json")
    cpu, there = (json.loads((tmp_path / f"{where}.json").read_text()) for where in ("cpu", "device"))
    assert there.pop("on_gpu") and not cpu.pop("on_gpu")
    torch.testing.assert_close(torch.tensor(there["losses"]), torch.tensor(cpu["losses"]))


@pytest.mark.nightly
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_compiled_functions(on, backend):
    def calls(x):
        y = x.to("cuda") + torch.cuda.current_device()
        torch.cuda.synchronize()
        return y + torch.zeros(2, device="cuda")

    def asks(x):
        return x.cuda() + 1 if x.is_cuda and torch.cuda.is_available() else x

    def on_a_stream(x):
        with torch.cuda.stream(torch.cuda.Stream()):
            return x + 1

    def mixed(x):
        with torch.autocast("cuda", torch.float16):
            return torch.stack([x, x]) @ torch.stack([x, x])

    x = torch.ones(2, device="cuda")
    for function in (calls, asks, on_a_stream, mixed):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend)(x)
        torch.cuda.synchronize()
        torch.testing.assert_close(compiled, function(x))


@pytest.mark.nightly
def test_a_compiled_model(device, run_python):
    run_python("-m", "openreg_gen.as_cuda", "--device", device, SCRIPTS / "serve.py", "--compile")
