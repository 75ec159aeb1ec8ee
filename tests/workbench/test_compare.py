"""compare(): an operator's results on a device and on the CPU. Wrong kernels are made here, to be found."""

import re

import pytest
import torch
from openreg_gen import protocol, served
from openreg_gen.compare import CompareError, compare

NAMESPACE = "compare_test"


def wrong_twice(x):
    y = (x.cpu() * 2).contiguous()
    y.view(-1)[1] += 0.5
    return y.to(x.device)


def wrong_add(x, value):
    x.copy_(x.cpu() + value + 1)
    return x


@pytest.fixture(scope="module")
def wrong():
    """Operators that are right on the CPU and wrong on the device."""
    library = torch.library.Library(NAMESPACE, "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.define("add_(Tensor(a!) x, float value) -> Tensor(a!)")
    library.define("dtype(Tensor x) -> Tensor")
    library.define("shape(Tensor x) -> Tensor")
    library.define("number(Tensor x) -> int")
    library.define("random(Tensor x) -> Tensor", tags=torch.Tag.nondeterministic_seeded)
    library.define("second(Tensor x) -> (Tensor, Tensor[])")
    host = {
        "twice": lambda x: x * 2,
        "add_": lambda x, value: x.add_(value),
        "dtype": lambda x: x.clone(),
        "shape": lambda x: x.clone(),
        "number": lambda x: 1,
        "random": lambda x: x.clone(),
        "second": lambda x: (x.clone(), [x + 1, x + 2]),
    }
    device = {
        "twice": wrong_twice,
        "add_": wrong_add,
        "dtype": lambda x: x.double(),
        "shape": lambda x: x[:1].clone(),
        "number": lambda x: 2,
        "random": lambda x: x + 1,
        "second": lambda x: (x.clone(), [x + 1, x + 3]),
    }
    for name in host:
        library.impl(name, host[name], "CPU")
        library.impl(name, device[name], "PrivateUse1")
    yield getattr(torch.ops, NAMESPACE)
    library._destroy()


def test_finds_a_wrong_element(device, wrong):
    x = torch.arange(6.0, device=device).view(2, 3)
    with pytest.raises(CompareError) as raised, compare(device):
        wrong.twice(x)
    difference = raised.value.difference
    assert difference.op == f"{NAMESPACE}.twice.default"
    assert difference.arguments == (f"x=float32[2, 3] on {device}:0",)
    assert difference.what == "result 0"
    assert difference.index == (0, 1)
    assert (difference.actual, difference.expected) == (2.5, 2.0)
    assert difference.max_abs_error == 0.5
    assert difference.max_rel_error == 0.25
    assert difference.mismatched == 1
    message = str(raised.value)
    for part in (difference.op, "float32[2, 3]", "result 0", "1 of 6", "[0, 1]", "0.5 absolute", "0.25 relative"):
        assert part in message


def test_in_place(device, wrong):
    x = torch.zeros(2, 4, device=device)
    with pytest.raises(CompareError) as raised, compare(device):
        wrong.add_(x.t()[1:3], 2.0)
    assert raised.value.difference.expected == 2.0
    assert raised.value.difference.actual == 3.0
    assert "value=2.0" in str(raised.value)


def test_shape_dtype_numbers_and_lists(device, wrong):
    x = torch.zeros(3, device=device)
    cases = (
        (wrong.dtype, "result 0 has dtype torch.float64, not torch.float32"),
        (wrong.shape, "result 0 has shape [1], not [3]"),
        (wrong.number, "result 0 is 2, not 1"),
        (wrong.second, "result 2 differs in 3 of 3 elements"),
    )
    for operator, problem in cases:
        with pytest.raises(CompareError) as raised, compare(device):
            operator(x)
        assert problem in str(raised.value)


def test_collects_the_first_of_each_operator(device, wrong):
    x = torch.zeros(3, device=device)
    with (
        pytest.warns(UserWarning, match="not as on the CPU") as warned,
        compare(device, raise_on_first=False) as found,
    ):
        wrong.twice(x)
        wrong.twice(x + 1)
        wrong.number(x)
    assert [d.op for d in found.differences] == [f"{NAMESPACE}.twice.default", f"{NAMESPACE}.number.default"]
    assert found.first is found.differences[0]
    assert len([w for w in warned if "not as on the CPU" in str(w.message)]) == 2
    assert found.compared[f"{NAMESPACE}.twice.default"] == 2
    assert "4 calls of 3 operators compared with the CPU; 3 differ" in str(found)


@pytest.mark.parametrize("counts", [True, False])
def test_operators_of_the_fallback_are_counted(device, monkeypatch, counts):
    """Where nothing differs because the CPU computed both sides, the summary says so."""
    if served.computed_by(device, "aten::sinc") != served.FALLBACK:
        pytest.skip("the backend has a kernel of sinc")
    if served.computed_by(device, "aten::abs") != served.KERNEL:
        pytest.skip("the backend has no kernel of abs")
    if not counts:  # then the dispatcher says it
        monkeypatch.setattr(protocol, "of", lambda kind: protocol.Workbench())
    elif "fallbacks" not in protocol.of(device).provided:
        pytest.skip("the backend does not count what falls back")
    x = torch.ones(3, device=device)
    with compare(device) as found:
        torch.sinc(x).view(3, 1).clone()
    said = f"1 of 1 operators was computed by the CPU fallback: no kernel of {device} was checked, only its memory and copies"
    assert said in str(found).splitlines() and found.json()["fallback"] == said
    assert found.json()["by_fallback"] == ["aten.sinc.default"]
    assert [each["provide"] for each in found.json()["absent"]] == (
        [] if counts else [f"torch.{device}._workbench.fallbacks"]
    )
    with compare(device) as found:
        torch.sinc(x.abs())
    assert "1 of 2 operators was computed by the CPU fallback" in str(found).splitlines()
    with compare(device) as found:
        x.abs()
    assert found.fallback_line == "" and "fallback;" not in str(found)


def test_tolerances(device, wrong):
    x = torch.zeros(3, device=device)
    with compare(device, rtol=0, atol=1) as found:
        wrong.twice(x)
    assert not found.differences
    for bad in ({"rtol": 1.0}, {"atol": 1.0}, {"rtol": -1.0, "atol": 0.0}):
        with pytest.raises(ValueError, match="tolerances|both"):
            compare(device, **bad)
    nan = torch.tensor([float("nan"), float("inf")], device=device)
    with compare(device) as found:
        nan.clone()
    assert not found.differences


def test_backward_is_compared(device, wrong):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return wrong.twice(grad)

    x = torch.ones(3, device=device, requires_grad=True)
    with compare(device) as found:
        x.sigmoid().sum().backward()
    assert found.compared["aten.sigmoid_backward.default"] == 1
    y = Twice.apply(x)
    with pytest.raises(CompareError), compare(device):
        y.sum().backward()


def test_what_is_not_compared(device, wrong):
    x = torch.ones(3, device=device)
    with compare(device) as found:
        wrong.random(x)
        torch.empty_like(x)
    assert found.skipped[f"{NAMESPACE}.random.default"] == "random"
    assert found.skipped["aten.empty_like.default"] == "uninitialized memory"
    assert "not compared" in str(found)


def test_changes_nothing(device):
    def use(x):
        view = x.view(2, 3).t()
        view[1:].mul_(2)
        torch.add(view, view, out=view)
        x[:2] = x[3:5].clone()
        torch.complex(x, x).conj().imag.neg_()
        torch.manual_seed(3)
        noise = torch.rand(3, device=x.device)
        return [x, view, noise, x.new_zeros(2), torch._foreach_add([x, view], 1)]

    plain = use(torch.arange(6.0, device=device))
    with compare(device) as found:
        compared = use(torch.arange(6.0, device=device))
    torch.testing.assert_close(compared, plain, rtol=0, atol=0)
    assert compared[1]._base is compared[0]
    assert not found.differences
    assert found.compared["aten.mul_.Tensor"] == 1


def test_a_network_trains_as_on_the_cpu(device):
    torch.manual_seed(0)
    layers = (
        torch.nn.Conv2d(1, 2, 3, padding=1),
        torch.nn.BatchNorm2d(2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 4),
        torch.nn.LayerNorm(4),
    )
    module = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)
    x = torch.randn(3, 1, 4, 4).to(device)
    target = torch.tensor([0, 1, 2], device=device)
    with compare(device) as found:
        for _ in range(2):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(x), target).backward()
            optimizer.step()
    assert not found.differences
    for op in (
        "aten.convolution.default",
        "aten.convolution_backward.default",
        "aten.native_layer_norm_backward.default",
    ):
        assert found.compared[op] == 2


