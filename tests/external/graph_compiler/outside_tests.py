"""Tests of what docs/guides/graph-compiler.md promises, by someone who read nothing else: ../../test_outside_graph_compiler.py runs them.

Each function of TESTS is one test. They run in one process, beside a mock compiler whose compile() `plant` may replace, and start others
for what a process does once. By hand, with a copy of the mock's tree on PYTHONPATH whose compiler.py ends in PLANT:

    python outside_tests.py NAME ...
"""

# ruff: noqa: B023 - the functions that a loop makes are called in the same turn

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

PLANT = """

plant = None  # called with the compile() above and its arguments
real, plain_version = compile, version


def compile(graph, inputs):
    (output,) = graph.graph.find_nodes(op="output")
    if len(output.args[0]) != 1:
        raise Refusal("outputs", "the mock's executables have one output")
    return plant(real, graph, inputs) if plant else real(graph, inputs)


def version():
    return plain_version() + os.environ.get("PLANTED_VERSION", "")
"""

if __name__ == "__main__":
    import torch
    import torch._dynamo
    from torch_mybackend import compiler
    from torch_mybackend._graph import Refusal, set_settings

    api, device = torch.mybackend, "mybackend"


def pair(*sizes, start=-2.0):
    """A tensor of the CPU and its copy on the device. Nobody else uses these sizes, so the graphs are new ones."""
    count = int(torch.Size(sizes).numel())
    host = torch.arange(count, dtype=torch.float32).reshape(sizes) / 8 + start
    return host, host.to(device)


def same(got, wanted, strides=True):
    assert got.device.type == device and got.dtype == wanted.dtype, (got.device, got.dtype, wanted.dtype)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    assert not strides or got.stride() == wanted.stride(), (got.stride(), wanted.stride())
    torch.testing.assert_close(got.cpu(), wanted, equal_nan=True)


def both(function, *hosts, strides=True):
    """The function on the CPU's tensors and on the device's: the same results, or the same kind of error."""
    mine = [each.to(device) if isinstance(each, torch.Tensor) else each for each in hosts]
    for host, there in zip(hosts, mine, strict=False):
        if isinstance(host, torch.Tensor) and not host.is_contiguous():
            assert there.stride() == host.stride(), "to() keeps strides"
    answers = []
    for arguments in (hosts, mine):
        try:
            answers.append(function(*arguments))
        except Exception as error:
            answers.append(error)
    wanted, got = answers
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        assert type(got) is type(wanted), (wanted, got)
        return
    wanted, got = [each if isinstance(each, (tuple, list)) else [each] for each in (wanted, got)]
    for one, other in zip(got, wanted, strict=True):
        same(one, other, strides) if isinstance(other, torch.Tensor) else torch.testing.assert_close(one, other)


def refuse():
    raise Refusal("planted", "not here")


def graphs():
    return [row.graph for row in api.compilations()]


@contextlib.contextmanager
def planted(function):
    compiler.plant = function
    try:
        yield
    finally:
        compiler.plant = None


class Asked:
    """A compile() that counts its calls, and does what `then` does."""

    def __init__(self, then=None):
        self.graphs, self.then = [], then

    def __call__(self, real, graph, inputs):
        self.graphs.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
        return self.then(real, graph, inputs) if self.then else real(graph, inputs)


CHILD = """
import os, sys, time, torch, torch_mybackend
from torch_mybackend import compiler
api = torch.mybackend
x, y = torch.arange(12.).reshape(3, 4), torch.ones(3, 4) * 3
a, b = x.to("mybackend"), y.to("mybackend")
calls = [lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p[0] + q[0], lambda p, q: p[0] - q[0], lambda p, q: p[0] * q[0]]
def every():
    for i, call in enumerate(calls):
        got, wanted = call(a, b).cpu(), call(x, y)
        assert torch.equal(got, wanted), (i, got, wanted)
def sources(): return [row.source for row in api.compilations()]
"""


def child(script, wait=True, **environment):
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD + script],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return finished(process) if wait else process


def finished(process, check=True):
    try:
        out, err = process.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert not check or process.returncode == 0, out + err
    return out, err


def refused(op):
    return sum(row.calls for row in api.refusals() if row.op == op)


# The tests.


