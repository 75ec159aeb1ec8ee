"""Tools on backends that aren't openreg-gen's: opaque tensors with kernels in Python (py_kernels), and the plainest C++ (plain_cpp).

Nothing may pass in silence there: where nothing was recorded, compared or run, the tool fails and says why.
"""

import json
import pathlib
import re

import pytest
from clients import build

MODEL = """
import torch
x, weight, bias = (torch.randn(*sizes).to("arrays") for sizes in ((3, 4), (8, 4), (8,)))
weight.requires_grad_()
for step in range(2):
    y = torch.nn.functional.linear(x, weight, bias)
    y.relu()
    torch.softmax(y, 1)
    (y * 2).sum().backward()
"""
MODULES = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
    def forward(self, x):
        return self.second(self.first(x).relu())
net = Net().to("arrays")
net(torch.randn(3, 4).to("arrays")).sum().backward()
"""


@pytest.fixture(params=["empty", pytest.param("opaque", marks=pytest.mark.nightly)])
def py_kernels(run_python, request):
    """Runs a tool on that client, whose tensors have an empty storage, or none; `code`: the exit code that it has to have."""
    environment = build.environment("py_kernels", compiled=request.param == "opaque")

    def run(tool: str, *words: str, code: int | None = 0):
        named = ("--device", "arrays", "--import", "py_kernels")
        return run_python("-m", f"openreg_gen.{tool}", *named, *words, code=code, **environment)

    return run


@pytest.fixture
def plain_cpp(run_python):
    environment = build.environment("plain_cpp")

    def run(tool: str, *words: str, code: int | None = 0):
        named = ("--device", "plain", "--import", "plain_cpp")
        return run_python("-m", f"openreg_gen.{tool}", *named, *words, code=code, **environment)

    return run


@pytest.fixture
def model(tmp_path) -> str:
    (tmp_path / "model.py").write_text(MODEL)
    return "model.py"


# ------------------------------------------------------------------------------- opaque tensors, kernels in Python


def test_record_lists_operators(py_kernels, model, tmp_path):
    py_kernels("record", "--shapes", model)
    rows = {row["op"]: row for row in json.loads((tmp_path / "ops.json").read_text())["ops"]}
    assert {"addmm", "relu", "_softmax", "mul.Tensor"} <= set(rows)
    assert rows["relu"]["calls"] == 2
    assert rows["relu"]["shapes"][0]["args"] == [{"tensor": "float32", "shape": [3, 8]}]


def test_record_of_nothing_fails(py_kernels, tmp_path):
    (tmp_path / "host.py").write_text("import torch\ntorch.ones(3) + 1\n")
    done = py_kernels("record", "host.py", code=1)
    assert "error[E0576]: host.py called no operator on arrays: nothing was recorded" in done.stderr


def test_compare_compares_and_finds_a_wrong_kernel(py_kernels, model, tmp_path):
    done = py_kernels("compare", model)
    calls, operators = re.search(
        r"^(\d+) calls of (\d+) operators compared with the CPU; 0 differ", done.stderr, re.M
    ).groups()
    assert int(calls) >= 20 and int(operators) >= 8, done.stderr
    wrong = "from py_kernels import kernels\nimport numpy\nkernels.kernel('relu')(lambda x: numpy.abs(x))\n"
    (tmp_path / "model.py").write_text(wrong + MODEL)
    done = py_kernels("compare", model, code=1)
    assert re.search(r"first difference: step 0, forward, .*\n  aten.relu.default", done.stderr), done.stderr
    again = py_kernels("replay", "differs.pt")  # the client's own kernel is right
    assert "it no longer differs" in again.stdout
    assert "py_kernels without a version" in again.stdout and "torch-" not in again.stdout


@pytest.mark.nightly
def test_compare_of_modules(py_kernels, request, tmp_path):
    if "empty" in request.node.callspec.id:
        pytest.skip("its tensors can't be parameters")
    (tmp_path / "modules.py").write_text(MODULES)
    done = py_kernels("compare", "modules.py")
    assert "; 0 differ" in done.stderr and "not compared" not in done.stderr, done.stderr


@pytest.mark.nightly
def test_sweep_runs_cases(py_kernels):
    done = py_kernels(
        "sweep", "add", "nn.functional.relu", "--dtype", "float32", "--variant", "forward", "--jobs", "1", code=None
    )
    assert int(re.search(r"^(\d+) cases of 2 tasks", done.stdout, re.M)[1]) > 10, done.stdout + done.stderr
    assert "structure" not in done.stdout


def test_try_runs_cases_and_names_the_kernel(py_kernels):
    words = ("relu", "--dtype", "float32", "--variant", "forward", "--quick", "--jobs", "1")
    done = py_kernels("try", *words)
    assert re.search(
        r"relu: \d+ calls by this backend's kernel, registered at .*py_kernels/kernels.py:\d+", done.stdout
    )
    assert "relu: right, and this backend's kernel computed it" in done.stdout


def test_trace_shows_kernels_in_python_where_they_are(py_kernels, tmp_path):
    done = py_kernels("trace", "a @ b", "--html=trace.html")
    mm = re.search(r"aten::mm .*\n(?:.*\n)*?.*PrivateUse1  kernel  (\S+):(\d+)", done.stdout)
    assert mm, done.stdout
    assert mm[1].endswith("py_kernels/kernels.py")
    lines = (pathlib.Path(build.FOLDER) / "py_kernels/kernels.py").read_text().splitlines()
    assert lines[int(mm[2]) - 1] == '@kernel("mm")'
    page = (tmp_path / "trace.html").read_text()
    assert '"computes": true' in page and "torch/library.py" not in page


# ----------------------------------------------------------------------------------------------- the plainest C++


@pytest.mark.nightly
def test_trace_shows_a_kernel_inside_of_a_composite(plain_cpp):
    done = plain_cpp("trace", "a @ b + a")
    assert re.search(r"aten::add.Tensor.*\n(?:.*\n)*?.*PrivateUse1  kernel  \S+plain_cpp.cpp:\d+", done.stdout), (
        done.stdout
    )
    assert re.search(r"aten::mm .*\n(?:.*\n)*?.*PrivateUse1  kernel  \S+plain_cpp.cpp:\d+", done.stdout), done.stdout


@pytest.mark.nightly
def test_try_copies_without_set(plain_cpp):
    done = plain_cpp(
        "try", "add.Tensor", "--dtype", "float32", "--variant", "forward", "--quick", "--jobs", "1", code=None
    )
    assert re.search(r"add.Tensor: \d+ calls by this backend's kernel", done.stdout), done.stdout
    assert "nothing ran" not in done.stdout


@pytest.mark.nightly
def test_compare_copies_without_set(plain_cpp, tmp_path):
    (tmp_path / "sum.py").write_text("import torch\nx = torch.ones(3).to('plain')\nprint((x + x).cpu())\n")
    done = plain_cpp("compare", "sum.py")
    assert re.search(r"^[1-9]\d* calls of .* 0 differ", done.stderr, re.M), done.stderr
