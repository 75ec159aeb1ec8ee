# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
"""Graphs: what a stream is given is captured once and replayed as a whole."""

import json
import threading

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

NAME = "openreg"
api = torch.openreg

REFUSED = "operation not permitted while a stream is captured|capture of a graph failed"


def captured(function, warm=True, **options):
    """A graph of function(), and what it returned."""
    if warm:
        with api.stream(api.Stream()):
            function()
        api.synchronize()
    graph = api.Graph()
    with api.graph(graph, **options):
        result = function()
    return graph, result


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


def test_replays_compute_anew(device):
    x = torch.zeros(100, device=device)
    graph, y = captured(lambda: (x + 1) * 2)
    for value in (3.0, -7.0):
        x.fill_(value)
        graph.replay()
        assert torch.equal(y.cpu(), torch.full((100,), (value + 1) * 2))


def test_nothing_runs_before_the_replay(device):
    x = torch.zeros(4, device=device)
    graph = api.Graph()
    with api.graph(graph):
        assert api.is_current_stream_capturing()
        assert api.current_stream() != api.default_stream()
        x += 1
    assert not api.is_current_stream_capturing()
    assert x.sum().item() == 0
    graph.replay()
    graph.replay()
    assert x.sum().item() == 8


def test_with_torch_accelerator(device):
    x = torch.zeros(3, device=device)
    graph = torch.accelerator.Graph()
    with torch.Stream(device), graph:
        x += 1
    graph.replay()
    assert x.tolist() == [1, 1, 1]
    graph.reset()
    with api.graph(graph):
        x += 2
    graph.replay()
    assert x.tolist() == [3, 3, 3]


def test_replays_are_ordered_with_their_stream(device):
    x = torch.zeros(1000, device=device)
    graph, _ = captured(lambda: x.add_(1), warm=False)
    for _ in range(20):
        x.mul_(2)
        graph.replay()
    expected = torch.zeros(1000)
    for _ in range(20):
        expected = expected * 2 + 1
    assert torch.equal(x.cpu(), expected)


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [(torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adam, {"capturable": True, "foreach": False})],
)
def test_a_training_step_is_the_same_as_eager(device, optimizer, options):
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


def test_streams_fork_and_join_by_events(device):
    x = torch.ones(1000, device=device)
    origin, side = api.Stream(), api.Stream()  # in turn from a pool, so never the same
    forked = []

    def function():
        main = api.current_stream()
        doubled = x * 2
        side.wait_stream(main)
        with api.stream(side):
            forked.append(api.is_current_stream_capturing())
            tripled = doubled * 3
        added = doubled + 1
        main.wait_stream(side)
        return tripled + added

    graph, y = captured(function, stream=origin)
    assert forked == [False, True]
    for value in (2, 5):
        x.fill_(value)
        graph.replay()
        assert torch.equal(y.cpu(), torch.full((1000,), 8.0 * value + 1))


def test_work_that_is_not_joined_fails(device):
    x = torch.ones(10, device=device)
    origin, side = api.Stream(), api.Stream()
    graph = api.Graph()
    with pytest.raises(torch.AcceleratorError, match=REFUSED), api.graph(graph, stream=origin):
        side.wait_stream(api.current_stream())
        with api.stream(side):
            x + 1
    assert (x + 1).sum().item() == 20


def test_a_stream_of_another_device_takes_part(device, other):
    x = torch.ones(100, device=device)
    there = api.Stream(other)

    def function():
        main = api.current_stream()
        there.wait_stream(main)
        with api.stream(there):
            moved = (x + 1).to(other)
            result = moved * 3
        main.wait_stream(there)
        return result

    graph, y = captured(function)
    assert y.device == other
    for value in (1, 4):
        x.fill_(value)
        graph.replay()
        api.synchronize(device)
        assert torch.equal(y.cpu(), torch.full((100,), (value + 1) * 3.0))
        # What is allocated there meanwhile takes nothing of the graph's.
        assert torch.zeros(100, device=other).data_ptr() != y.data_ptr()