def cache_files():
    """Two processes at once, then files that are truncated, wrong, zeros or gone, another version, and a full folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "torch_mybackend/graphs"
        both_ = [child("every(); print(sources())", wait=False, MYBACKEND_GRAPH_CACHE=folder) for _ in range(2)]
        for process in both_:
            assert finished(process)[0].count("'") == 12
        files = sorted(place.iterdir())
        assert len(files) == 6, [each.name for each in files]  # no temporary ones are left
        kept = [each.read_bytes() for each in files]
        files[0].write_bytes(kept[0][: len(kept[0]) // 2])
        files[1].write_bytes(b"")
        files[2].write_bytes(os.urandom(len(kept[2])))
        files[3].write_bytes(kept[3][:-1])
        files[4].write_bytes(b"\0" * len(kept[4]))
        files[5].unlink()
        (place / "notes.txt").write_text("foreign")
        (place / ("0" * 64)).symlink_to(place / "nowhere")
        out, err = child("every(); print(sources().count('compiler'))", MYBACKEND_GRAPH_CACHE=folder)
        assert out.strip() == "6", (out, err)  # none was taken from the disk
        script = "every(); every(); s = sources(); print(len(s), s.count('compiler'))"
        out, err = child(script, MYBACKEND_GRAPH_CACHE=folder, MYBACKEND_GRAPH_CACHE_FILES="3", PLANTED_VERSION="2")
        assert out.strip() == "6 6", (out, err)
        left = [
            each for each in place.iterdir() if each.is_file() and not each.is_symlink() and each.name != "notes.txt"
        ]
        assert len(left) <= 3, left
        assert (place / "notes.txt").read_text() == "foreign"


def cache_folder():
    """A folder that has a name like a file's isn't removed, and doesn't keep the others from being counted."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "torch_mybackend/graphs"
        (place / ("1" * 64)).mkdir(parents=True)
        (place / ("1" * 64) / "precious").write_text("foreign")
        child("every()", MYBACKEND_GRAPH_CACHE=folder, MYBACKEND_GRAPH_CACHE_FILES="3")
        assert (place / ("1" * 64) / "precious").exists()
        left = [each for each in place.iterdir() if each.is_file()]
        assert len(left) <= 3, left


def cache_content():
    """A file that is whole, but another graph's (a copy that went wrong), must not make wrong results."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "torch_mybackend/graphs"
        child("every()", MYBACKEND_GRAPH_CACHE=folder)
        files = sorted(place.iterdir())
        kept = [each.read_bytes() for each in files]
        for file, data in zip(files, kept[1:] + kept[:1], strict=False):
            file.write_bytes(data)
        child("every()", MYBACKEND_GRAPH_CACHE=folder)


def cache_nowhere():
    """Folders that can't be written: results are right, the compiler works, and nothing else is written. A time limit while FALLBACK=none."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file"
        file.write_text("a file")
        script = """
every(); every(); assert sources() == ["compiler"] * 6, sources()
def garbage(real, graph, inputs): return b"not an executable"
def fails(real, graph, inputs): raise ValueError("the planted text")
def refuses(real, graph, inputs): raise compiler.Refusal("planted", "the planted reason")
c = x.reshape(2, 6).to("mybackend")
for plant, text in (garbage, ""), (fails, "the planted text"), (refuses, "the planted reason"):
    if "def version" in open(compiler.__file__).read(): compiler.plant = plant
    try:
        c * c if plant is garbage else c - c if plant is fails else c + c
    except RuntimeError as error:
        name = "aten::mul" if plant is garbage else "aten::sub" if plant is fails else "aten::add"
        assert name in str(error) and text in str(error), (plant, str(error))
    else:
        assert False, plant
compiler.plant = None
try: torch.exp(c)
except RuntimeError as error: assert "exp" in str(error) and "aten.exp.default" in str(error), error
else: assert False
"""
        for place in (str(file), "/proc/nowhere"):
            child(script, MYBACKEND_GRAPH_CACHE=place, MYBACKEND_FALLBACK="none")
        assert [each.name for each in pathlib.Path(folder).iterdir()] == ["file"] and file.read_text() == "a file"


