"""compare(): where a difference is, which of the two is further off, and the call that is kept for a replay."""

import math

import pytest
import torch
from openreg_gen import replay
from openreg_gen.compare import compare, values
from openreg_gen.compare.inputs import Snapshot
from openreg_gen.compare.judge import Verdict, judge
from openreg_gen.compare.findings import matches
from openreg_gen.compare.stored import StoreError, load, words
from torch import nn
from torch.utils.checkpoint import checkpoint

NAMESPACE = "compare_places"


@pytest.fixture(scope="module")
def wrong():
    """`twice` is wrong on the device; `changing` gives another result with each call; `nan` has one on the device."""
    library = torch.library.Library(NAMESPACE, "DEF")
    calls = []
    for name in ("twice", "changing", "nan", "half"):
        library.define(f"{name}(Tensor x) -> Tensor")
    library.define("add_(Tensor(a!) x, Tensor y) -> Tensor(a!)")
    library.impl("twice", lambda x: x * 2, "CPU")
    library.impl("twice", lambda x: x * 2.5, "PrivateUse1")
    library.impl("changing", lambda x: x + (calls.append(1) or len(calls)), "PrivateUse1")
    library.impl("nan", lambda x: x.clone(), "CPU")
    library.impl("nan", lambda x: x * math.nan, "PrivateUse1")
    library.impl("half", lambda x: x * (0.5 if x.dtype == torch.float64 else 0.75), "CPU")
    library.impl("half", lambda x: x * 0.5, "PrivateUse1")
    library.impl("add_", lambda x, y: x.add_(y), "CPU")
    library.impl("add_", lambda x, y: x.add_(y).add_(1), "PrivateUse1")
    yield getattr(torch.ops, NAMESPACE)
    library._destroy()


