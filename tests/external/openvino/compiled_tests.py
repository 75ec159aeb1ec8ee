"""torch.compile with the OpenVINO port, against the CPU: see openvino_tests.py."""

import openvino_tests
import pytest
import torch
from openvino_tests import NETWORKS, Transformer, adam, data, mlp, sgd, train
from torch import nn

api = torch.mybackend
_nothing_compiled = openvino_tests._nothing_compiled


@pytest.fixture(autouse=True)
def _dynamo():
    torch._dynamo.reset()


def compiled(model, **options):
    return torch.compile(model, backend="mybackend", **options)


def graphs():
    return [row.graph for row in api.compilations() if row.graph.startswith("torch.compile: ")]


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_trains_and_a_second_step_compiles_nothing(name, optimizer):
    losses, state, _ = train(name, "cpu", optimizer)
    train(name, "mybackend", optimizer)
    eager = len(api.compilations())
    api.reset_compilations()
    ours, moved, counts = train(name, "mybackend", optimizer, compiled)
    torch.testing.assert_close(ours, losses, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(moved, state, rtol=1e-3, atol=1e-4)
    assert counts[1] == counts[2] == counts[4] == 0
    assert graphs()
    assert len(api.compilations()) < eager
    assert {row.category for row in api.refusals()} <= {"dtype"}


def test_a_whole_forward_and_a_whole_backward():
    model = mlp().to("mybackend")
    given = data("mlp", 8)[0].to("mybackend")
    compiled(model)(given).sum().backward()
    assert len(graphs()) <= 3
    assert sum("operators" in graph for graph in graphs()) >= 2


def test_random_numbers_stay_outside():
    model = Transformer(dropout=0.25).to("mybackend")
    run, given = compiled(model), data("transformer", 8)[0].to("mybackend")
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(run(given))
        results[-1].sum().backward()
    assert torch.equal(results[0].cpu(), results[1].cpu())
    assert not torch.equal(results[0].cpu(), results[2].cpu())


def test_inference_views_and_mutations():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(4))

        def forward(self, x):
            self.total.add_(x.sum(0))
            x[:, 1].mul_(2)
            return x.t(), x[1:], (x * self.total).to(torch.float64).cpu(), None, x.shape[0]

    here, there = Counter(), Counter().to("mybackend")
    x = torch.arange(12.0).view(3, 4)
    y = x.to("mybackend")
    with torch.no_grad():
        expected, result = here(x), compiled(there)(y)
    for a, e in zip([*result[:3], y, there.total], [*expected[:3], x, here.total], strict=True):
        assert a.stride() == e.stride()
        torch.testing.assert_close(a.cpu(), e)
    assert result[3:] == (None, 3)
    assert result[1].untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def test_symbolic_sizes_compile_once_for_each_size():
    model = mlp().to("mybackend")
    run = compiled(model, dynamic=True, fullgraph=True)
    torch._dynamo.utils.counters.clear()
    for batch in (8, 6, 8, 6):
        given = data("mlp", batch)[0]
        torch.testing.assert_close(run(given.to("mybackend")).cpu(), model(given.to("mybackend")).cpu())
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    assert len(graphs()) == len(set(graphs())) * 2


def test_options_are_refused():
    with pytest.raises(Exception, match="takes no options"):
        compiled(mlp().to("mybackend"), options={"level": 3})(data("mlp", 8)[0].to("mybackend"))