def test_a_graph_of_the_second_device(other):
    x = torch.zeros(10, device=other)
    with api.device(other):
        graph, y = captured(lambda: x + 5)
    graph.replay()
    api.synchronize(other)
    assert y.device == other
    assert y.sum().item() == 50


def test_graphs_share_a_pool(device):
    x = torch.ones(1 << 16, device=device)
    first, y = captured(lambda: x + 1)
    second, z = captured(lambda: y * 2, pool=first.pool())
    assert first.pool() == second.pool()
    x.fill_(4)
    first.replay()
    second.replay()
    assert z.min().item() == z.max().item() == 10


def test_pool_handles(device):
    pool = api.graph_pool_handle()
    assert pool != api.graph_pool_handle()
    x = torch.ones(10, device=device)
    graph, y = captured(lambda: x + 1, pool=pool)
    assert tuple(graph.pool()) == tuple(pool)
    graph.replay()
    assert y.sum().item() == 20


def test_memory_of_a_live_graph_is_its_own(device):
    x = torch.ones(1 << 12, device=device)
    graph, y = captured(lambda: ((x + 1) * 2).sum())
    address = y.data_ptr()
    del y
    api.empty_cache()
    others = [torch.full((1 << 12,), 9.0, device=device) for _ in range(20)]
    assert address not in {other.data_ptr() for other in others}
    graph.replay()
    api.synchronize()
    assert all(other.min().item() == 9 for other in others)


def test_memory_goes_back_at_reset(device):
    api.empty_cache()
    before = api.memory_reserved()
    graph, y = captured(lambda: torch.ones(1 << 20, device=device) + 1, warm=False)
    graph.replay()
    assert y.min().item() == 2
    del y
    api.empty_cache()
    assert api.memory_reserved() > before
    graph.reset()
    api.empty_cache()
    assert api.memory_reserved() == before


def test_a_graph_that_is_deleted_while_it_runs(device):
    x = torch.zeros(1 << 16, device=device)
    graph, _ = captured(lambda: [x.add_(1) for _ in range(50)], warm=False)
    graph.replay()
    del graph
    assert x.min().item() == x.max().item() == 50


def test_what_a_capture_refuses(device):
    x = torch.ones(4, device=device)
    pageable = torch.empty(4)
    for refused in (
        lambda: x.sum().item(),
        lambda: x.cpu(),
        lambda: pageable.copy_(x),
        lambda: x.copy_(pageable),
        lambda: torch.tensor([1.0], device=device),
        lambda: api.synchronize(),
        lambda: api.current_stream().synchronize(),
        lambda: api.current_stream().query(),
        lambda: x.nonzero(),
        lambda: torch.equal(x, x + 1),
        lambda: api.manual_seed(1),
    ):
        graph = api.Graph()
        with pytest.raises(RuntimeError, match=REFUSED), api.graph(graph):
            refused()
        assert not api.is_current_stream_capturing()
        with pytest.raises(RuntimeError, match="nothing was captured"):
            graph.replay()
    assert (x + 1).tolist() == [2, 2, 2, 2]


def test_a_refused_call_fails_the_capture(device):
    x = torch.ones(4, device=device)
    graph = torch.accelerator.Graph()
    stream = torch.Stream(device)
    with stream:
        torch.accelerator.synchronize()
        graph.capture_begin()
        with pytest.raises(torch.AcceleratorError, match=REFUSED):
            x.sum().item()
        with pytest.raises(torch.AcceleratorError, match=REFUSED):
            graph.capture_end()
    graph.capture_begin()
    x += 1
    graph.capture_end()
    graph.replay()
    assert x.tolist() == [2, 2, 2, 2]


def test_the_cache_is_not_emptied_meanwhile(device):
    graph = api.Graph()
    with pytest.raises(RuntimeError, match=REFUSED), api.graph(graph):
        api.empty_cache()


def elsewhere(function):
    errors = []

    def run():
        try:
            function()
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors


def test_modes_say_who_may_wait(device):
    x = torch.ones(4, device=device)
    graph = api.Graph()
    with api.graph(graph, capture_error_mode="thread_local"):
        y = x + 1
        assert elsewhere(api.synchronize) == []
    graph.replay()
    assert y.sum().item() == 8
    graph = api.Graph()
    with api.graph(graph, capture_error_mode="relaxed"):
        y = x + 2
        api.synchronize()
    graph.replay()
    assert y.sum().item() == 12
    with pytest.raises(torch.AcceleratorError, match=REFUSED), api.graph(api.Graph()):
        x + 1
        (error,) = elsewhere(api.synchronize)
    assert "not permitted" in error
    with pytest.raises(RuntimeError, match="[Uu]nknown|mode"):
        api.Graph().capture_begin(capture_error_mode="other")


def test_pinned_memory_is_copied_with_each_replay(device):
    source, target = torch.ones(100).pin_memory(), torch.zeros(100).pin_memory()
    x = torch.zeros(100, device=device)

    def function():
        x.copy_(source, non_blocking=True)
        target.copy_(x * 2, non_blocking=True)

    graph, _ = captured(function, warm=False)
    for value in (3, 8):
        source.fill_(value)
        graph.replay()
        api.synchronize()
        assert target.tolist() == [value * 2.0] * 100


def test_random_numbers_advance(device):
    graph, y = captured(lambda: torch.rand(1000, device=device))
    drawn = []
    for _ in range(3):
        graph.replay()
        drawn.append(y.cpu())
    assert len({tuple(values.tolist()) for values in drawn}) == 3
    assert all(values.min() >= 0 and values.max() < 1 for values in drawn)


def test_random_numbers_of_replays_are_those_of_eager(device):
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


def test_a_capture_draws_nothing(device):
    x = torch.empty(100, device=device)
    api.manual_seed(5)
    state = api.get_rng_state()
    captured(lambda: x.uniform_(), warm=False)
    assert torch.equal(api.get_rng_state(), state)


def test_a_generator_of_its_own(device):
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


def test_outputs_that_are_resized_on_the_way(device):
    x, y, out = torch.zeros(5, 4, device=device), torch.zeros(5, 4, device=device), torch.zeros((), device=device)
    graph, _ = captured(lambda: torch.ops.aten.mse_loss.out(x, y, out=out))
    for value in (2, 3):
        x.fill_(value)
        graph.replay()
        assert out.item() == value * value
    wanted = torch.empty(0, device=device)
    graph, _ = captured(lambda: torch.sub(x, y, out=wanted.resize_(0)))
    graph.replay()
    assert wanted.shape == (5, 4)
    assert wanted.sum().item() == 60


def test_dropout(device):
    x = torch.ones(10000, device=device)
    graph, y = captured(lambda: torch.nn.functional.dropout(x, 0.25))
    masks = []
    for _ in range(2):
        graph.replay()
        masks.append(y.cpu() != 0)
    assert not torch.equal(*masks)
    assert all(0.7 < mask.double().mean() < 0.8 for mask in masks)


def test_convolutions_norms_and_losses(device):
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


def test_numbers_of_the_cpu_keep_their_value(device):
    x, number = torch.ones(4, device=device), torch.tensor(2.0)
    graph, y = captured(lambda: x * number)
    number.fill_(9)
    graph.replay()
    assert y.tolist() == [2, 2, 2, 2]


def test_lifecycle(device):
    x = torch.zeros(2, device=device)
    graph = api.Graph()
    with pytest.raises(RuntimeError, match="nothing was captured"):
        graph.replay()
    with pytest.raises(RuntimeError, match="without capture_begin"):
        graph.capture_end()
    with pytest.raises(RuntimeError, match="has a pool from"):
        graph.pool()
    with api.graph(graph):
        with pytest.raises(RuntimeError, match="captured already"):
            graph.capture_begin()
        with pytest.raises(RuntimeError, match="into another graph"):
            api.Graph().capture_begin()
        x += 1
    with pytest.raises(RuntimeError, match="captured before"), api.graph(graph):
        pass
    graph.replay()
    assert x.tolist() == [1, 1]
    graph.reset()
    graph.reset()
    with pytest.raises(RuntimeError, match="nothing was captured"):
        graph.replay()
    with api.graph(graph):
        x += 3
    graph.replay()
    assert x.tolist() == [4, 4]