class Twice(torch.autograd.Function):
    """Right in forward; in backward, the operator that is wrong."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return getattr(torch.ops, NAMESPACE).twice(grad)


class Back(nn.Module):
    def forward(self, x):
        return Twice.apply(x)


class Forth(nn.Module):
    def forward(self, x):
        return x * getattr(torch.ops, NAMESPACE).twice(x.detach())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), Back()), nn.Sequential(nn.Linear(3, 3), Forth())])

    def forward(self, x, recompute=False):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if recompute else layer(x)
        return x


def places(found):
    return [(each.where.module, each.where.phase, each.where.step) for each in found.differences]


def quiet(difference):
    pass


def test_modules_forward_backward_and_recomputed(device, wrong):
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.ones(2, 3, device=device)
    with compare(device, raise_on_first=False, report=quiet) as found:
        for recompute in (False, True):
            model(x, recompute).sum().backward()
            optimizer.step()
        wrong.twice(x)
    assert places(found) == [
        ("model.layers.1.1", "forward", 0),
        ("model.layers.0.1", "backward", 0),
        ("model.layers.1.1", "recomputed", 1),
        ("", "forward", 2),
    ]
    assert found.calls[f"{NAMESPACE}.twice.default", "model.layers.1.1", "forward"] == 2
    assert found.first.line.startswith("test_compare_places.py:") and found.first.line.endswith(" in forward")
    text = str(found)
    assert "first difference: step 0, forward, model.layers.1.1 (2 calls)" in text
    assert "test_compare_places.py:" in text.splitlines()[-2]  # outside of modules, the line


def test_steps_modules_and_samples(device, wrong):
    model = Net().to(device)
    x = torch.ones(2, 3, device=device)

    def run(**chosen):
        with torch.no_grad(), compare(device, raise_on_first=False, report=quiet, **chosen) as found:
            for _ in range(6):
                model(x)
        return found

    (first,) = run(steps=range(2, 4)).differences
    assert first.where.step == 2  # without training, a step is a call of the outermost module
    found = run(modules=["layers.0"])
    assert not found.differences and found.compared["aten.addmm.default"] == 6
    found = run(modules=["model.layers.1.*"], sample=4)
    assert sum(found.calls.values()) == 2 and found.left_out
    assert "calls were left out" in str(found)


@pytest.mark.parametrize(
    "glob, fits", [("a", True), ("a.b", True), ("b.*", True), ("b.c", True), ("c", False), ("*c", True), ("x", False)]
)
def test_patterns_of_modules(glob, fits):
    assert matches("a.b.c", (glob,)) is fits


def test_the_device_may_be_nearer(device, wrong):
    x = torch.ones(3, device=device)
    with compare(device) as found:
        wrong.half(x)
    assert not found.differences
    (nearer,) = found.nearer.values()
    assert nearer.judged == "judged by float64: the CPU is further off: the device's error is 0, the CPU's error 0.25"
    assert "the CPU is further off" in str(found)


def test_judge():
    torch.manual_seed(0)
    call = ([torch.randn(4, 1000), torch.randn(1000, 4)], {})
    expected = torch.mm(*call[0])
    noise = (call[0][0].double() @ call[0][1].double()).float() - expected
    for added, verdict in ((noise.abs().max() * 2, Verdict.ROUNDING), (1e-2, Verdict.DEVICE)):
        assert judge(torch.ops.aten.mm.default, call, 0, expected + added, expected).verdict is verdict
        other = Verdict.REFERENCE if verdict is Verdict.DEVICE else verdict
        assert judge(torch.ops.aten.mm.default, call, 0, expected, expected + added).verdict is other
    chosen = ([torch.tensor([1.0, 3.0, 2.0])], {})
    three = torch.tensor([0, 2, 1])
    assert judge(torch.ops.aten.argsort.default, chosen, 0, torch.tensor([0, 1, 2]), three).verdict is Verdict.DEVICE


def test_tolerance_follows_dtype_and_terms():
    aten = torch.ops.aten
    x, weight = torch.ones(2, 640), torch.ones(8, 4, 3, 3)
    assert values.terms(aten.mm.default, ([x, x.t()], {}), x @ x.t()) == 640
    assert values.terms(aten.sum.dim_IntList, ([x, [1]], {}), x.sum(1)) == 640
    assert values.terms(aten.relu.default, ([x], {}), x) == 1
    image = torch.ones(1, 4, 5, 5)
    convolution = ([image, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1], {})
    assert values.terms(aten.convolution.default, convolution, image) == 36
    few, many = (values.tolerance_of(torch.ones(3), sums) for sums in (64, 6400))
    assert many[0] == pytest.approx(10 * few[0])
    assert values.tolerance_of(torch.ones(3, dtype=torch.float16), 1)[0] > few[0]
    small = values.tolerance_of(torch.full((3,), 1e-6), 1)
    assert small[1] == pytest.approx(1e-10)  # an error of 1% in small gradients is found
    assert values.tolerance_of(torch.ones(3, dtype=torch.int64), 6400) == (0, 0)


def test_the_first_nan(device, wrong):
    x = torch.ones(3, device=device)
    with compare(device, raise_on_first=False, report=quiet) as found:
        y = x.masked_fill(x > 0, -math.inf).softmax(0)  # the mask is meant, the CPU has the NaN too
        wrong.nan(x)
        y + 1
    assert (found.nan.op, found.nan.both) == ("aten._softmax.default", True)
    assert found.inf is None
    with compare(device, raise_on_first=False, report=quiet) as found:
        wrong.nan(x) + 1
        x / 0
    assert (found.nan.op, found.nan.both) == (f"{NAMESPACE}.nan.default", False)
    assert (found.inf.op, found.inf.both) == ("aten.div.Tensor", True)
    assert "first NaN: step 0, forward, test_compare_places.py:" in str(found)
    assert "only on the device, not with the CPU" in str(found)


def test_twice_finds_results_that_change(device, wrong):
    x = torch.ones(3, device=device)
    with compare(device, raise_on_first=False, report=quiet, twice=True) as found:
        wrong.twice(x)
        x.add_(wrong.changing(x))
    (difference,) = found.differences
    assert difference.op == f"{NAMESPACE}.changing.default"
    assert "compared with a second run on the device" in str(found)


def test_fused_attention_is_compared(device):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 2, 5, 8).to(device).requires_grad_() for _ in range(3))
    mask = torch.ones(5, 5, dtype=torch.bool, device=device).tril()
    with compare(device) as found:
        for chosen in ({"is_causal": True}, {"attn_mask": mask}, {"scale": 0.5}):
            nn.functional.scaled_dot_product_attention(q, k, v, **chosen).sum().backward()
    fused = "aten._scaled_dot_product_fused_attention_overrideable"
    if f"{fused}.default" in found.compared:  # a tree may compose it
        assert f"{fused}_backward.default" in found.compared
    assert not any("attention" in op for op in found.skipped)


def test_a_call_is_stored_and_replayed(device, wrong, tmp_path):
    path = tmp_path / "call.pt"
    memory = torch.arange(8.0, device=device)
    torch.manual_seed(5)
    with compare(device, raise_on_first=False, report=quiet, dump=path) as found:
        wrong.add_(memory[::2], memory[4:])
        wrong.twice(memory)
    assert found.dumped == path
    stored = load(path)
    assert (stored.op, stored.device, stored.seeds["torch"]) == (f"{NAMESPACE}.add_.default", device, 5)
    assert stored.versions["torch"] == torch.__version__ and stored.line.startswith("test_compare_places.py:")
    (x, y), _ = stored.call(device)
    assert x.stride() == (2,) and x.untyped_storage()._cdata == y.untyped_storage()._cdata
    assert x.device.type == device and x.tolist() == [0, 2, 4, 6]  # as before the call
    assert words(stored) == "t[0], t[1]"
    again = replay.replay(stored, device)
    assert again is not None and again.what == found.first.what
    assert replay.replay(stored, "cpu") is None


def test_what_no_call_holds(capsys, tmp_path):
    other = tmp_path / "other.pt"
    other.write_bytes(b"x")
    with pytest.raises(SystemExit, match="2"):
        replay.main([str(other)])
    assert capsys.readouterr().err.startswith(f"openreg-gen: error[E0574]: {other}: can't be read: ")
    torch.save({"weights": torch.ones(2)}, other)
    with pytest.raises(StoreError, match="is not a call that `openreg-gen compare` wrote"):
        load(other)


def test_snapshots_without_data():
    x = torch.arange(6.0).view(2, 3).t()
    copied = Snapshot("cpu", "meta").of(x[1:])
    assert copied.device.type == "meta" and copied.stride() == (1, 3) and copied.storage_offset() == 1
