# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Networks that are compiled train as they do without; caches; what a second process, DDP and checkpoints ask for.

Compiling takes a C++ compiler some seconds a kernel. What takes many of them runs with OPENREG_TESTS=all.
"""

import importlib.util
import os
import shutil
import subprocess
import sys

import networks
import pytest
import torch
from torch import nn

NAME = "openreg"
api = torch.get_device_module(NAME)
ALL = os.environ.get("OPENREG_TESTS") == "all"
HOW = "compiles many kernels: OPENREG_TESTS=all runs it"
many_kernels = pytest.mark.skipif(not ALL, reason=HOW)
STEPS = 20


@pytest.fixture(autouse=True)
def _forget():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def with_cpp(device):
    """Inductor's C++ kernels: for devices that run them on their memory."""
    if not api.get_device_properties(device).host_accessible:
        pytest.skip("functions launched on the device do not reach its memory")


def losses(name: str, device: torch.device, compiled=lambda model: model) -> list[float]:
    model, inputs, targets = networks.network(name)
    return networks.train(model.to(device), inputs.to(device), targets.to(device), STEPS, compiled)


def with_inductor(model: nn.Module):
    return torch.compile(model, fullgraph=True)


@pytest.mark.parametrize(
    "name",
    ["mlp", *(pytest.param(name, marks=many_kernels) for name in networks.NAMES[1:])],
)
def test_training_is_that_of_eager(device, name, with_cpp):
    eager, compiled = losses(name, device), losses(name, device, with_inductor)
    assert compiled == pytest.approx(eager, rel=1e-4, abs=1e-5)
    assert eager[-1] < eager[0], "it learns something"


def test_an_lstm_of_pytorch(device, with_cpp):
    """Dynamo leaves torch.nn.LSTM to eager code by default, and compiles what is around it."""
    torch.manual_seed(0)
    model, x = nn.LSTM(8, 16, batch_first=True), torch.randn(4, 5, 8)
    expected, _ = model(x)

    @torch.compile
    def function(x):
        return model(x)[0].tanh()

    model.to(device)
    torch.testing.assert_close(function(x.to(device)).cpu(), expected.tanh(), rtol=1e-4, atol=1e-5)


SHARED = """
import torch
from torch._inductor.utils import fresh_cache
x = torch.arange(64.0, device="openreg")
y = torch.compile(lambda x: (x * 3).sin().sum())(x)
torch.testing.assert_close(y.cpu(), (x.cpu() * 3).sin().sum())
from torch._dynamo.utils import counters
print(counters["inductor"]["fxgraph_cache_hit"], counters["aot_autograd"]["autograd_cache_hit"])
"""


def test_several_processes_share_a_cache(device, tmp_path, with_cpp):
    """In parallel, and in sequence: cached code is used if this tree compiled it."""
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SHARED]
    first = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for process in first:
        assert process.wait(300) == 0, process.stderr.read().decode()
    libraries = set(tmp_path.rglob("*.main.so"))
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "1", "the graph comes from the cache"
    assert set(tmp_path.rglob("*.main.so")) == libraries, "no kernel is compiled again"
    command[-1] = SHARED.replace("import torch\n", CHANGED, 1)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "0"], "another tree takes nothing of this one"


CHANGED = """
import torch
import torch._inductor.codegen.common  # first: it registers the device, whose modules import one another
import torch_openreg._inductor.settings as settings
settings.tree_hash = lambda: "of another tree"
"""


def test_what_another_build_compiled_is_not_taken(tmp_path):
    """The hash is of the libraries, too: which operators they have decides what is traced."""
    from torch_openreg._inductor import settings

    (tmp_path / "_inductor").mkdir()
    (tmp_path / "lib").mkdir()
    copied = shutil.copy(settings.__file__, tmp_path / "_inductor")

    def hashed(library: bytes) -> str:
        (tmp_path / "lib" / "libtorch_openreg.so").write_bytes(library)
        spec = importlib.util.spec_from_file_location("copied_settings", copied)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.tree_hash()

    assert hashed(b"one") == hashed(b"one")
    assert hashed(b"one") != hashed(b"another")


def test_graphs_are_split_where_ddp_wants(device, with_cpp):
    """DistributedDataParallel cuts a graph at the buckets of its gradients, and has each part compiled."""
    from torch._dynamo.backends.distributed import DDPOptimizer

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    x = torch.randn(8, 32, device=device)
    parts = []

    def compile_part(graph, inputs):
        parts.append(graph)
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(graph, inputs)

    bucket = 32 * 32 * 4
    optimizer = DDPOptimizer(bucket_bytes_cap=bucket, backend_compile_fn=compile_part, first_bucket_cap=bucket)
    result = torch.compile(model, backend=optimizer.compile_fn, fullgraph=True)(x)
    assert len(parts) > 1
    torch.testing.assert_close(result.cpu(), model(x).cpu(), rtol=1e-5, atol=1e-5)
    result.sum().backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for got, want in zip(gradients, model.parameters(), strict=True):
        torch.testing.assert_close(got.cpu(), want.grad.cpu(), rtol=1e-4, atol=1e-5)