def refusals():
    """A refusal is final, other exceptions aren't; odd results of compile() are neither wrong results nor crashes; counts are exact."""
    host, mine = pair(5, 7)
    asked = Asked(lambda *_: (_ for _ in ()).throw(Refusal("planted", "a reason\nof two lines, with a % and {}")))
    with planted(asked):
        for _ in range(50):
            same(mine + mine, host + host)
    assert len(asked.graphs) == 1, asked.graphs
    rows = [row for row in api.refusals() if row.category == "planted"]
    assert [(row.op, row.calls) for row in rows] == [("aten::add.out", 50)], rows
    assert "of two lines, with a % and {}" in rows[0].reason
    for error in (ValueError("planted"), Refusal("planted2", "passing", permanent=False)):
        host, mine = pair(5, 8 if isinstance(error, ValueError) else 9)
        asked = Asked(lambda *_: (_ for _ in ()).throw(error))
        with planted(asked):
            for _ in range(300):
                same(mine + mine, host + host)
        assert 2 <= len(asked.graphs) <= 40, len(asked.graphs)  # again, but less often each time
    for i, odd in enumerate((None, "text", b"", bytearray(b"x"), 7, memoryview(b"add"), [])):
        host, mine = pair(6, 7 + i)
        with planted(lambda *_: odd):
            for _ in range(4):
                same(mine - mine, host - host)
    for error in (SystemExit(3), GeneratorExit(), MemoryError(), RecursionError()):
        host, mine = pair(3, 7 + len(type(error).__name__))
        with planted(Asked(lambda *_: (_ for _ in ()).throw(error))), contextlib.suppress(SystemExit, GeneratorExit):
            same(mine * mine, host * host)
        same(mine * mine, host * host)


def time_limits():
    """A call waits for MYBACKEND_COMPILE_SECONDS, then the CPU works until the graph is there; Ctrl-C ends a wait; the exit doesn't hang."""
    script = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with the signal ignored
free = threading.Event()
count = []
def hang(real, graph, inputs):
    count.append(1)
    free.wait(100)
    return real(graph, inputs)
while not sources():  # the first compilation imports more than fits into the limit
    a + b
    time.sleep(.1)
