# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
"""What users capture into graphs: training steps, random numbers, callables with their backward, compiled code; and its profile."""

import json

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

api = torch.openreg
ADD, MUL = "add_kernel", "mul_kernel"


class Training:
    """A network, an optimizer and the batch that a step reads."""

    def __init__(self, device, optimizer=torch.optim.SGD, **options):
        torch.manual_seed(7)
        layers = torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
        self.model = torch.nn.Sequential(*layers).to(device)
        self.optimizer = optimizer(self.model.parameters(), lr=0.01, **options)
        self.x, self.target = torch.zeros(5, 8, device=device), torch.zeros(5, 4, device=device)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(self.model(self.x), self.target)
        loss.backward()
        self.optimizer.step()
        return loss

    def load(self, batch):
        torch.manual_seed(batch)
        self.x.copy_(torch.randn(5, 8))
        self.target.copy_(torch.randn(5, 4))


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [(torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adam, {"capturable": True, "foreach": False})],
)
def test_a_training_step_is_the_same_as_eager(device, optimizer, options, captured):
    graphed, eager = (Training(device, optimizer, **options) for _ in range(2))
    with api.stream(api.Stream()):
        for _ in range(3):
            graphed.step()
    for _ in range(3):
        eager.step()
    graph, loss = captured(graphed.step, warm=False)
    for batch in range(10):
        graphed.load(batch)
        eager.load(batch)
        graph.replay()
        assert torch.equal(loss.cpu(), eager.step().cpu()), batch
    for ours, theirs in zip(graphed.model.parameters(), eager.model.parameters(), strict=True):
        assert torch.equal(ours.cpu(), theirs.cpu())


def test_random_numbers_advance(device, captured):
    graph, y = captured(lambda: torch.rand(1000, device=device))
    drawn = []
    for _ in range(3):
        graph.replay()
        drawn.append(y.cpu())
    assert len({tuple(values.tolist()) for values in drawn}) == 3
    assert all(values.min() >= 0 and values.max() < 1 for values in drawn)


def test_random_numbers_of_replays_are_those_of_eager(device, captured):
    def function():
        return torch.rand(100, device=device), torch.randn(100, device=device).bernoulli_(0.5)

    graph, results = captured(function)
    api.manual_seed(11)
    expected = [[value.cpu() for value in function()] for _ in range(3)]
    state = api.get_rng_state()
    api.manual_seed(11)
    for values in expected:
        graph.replay()
        assert all(torch.equal(ours.cpu(), theirs) for ours, theirs in zip(results, values, strict=True))
    assert torch.equal(api.get_rng_state(), state)


def test_a_capture_draws_nothing(device, captured):
    x = torch.empty(100, device=device)
    api.manual_seed(5)
    state = api.get_rng_state()
    captured(lambda: x.uniform_(), warm=False)
    assert torch.equal(api.get_rng_state(), state)


def test_a_generator_of_its_own(device, captured):
    generator = torch.Generator(device).manual_seed(3)
    x = torch.empty(100, device=device)
    graph, _ = captured(lambda: x.normal_(generator=generator), warm=False)
    graph.replay()
    first = x.cpu()
    graph.replay()
    assert not torch.equal(x.cpu(), first)
    generator.manual_seed(3)
    graph.replay()
    assert torch.equal(x.cpu(), first)
    assert torch.equal(torch.empty(100, device=device).normal_(generator=generator.manual_seed(3)).cpu(), first)


def test_dropout(device, captured):
    x = torch.ones(10000, device=device)
    graph, y = captured(lambda: torch.nn.functional.dropout(x, 0.25))
    masks = []
    for _ in range(2):
        graph.replay()
        masks.append(y.cpu() != 0)
    assert not torch.equal(*masks)
    assert all(0.7 < mask.double().mean() < 0.8 for mask in masks)