def test_on_the_cpu_nothing_differs():
    x = torch.arange(6.0).view(2, 3)
    with compare("cpu") as found:
        view = x.t()
        view[1:].mul_(2)
        torch.softmax(x, 1)
    assert not found.differences
    assert found.compared["aten._softmax.default"] == 1


SCRIPT = """
import sys, torch
count = 0
def changing(x):
    global count
    count += 1
    return x + (count > 1)
library = torch.library.Library("compare_script", "DEF")
library.define("wrong(Tensor x) -> Tensor")
library.impl("wrong", changing, "CPU")
torch.ops.compare_script.wrong(torch.ones(2))
print("done", sys.argv[1:])
"""


def test_script(run_python, tmp_path):
    """Here the CPU's kernel is not the same twice, so the tool has something to find without a backend."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run_python("-m", "openreg_gen.compare", "--device", "cpu", "script.py", "--", "--steps", "2", code=None)
    assert (done.returncode, done.stdout) == (1, "done ['--steps', '2']\n"), done.stderr
    assert "compare_script.wrong.default(x=float32[2] on cpu): result 0 differs in 2 of 2 elements" in done.stderr
    done = run_python("-m", "openreg_gen.compare", "--device", "cpu", "--first", "script.py", code=None)
    assert (done.returncode, done.stdout) == (1, "")
    assert "CompareError: compare_script.wrong.default" in done.stderr
    done = run_python(
        "-m", "openreg_gen.compare", "--device", "cpu", "--rtol", "1", "--atol", "1", "script.py", code=None
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (("--rtol", "1", "script.py"), "error[E0574]: --rtol and --atol go together"),
        (("--rtol", "x", "script.py"), "error[E0500]: argument --rtol: x: not a number from 0 on"),
        (("nothing.py",), "error[E0574]: no such script: nothing.py"),
    ],
)
def test_bad_input(run_python, tmp_path, words, said):
    (tmp_path / "script.py").write_text("")
    done = run_python("-m", "openreg_gen.compare", "--device", "cpu", *words, code=None)
    assert done.returncode == 2 and said in done.stderr, done.stderr


LAYERS = """
import sys, torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.encoder(x)
net = Net()
net(torch.ones(2, 3))
sys.exit(0)
"""


@pytest.mark.parametrize(
    "words, said",
    [
        (("--modules", "encoderr", "script.py"), r"matches encoderr; did you mean encoder"),
        (("--steps", "7", "script.py"), "the script has 1 steps, numbered from 0; step 7 was asked for"),
        (("empty.py",), "no operator had a tensor on cpu"),
        (("chance.py",), "none of the 2 operators that were called can be: aten.uniform_.default: random"),
    ],
)
def test_nothing_compared_fails(run_python, tmp_path, words, said):
    (tmp_path / "script.py").write_text(LAYERS)
    (tmp_path / "empty.py").write_text("import sys\nsys.exit()\n")
    (tmp_path / "chance.py").write_text(
        "import torch\ntorch.empty(0)\nx = torch.empty(2)\nx.uniform_()\nx.resize_(3)\n"
    )
    done = run_python("-m", "openreg_gen.compare", "--device", "cpu", *words, code=1)
    assert re.search(r"^nothing was compared: .*" + said, done.stderr, re.M), done.stderr


def test_a_script_that_exits_well_has_not_the_last_word(run_python, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT + "sys.exit(0)\n")
    done = run_python("-m", "openreg_gen.compare", "--device", "cpu", "script.py", code=1)
    assert "1 differ" in done.stderr