compiler.plant = hang
begin = time.time()
assert torch.equal((a - b).cpu(), x - y)
waited = time.time() - begin
assert 1.5 < waited < 20, waited
begin = time.time()
for _ in range(20): assert torch.equal((a - b).cpu(), x - y)
assert len(count) == 1, count
assert time.time() - begin < 20 * 2.5 + 5, time.time() - begin
again = (time.time() - begin) / 20
before = len(sources())
threading.Timer(.6, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.time()
try: a * b
except KeyboardInterrupt: print("interrupted after", time.time() - begin)
else: assert False, "no KeyboardInterrupt"
assert time.time() - begin < 1.9
free.set()
until = time.time() + 60
while len(sources()) < before + 2 and time.time() < until:
    assert torch.equal((a - b).cpu(), x - y) and torch.equal((a * b).cpu(), x * y)
    time.sleep(.05)
assert len(sources()) == before + 2, api.compilations()
n = len(count)
a - b, a * b
assert len(count) == n == 2, count
free.clear()
(a[0] + b[0])
print("again", again, "late")
"""
    begin = time.time()
    out, err = child(script, MYBACKEND_COMPILE_SECONDS="2", MYBACKEND_GRAPH_CACHE="off")
    assert "late" in out and time.time() - begin < 150, (out, err)


def settings():
    """Global settings and modes around a compilation change neither results nor what is compiled; each value has its own graph, once."""
    host, mine = pair(4, 9)
    numbers = torch.arange(1, 13).reshape(3, 4)
    for kind in (torch.float64, torch.float32, torch.float64, torch.bfloat16, torch.float32):
        torch.set_default_dtype(kind)
        try:
            # The mock takes a division whose result it can't store, bfloat16: that fault is its own.
            with planted(lambda real, graph, inputs: real(graph, inputs) if kind != torch.bfloat16 else refuse()):
                both(lambda p: (p + 2.5, p / 2, p * 0.1, p / p), numbers)
            both(lambda p: (p + 2.5, p * 0.1, torch.full_like(p, 3) + p), host)
        finally:
            torch.set_default_dtype(torch.float32)
    asked = Asked()
    with planted(asked):
        for value in ("high", "highest", "high", "highest"):
            torch.set_float32_matmul_precision(value)
            same(mine - mine, host - host)
        first = len(asked.graphs)
        assert first <= 2, asked.graphs
        set_settings(precision="a")
        same(mine - mine, host - host)
        set_settings(precision="b")
        same(mine - mine, host - host)
        assert len(asked.graphs) == first + 2, asked.graphs
        set_settings(precision="a")
        same(mine - mine, host - host)
        assert len(asked.graphs) == first + 2, asked.graphs
        set_settings()
        same(mine - mine, host - host)
        assert len(asked.graphs) == first + 2, asked.graphs
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    class Seen(torch.utils._python_dispatch.TorchDispatchMode):
        names = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.names.append(str(function))
            return function(*args, **(kwargs or {}))

    def ops(i):
        host, mine = pair(4, 10 + i)
        return host, mine

    before = len(graphs())
    host, mine = ops(0)
    torch.set_default_device(device)
    try:
        got = mine * mine
    finally:
        torch.set_default_device(None)
    same(got, host * host)
    host, mine = ops(1)
    with Seen():
        got = mine * mine
    assert Seen.names == ["aten.mul.Tensor"], Seen.names
    same(got, host * host)
    host, mine = ops(2)
    with torch.inference_mode():
        got = mine * mine
    same(got, host * host)
    host, mine = ops(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = mine * mine
    same(got, host * host)
    host, mine = ops(4)
    with FlopCounterMode(display=False), torch.device("meta"):
        got = mine * mine
    same(got, host * host)
    host, mine = ops(5)
    same(torch.func.vmap(lambda p: p * p)(mine), host * host)
    host, mine = ops(6)
    with FakeTensorMode(allow_non_fake_inputs=True):
        fake = torch.empty(4, 16, device=device)
        assert (fake * fake).shape == (4, 16)
    same(mine * mine, host * host)
    host, mine = ops(7)
    torch.use_deterministic_algorithms(True)
    try:
        same(mine * mine, host * host)
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(graphs()) - before == 8, graphs()[before:]


def aliasing():
    """In place and out=: what the CPU does, with overlaps, views, other sizes and other dtypes."""
    host = torch.arange(30.0).reshape(5, 6)

    def whole(function):
        """The result, and all that the arguments have become."""

        def call(p, q):
            p, q = p.clone(), q.clone()
            made = function(p, q)
            return made, p, q, p._version

        both(call, host, host + 1)

    def empty(like, *size, **options):
        return torch.empty(*size, device=like.device, **options)

    whole(lambda p, q: p.add_(p))
    whole(lambda p, q: torch.add(p, q, out=p))
    whole(lambda p, q: torch.sub(p, q, out=q))
    whole(lambda p, q: torch.mul(p, p, out=p))
    whole(lambda p, q: torch.add(p[1:], q[1:], out=p[:-1]))
    whole(lambda p, q: torch.add(p.view(-1)[1:], q.view(-1)[1:], out=p.view(-1)[:-1]))
    whole(lambda p, q: p.t().sub_(q.t()))
    whole(lambda p, q: p[::2].mul_(q[::2]))
    whole(lambda p, q: p[:, 1::2].add_(q[:, ::2]))
    whole(lambda p, q: p.add_(p.view(-1)[:6]))
    whole(lambda p, q: p[:5, :5].add_(p[:5, :5].t()))
    whole(lambda p, q: p[0].expand(5, 6).add_(q))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 6, 5).t()))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 0)))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 2, 3)))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 5, 6, dtype=torch.float64)))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 5, 6, dtype=torch.int64)))
    whole(lambda p, q: torch.add(p, q, out=empty(p, 5, 6, dtype=torch.float16)))
    whole(lambda p, q: p.add_(q[:, :5]))
    whole(lambda p, q: p.add_(empty(p, 2, 5, 6)))
    whole(lambda p, q: p.long().add_(q))
    whole(lambda p, q: p.add_(q.long()))
    made = (host.to(device), host.to(device))
    out = torch.empty(5, 6, device=device)
    assert torch.add(*made, out=out) is out and made[0].add_(made[1]) is made[0]
    view = made[0].view(30)[3:9]
    made[0].sub_(made[1])
    torch.testing.assert_close(view.cpu(), host.view(30)[3:9])
    leaf = host.to(device).requires_grad_()
    result = leaf * leaf
    kept = result * result
    result.add_(1)
    try:
        kept.sum().backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
    else:
        raise AssertionError("a changed tensor that backward needs is not an error")
    try:
        made[0] + torch.ones(4, 6, device=device)
    except RuntimeError as error:
        assert "must match the size" in str(error), error
    else:
        raise AssertionError("sizes that don't fit are not an error")


def layouts_and_numbers():
    """Views, strides, no elements, one element and numbers are as on the CPU; numbers that float32 doesn't have don't reach compile()."""
    x = torch.arange(48.0).reshape(2, 3, 2, 4) - 20
    for form in (
        lambda p: p.permute(3, 0, 2, 1),
        lambda p: p.contiguous(memory_format=torch.channels_last),
        lambda p: p[:, 1:, :, 1::2],
        lambda p: p.view(-1)[5:11],
        lambda p: p[:, :1].expand(2, 3, 2, 4),
        lambda p: p.as_strided((3, 3), (2, 1), 7),
        lambda p: p.view(torch.int32).view(torch.float32),
        lambda p: p.flip(1)[:0],
        lambda p: p[1, 2, 1, 3],
        lambda p: p[:1, :1, :1, :1],
        lambda p: torch.view_as_complex(p.reshape(-1, 2)).real,
    ):
        both(lambda p: (form(p) + form(p), form(p) * form(p + 1), form(p) - form(p).contiguous()), x)
    both(lambda p: (p + p, p * 2, p - p.sum(), p.sum(0)), torch.empty(0, 3))
    both(lambda p: (p + p, p.add_(1), p * True, 3 - p), torch.tensor(2.0))
    both(lambda p: (p + torch.tensor(2.0), p * torch.tensor(3), p * torch.tensor(2.0, dtype=torch.float64)), x)
    asked = Asked()
    odd = [
        1e300,
        -1e300,
        1e-60,
        float("inf"),
        float("nan"),
        -0.0,
        2**24 + 1,
        2**31,
        0.1,
        3.0000000000000004,
        True,
        1 + 2j,
        2**63 - 1,
        2**64,
    ]
    with planted(asked):
        for number in odd:
            both(lambda p: p[0] * number, x)
            both(lambda p: p[0] + number, x)
            both(lambda p: torch.sub(p[0], p[1], alpha=number), x)
    ints = torch.tensor([[1, -7, 2**53 + 1], [2**62, -(2**63), 3]])
    for number in (1, -3, 2**62, 2**53 + 1, 2.5):
        both(lambda p: (p + number, p * number, p - number), ints)
    both(lambda p: (p + p, p * p, p / p, p / 3, p // 3), ints)
    both(lambda p: (p / p, p / 2, torch.div(p, p, rounding_mode="floor")), torch.tensor([0, 1, -1]))


def training():
    """Autograd and dropout: gradients are the CPU's, a second step compiles nothing, seeds repeat, memory and counts stay as they are."""
    nn = torch.nn
    torch.manual_seed(0)
    host = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))
    import copy

    mine = copy.deepcopy(host).to(device)
    x, target = torch.randn(4, 6), torch.tensor([0, 2, 1, 1])

    def step(model, x, target):
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target) + sum((p * p).sum() for p in model.parameters())
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        return loss.item()

    there = x.to(device), target.to(device)
    first = step(mine, *there)
    torch.testing.assert_close(first, step(host, x, target), rtol=1e-4, atol=1e-5)
    count = len(graphs())
    for _ in range(3):
        torch.testing.assert_close(step(mine, *there), step(host, x, target), rtol=1e-4, atol=1e-5)
    assert len(graphs()) == count, graphs()[count:]
    for p, q in zip(mine.parameters(), host.parameters(), strict=False):
        torch.testing.assert_close(p.grad.cpu(), q.grad, rtol=1e-3, atol=1e-4)

    def twice(p):
        p = p.detach().requires_grad_()
        (once,) = torch.autograd.grad((p * p * p).sum(), p, create_graph=True)
        (second,) = torch.autograd.grad((once * p).sum(), p)
        return once.detach(), second

    both(twice, x)
    ones = torch.ones(64, 16, device=device)
    masks = []
    for _ in range(2):
        torch.manual_seed(5)
        masks.append([nn.functional.dropout(ones, 0.5).cpu() for _ in range(2)])
    assert torch.equal(masks[0][0], masks[1][0]) and torch.equal(masks[0][1], masks[1][1])
    assert not torch.equal(masks[0][0], masks[0][1]), "the second mask is the first: a random number was compiled"
    assert set(masks[0][0].unique().tolist()) == {0.0, 2.0}
    assert nn.functional.dropout(ones, 1.0).sum().item() == 0 and torch.equal(
        nn.functional.dropout(ones, 0.0).cpu(), ones.cpu()
    )
    a, b = x.to(device), x.to(device)
    a + b
    api.synchronize()
    import resource

    held, count, peak = api.memory_allocated(), len(graphs()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls, rows = refused("aten::exp.out"), None
    for i in range(5000):
        a + b
        if i % 10 == 0:
            torch.exp(a)
            rows = rows or len(api.refusals())
    api.synchronize()
    assert api.memory_allocated() == held and len(graphs()) == count and len(api.refusals()) == rows
    assert refused("aten::exp.out") - calls == 500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 32 * 1024  # KiB


def whole_graphs():
    """torch.compile: what a graph returns, mutates and doesn't take is as in eager mode; a second call compiles nothing."""
    x, y = torch.arange(35.0).reshape(5, 7) / 8, torch.ones(5, 7) * 3

    def twin(function, *arguments, more=True):
        torch._dynamo.reset()
        whole = torch.compile(function, backend=device)

        def copies():
            return [each.clone().detach() for each in arguments]

        for turn in range(2):
            count = len(graphs())
            wanted_in, got_in = copies(), [each.to(device) for each in copies()]
            wanted, got = function(*wanted_in), whole(*got_in)
            for one, other in zip([got_in, got], [wanted_in, wanted], strict=False):
                leaves = [torch.utils._pytree.tree_leaves(each) for each in (one, other)]
                for p, q in zip(*leaves, strict=True):
                    same(p, q) if isinstance(q, torch.Tensor) else torch.testing.assert_close(p, q)
            assert not turn or len(graphs()) == count, graphs()[count:]
        return got, got_in

    asked = Asked()
    with planted(asked):
        twin(lambda p, q: (p + q) * p - q, x, y)
    assert [len(each) for each in asked.graphs] == [3], asked.graphs  # one whole graph
    got, given = twin(lambda p, q: p, x, y)
    got, given = twin(lambda p, q: (p, p + q, p.t(), q), x, y)
    got, given = twin(lambda p, q: (p.add_(q), p * q), x, y)
    assert got[0] is given[0]
    twin(lambda p, q: (lambda r: (r, r, r.view(7, 5), [None, 3, {"k": r[1]}]))(p * q), x, y)
    twin(lambda p, q: (p.exp() + q, p + torch.ones(5, 7, device=p.device), p[1:] * q[:-1]), x, y)
    twin(lambda p, q: (p[:, ::2].mul_(q[:, ::2]), p.sum().item() + 1.0)[0] + 1, x, y)
    twin(lambda p, q: (p.t() + q.t()) * 2, x, y)
    twin(lambda p, q: p[:0] + q[:0], x, y)
    twin(lambda p, q: (p + q).long() / 3, x, y)
    with planted(lambda *_: (_ for _ in ()).throw(Refusal("planted", "whole"))):
        twin(lambda p, q: (p - q) * (p + q) - p, x, y)
    with planted(lambda *_: b"not an executable"):
        twin(lambda p, q: (p - q) * (p + q) + p, x, y)
    with planted(lambda *_: 1 / 0):
        twin(lambda p, q: (p - q) * (p + q) * p, x, y)
    rows = [row for row in api.refusals() if row.category == "planted"]
    assert rows, "a refused whole graph is in no row of refusals()"

    def loss(p, q):
        p, q = p.detach().requires_grad_(), q.detach().requires_grad_()
        ((p * q - p) * q).sum().backward()
        return p.grad, q.grad

    torch._dynamo.reset()
    inner = torch.compile(lambda p, q: (p * q - p) * q, backend=device)
    p, q = (each.to(device).requires_grad_() for each in (x, y))
    inner(p, q).sum().backward()
    for one, other in zip((p.grad, q.grad), loss(x, y), strict=False):
        torch.testing.assert_close(one.cpu(), other)
    torch._dynamo.reset()
    sizes = []

    def follow(graph, example):
        sizes.append(1)
        return torch._dynamo.lookup_backend(device)(graph, example)

    moving = torch.compile(lambda p: p * p + p, backend=follow, dynamic=True)
    count = len(graphs())
    for size in (3, 5, 3, 6, 5):
        same(moving((torch.ones(size, 11) * size).to(device)), torch.ones(size, 11) * (size * size + size))
    assert len(sizes) == 1 and len(graphs()) - count == 3, (sizes, graphs()[count:])
    torch._dynamo.reset()
    drop = torch.compile(lambda p: torch.nn.functional.dropout(p * p, 0.5) * p, backend=device)
    ones = torch.ones(40, 17, device=device)
    made = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        made.append(drop(ones).cpu())
    assert (
        torch.equal(made[0], made[1])
        and not torch.equal(made[0], made[2])
        and set(made[0].unique().tolist()) == {0.0, 2.0}
    )


def threads():
    """Threads that need the same new graph get it from one compilation; a slow one holds up nobody else; a fork and an interrupt do no harm."""
    host, mine = pair(8, 9)
    asked = Asked(lambda real, graph, inputs: (time.sleep(0.5), real(graph, inputs))[1])
    wrong = []

    def work(call, host, mine, times=20):
        try:
            for _ in range(times):
                same(call(mine), call(host))
        except BaseException:
            wrong.append(traceback.format_exc())

    def together(*jobs):
        crew = [threading.Thread(target=work, args=job, daemon=True) for job in jobs]
        [each.start() for each in crew]
        [each.join(120) for each in crew]
        assert not any(each.is_alive() for each in crew), "a thread hangs"
        assert not wrong, wrong[0]

    before = len(graphs())
    with planted(asked):
        together(*[(lambda p: p + p, host, mine)] * 8)
    assert len(asked.graphs) == 1 and len(graphs()) - before == 1, (asked.graphs, graphs()[before:])
    with planted(Asked()):
        many = [pair(8, 10 + i) for i in range(4)]
        together(*[(lambda p: p * p - p, *each) for each in many * 2])
    assert len(graphs()) - before == 9, graphs()[before:]
    assert len(set(graphs()[before:])) == 9

    # While one graph is being compiled, operators that are compiled run on.
    release, began = threading.Event(), threading.Event()

    def slow(real, graph, inputs):
        began.set()
        release.wait(60)
        return real(graph, inputs)

    late = pair(8, 20)
    with planted(slow):
        waiting = threading.Thread(target=work, args=(lambda p: p + p, *late, 1), daemon=True)
        waiting.start()
        assert began.wait(60)
        begin = time.time()
        same(mine + mine, host + host)
        spent = time.time() - begin
        release.set()
        waiting.join(60)
    assert not waiting.is_alive() and not wrong and spent < 10, (spent, wrong)

    # compile() may use PyTorch itself, on the CPU and on the device.
    def curious(real, graph, inputs):
        assert torch.equal((mine + mine).cpu(), host + host)
        assert isinstance(torch.ones(3) + 1, torch.Tensor) and float((torch.ones(3) + 1).sum()) == 6.0
        assert all(each.shape == (8, 21) and each.dtype == torch.float32 for each in inputs)
        return real(graph, inputs)

    own = pair(8, 21)
    before = len(graphs())
    with planted(curious):
        same(own[1] * own[1], own[0] * own[0])
    assert len(graphs()) - before == 1, [
        row for row in api.refusals() if "8, 21" in row.reason or row.category == "error"
    ]


TESTS = [
    cache_files,
    cache_folder,
    cache_content,
    cache_nowhere,
    refusals,
    time_limits,
    settings,
    aliasing,
    layouts_and_numbers,
    training,
    whole_graphs,
    threads,
]


def main():
    """Runs the tests that stdin or the command line names, and answers each with a line of JSON: the error, or nothing."""
    answers = os.dup(1)
    for name in sys.argv[1:] or map(str.strip, sys.stdin):
        said, failed = io.StringIO(), ""
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                {each.__name__: each for each in TESTS}[name]()
            except BaseException:
                failed = traceback.format_exc()
        os.write(answers, json.dumps([name, said.getvalue() + failed if failed else ""]).encode() + b"\n")


if __name__ == "__main__":
    main()