def test_convolutions_norms_and_losses(device, captured):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(144, 5)
    ).to(device)
    x, target = torch.randn(2, 3, 8, 8).to(device), torch.tensor([1, 4]).to(device)

    def function():
        model.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        return loss, [parameter.grad for parameter in model.parameters()]

    graph, (loss, gradients) = captured(function)
    x.copy_(torch.randn(2, 3, 8, 8))
    graph.replay()
    actual = [value.cpu() for value in (loss, *gradients)]
    expected_loss, expected = function()
    for ours, theirs in zip(actual, (expected_loss, *expected), strict=True):
        torch.testing.assert_close(ours, theirs.cpu())


def test_graphed_callables(device):
    torch.manual_seed(0)
    eager = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)).to(device)
    graphed = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)).to(device)
    graphed.load_state_dict(eager.state_dict())
    sample = torch.randn(4, 6).to(device).requires_grad_()
    assert api.make_graphed_callables(graphed, (sample,)) is graphed
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (eager, graphed)]
    for i in range(5):
        torch.manual_seed(i)
        values = torch.randn(4, 6)
        results = []
        for model, optimizer in zip((eager, graphed), optimizers, strict=True):
            x = values.to(device).requires_grad_()
            optimizer.zero_grad()
            y = model(x)
            (y * y).sum().backward()
            optimizer.step()
            results.append((y.detach().cpu(), x.grad.cpu(), *(p.grad.cpu() for p in model.parameters())))
        for theirs, ours in zip(*results, strict=True):
            torch.testing.assert_close(ours, theirs)
    graphed.eval()
    assert graphed(torch.randn(9, 6).to(device)).shape == (9, 3)


def test_several_graphed_callables(device):
    weight = torch.full((4,), 3.0, device=device).requires_grad_()

    def first(x):
        return x * 2, x + 1

    def second(x):
        return {"out": (x * x).sum()}

    samples = ((torch.ones(4, device=device).requires_grad_(),), (torch.ones(4, device=device).requires_grad_(),))
    a, b = api.make_graphed_callables((first, second), samples)
    doubled, more = a(weight)
    (b(doubled + more)["out"]).backward()
    assert weight.grad.tolist() == [2 * (3 * 3 + 1) * 3.0] * 4


@pytest.fixture
def graphed(device):
    """A linear layer without a bias, graphed; weight.grad is the sum of its arguments."""
    module = torch.nn.Linear(2, 1, bias=False).to(device)
    return api.make_graphed_callables(module, (torch.ones(1, 2, device=device),))


def row(device, value):
    return torch.full((1, 2), value, device=device)


def test_gradients_of_graphed_callables_accumulate(device, graphed):
    graphed(row(device, 1.0)).sum().backward()
    kept = graphed.weight.grad
    graphed(row(device, 10.0)).sum().backward()
    assert kept is graphed.weight.grad
    assert kept.tolist() == [[11, 11]]


def test_results_of_graphed_callables_are_the_caller_s(device, graphed):
    weight = graphed.weight
    first = graphed(row(device, 1.0))
    expected = first.tolist()
    (gradient,) = torch.autograd.grad(first.sum(), [weight])
    second = graphed(row(device, 5.0))
    assert first.tolist() == expected
    second.detach().zero_()
    torch.autograd.grad(second.sum(), [weight])
    assert gradient.tolist() == [[1, 1]]


def test_arguments_of_graphed_callables_are_the_caller_s(device):
    samples = torch.tensor([1.0, 2.0], device=device), torch.tensor([10.0, 20.0], device=device)
    function = api.make_graphed_callables(lambda a, b: a - b, samples)
    assert function(*reversed(samples)).tolist() == [9, 18]
    assert [x.tolist() for x in samples] == [[1, 2], [10, 20]]

    def writes(x):
        return x.mul_(2)

    with pytest.raises(ValueError, match="must not write its arguments"):
        api.make_graphed_callables(writes, samples[:1])
    assert samples[0].tolist() == [1, 2]


def test_what_graphed_callables_save_is_not_used_after_it_was_overwritten(device, graphed):
    first, second = graphed(row(device, 1.0)), graphed(row(device, 10.0))
    with pytest.raises(RuntimeError, match="overwritten"):
        first.sum().backward()
    second.sum().backward(retain_graph=True)
    assert graphed.weight.grad.tolist() == [[10, 10]]
    with pytest.raises(RuntimeError, match="overwritten"):
        second.sum().backward()
    y = graphed(row(device, 3.0))
    with torch.no_grad():
        graphed(row(device, 4.0))
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()
    assert graphed.weight.grad.tolist() == [[10, 10]]