def test_an_exception_gives_the_capture_up(device):
    x = torch.zeros(2, device=device)
    graph = api.Graph()
    with pytest.raises(ZeroDivisionError), api.graph(graph):
        x += 1
        _ = 1 / 0
    assert api.current_stream() == api.default_stream()
    assert not api.is_current_stream_capturing()
    assert x.tolist() == [0, 0]
    with api.graph(graph):
        x += 1
    graph.replay()
    assert x.tolist() == [1, 1]


def test_an_empty_graph_warns(device):
    graph = api.Graph()
    with pytest.warns(UserWarning, match="the graph is empty"), api.graph(graph):
        pass
    graph.replay()


def test_debug_dump(device, tmp_path):
    x = torch.ones(4, device=device)
    graph, _ = captured(lambda: (x + 1) * 2)
    path = tmp_path / "graph.dot"
    with pytest.raises(RuntimeError, match="enable_debug_mode"):
        graph.debug_dump(str(path))
    graph.enable_debug_mode()
    graph.debug_dump(str(path))
    text = path.read_text()
    assert text.startswith("digraph")
    assert text.index("add_kernel") < text.index("mul_kernel")


def test_errors_of_a_replay_are_reported(device):
    x = torch.ones(4, device=device)
    index = torch.zeros(2, dtype=torch.long, device=device)
    graph, y = captured(lambda: x[index])
    graph.replay()
    assert y.tolist() == [1, 1]
    index.fill_(100)
    graph.replay()
    with pytest.raises(torch.AcceleratorError, match="index"):
        api.synchronize()
    index.fill_(3)
    graph.replay()
    assert y.tolist() == [1, 1]


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


def test_graphed_callables_refuse(device):
    x = torch.ones(2, device=device)
    with pytest.raises(TypeError, match="tensors"):
        api.make_graphed_callables(lambda value: x, (1,))
    module = torch.nn.Linear(2, 2).to(device)
    module.register_forward_hook(lambda *_: None)
    with pytest.raises(ValueError, match="hooks"):
        api.make_graphed_callables(module, (x,))


BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]


def test_a_profile_shows_the_kernels_of_a_replay(device, tmp_path):
    x = torch.ones(64, device=device)
    graph, _ = captured(lambda: (x + 1) * 2)
    with profile(activities=BOTH) as prof:
        graph.replay()
        graph.replay()
    names = [e.name for e in prof.events() if e.device_type == DeviceType.PrivateUse1]
    assert [name for name in names if name in ("add_kernel", "mul_kernel")] == ["add_kernel", "mul_kernel"] * 2
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    launches = [e for e in events if e.get("cat") == "privateuse1_runtime" and e["name"].endswith("GraphLaunch")]
    assert len(launches) == 2
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert {e["args"]["correlation"] for e in kernels} == {e["args"]["correlation"] for e in launches}
    assert len({(e["pid"], e["tid"]) for e in kernels}) == 1


def test_a_profile_of_replays_on_two_devices(device, other):
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
    found = [e for e in prof.events() if e.device_type == DeviceType.PrivateUse1 and e.name == "add_kernel"]
    assert sorted(e.device_index for e in found) == [0, 1]


def test_compiled_code_in_a_graph(device, tmp_path):
    x = torch.ones(100, device=device)
    compiled = torch.compile(lambda x: torch.sin(x) * 2 + 1)
    graph, y = captured(lambda: compiled(x))
    graph.enable_debug_mode()
    graph.debug_dump(str(tmp_path / "graph.dot"))
    assert "fused" in (tmp_path / "graph.dot").read_text()
    x.fill_(0.5)
    graph.replay()
    torch.testing.assert_close(y.cpu(), torch.sin(torch.full((100,), 0.5)) * 2 + 1)