def test_graphed_callables_that_run_in_another_order(device):
    def square(x):
        return x * x

    def sample(value=1.0):
        return torch.full((1 << 16,), value, device=device, requires_grad=True)

    first, second = api.make_graphed_callables((square, square), ((sample(),), (sample(),)))
    x, y = sample(2.0), sample(3.0)
    results = first(x), second(y)
    results[1].sum().backward()
    results[0].sum().backward()  # the second, which was graphed later, leaves what the first one saved
    assert (x.grad[0].item(), y.grad[0].item()) == (4, 6)
    results = second(y), first(x)
    with pytest.raises(RuntimeError, match="graphed before it"):
        results[0].sum().backward()
    results = first(x), second(y)
    results[0].sum().backward()
    with pytest.raises(RuntimeError, match="graphed before it"):
        results[1].sum().backward()


def test_results_of_graphed_callables_without_a_gradient(device):
    x = torch.ones(3, device=device, requires_grad=True)
    function = api.make_graphed_callables(lambda x: (x * 2, x.detach() + 1), (x,))
    assert [result.requires_grad for result in function(x)] == [True, False]


def test_graphed_callables_refuse(device, graphed):
    for x in (torch.ones(3, 2, device=device), torch.ones(2, device=device), row(device, 1.0).double(), 1.0):
        with pytest.raises(ValueError, match="graphed for arguments"):
            graphed(x)
    with pytest.raises(ValueError, match="requires a gradient"):
        graphed(row(device, 1.0).requires_grad_())
    x = torch.ones(2, device=device)
    with pytest.raises(TypeError, match="tensors"):
        api.make_graphed_callables(lambda value: x, (1,))
    module = torch.nn.Linear(2, 2).to(device)
    module.register_forward_hook(lambda *_: None)
    with pytest.raises(ValueError, match="hooks"):
        api.make_graphed_callables(module, (x,))


BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]


def test_a_profile_shows_the_kernels_of_a_replay(device, tmp_path, captured):
    x = torch.ones(64, device=device)
    graph, _ = captured(lambda: (x + 1) * 2)
    with profile(activities=BOTH) as prof:
        graph.replay()
        graph.replay()
    names = [e.name for e in prof.events() if e.device_type == DeviceType.PrivateUse1]
    assert [name for name in names if name in (ADD, MUL)] == [ADD, MUL] * 2
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    launches = [e for e in events if e.get("cat") == "privateuse1_runtime" and e["name"].endswith("GraphLaunch")]
    assert len(launches) == 2
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert {e["args"]["correlation"] for e in kernels} == {e["args"]["correlation"] for e in launches}
    assert len({(e["pid"], e["tid"]) for e in kernels}) == 1


def test_a_profile_of_replays_on_two_devices(device, other, captured):
    graphs = []
    for where in (device, other):
        x = torch.ones(8, device=where)
        with api.device(where):
            graphs.append(captured(lambda x=x: x + 1)[0])
    with profile(activities=BOTH) as prof:
        for graph in graphs:
            graph.replay()
        for where in (device, other):
            api.synchronize(where)
    found = [e for e in prof.events() if e.device_type == DeviceType.PrivateUse1 and e.name == ADD]
    assert sorted(e.device_index for e in found) == [0, 1]


def test_compiled_code_in_a_graph(device, tmp_path, captured):
    x = torch.ones(100, device=device)
    compiled = torch.compile(lambda x: torch.sin(x) * 2 + 1)
    graph, y = captured(lambda: compiled(x))
    graph.enable_debug_mode()
    graph.debug_dump(str(tmp_path / "graph.dot"))
    assert "fused" in (tmp_path / "graph.dot").read_text()
    x.fill_(0.5)
    graph.replay()
    torch.testing.assert_close(y.cpu(), torch.sin(torch.full((100,), 0.5)) * 2 + 1)
