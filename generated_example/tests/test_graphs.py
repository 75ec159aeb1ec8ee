# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
"""Graphs: what a stream is given is captured once and replayed as a whole."""

import pytest
import torch

api = torch.openreg
ADD, MUL = "add_kernel", "mul_kernel"


def test_replays_compute_anew(device, captured):
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


def test_replays_are_ordered_with_their_stream(device, captured):
    x = torch.zeros(1000, device=device)
    graph, _ = captured(lambda: x.add_(1), warm=False)
    for _ in range(20):
        x.mul_(2)
        graph.replay()
    expected = torch.zeros(1000)
    for _ in range(20):
        expected = expected * 2 + 1
    assert torch.equal(x.cpu(), expected)


def test_streams_fork_and_join_by_events(device, captured):
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


def test_a_stream_of_another_device_takes_part(device, other, captured):
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


def test_a_graph_of_the_second_device(other, captured):
    x = torch.zeros(10, device=other)
    with api.device(other):
        graph, y = captured(lambda: x + 5)
    graph.replay()
    api.synchronize(other)
    assert y.device == other
    assert y.sum().item() == 50


def test_graphs_share_a_pool(device, captured):
    x = torch.ones(1 << 16, device=device)
    first, y = captured(lambda: x + 1)
    second, z = captured(lambda: y * 2, pool=first.pool())
    assert first.pool() == second.pool()
    x.fill_(4)
    first.replay()
    second.replay()
    assert z.min().item() == z.max().item() == 10


def test_pool_handles(device, captured):
    pool = api.graph_pool_handle()
    assert pool != api.graph_pool_handle()
    x = torch.ones(10, device=device)
    graph, y = captured(lambda: x + 1, pool=pool)
    assert tuple(graph.pool()) == tuple(pool)
    graph.replay()
    assert y.sum().item() == 20


def test_memory_of_a_live_graph_is_its_own(device, captured):
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


def test_memory_goes_back_at_reset(device, captured):
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


def test_a_graph_that_is_deleted_while_it_runs(device, captured):
    x = torch.zeros(1 << 16, device=device)
    graph, _ = captured(lambda: [x.add_(1) for _ in range(50)], warm=False)
    graph.replay()
    del graph
    assert x.min().item() == x.max().item() == 50


def test_pinned_memory_is_copied_with_each_replay(device, captured):
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


def test_outputs_of_the_cpu_that_are_resized_on_the_way(device, captured):
    x, y, out = torch.zeros(5, 4, device=device), torch.zeros(5, 4, device=device), torch.zeros((), device=device)
    graph, _ = captured(lambda: torch.ops.aten.mse_loss.out(x, y, out=out))
    for value in (2, 3):
        x.fill_(value)
        graph.replay()
        assert out.item() == value * value


def test_outputs_that_are_resized_on_the_way(device, captured):
    x, y = torch.full((5, 4), 3.0, device=device), torch.zeros(5, 4, device=device)
    wanted = torch.empty(0, device=device)
    graph, _ = captured(lambda: torch.sub(x, y, out=wanted.resize_(0)))
    graph.replay()
    assert wanted.shape == (5, 4)
    assert wanted.sum().item() == 60


def test_numbers_of_the_cpu_keep_their_value(device, captured):
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


def test_debug_dump(device, tmp_path, captured):
    x = torch.ones(4, device=device)
    graph, _ = captured(lambda: (x + 1) * 2)
    path = tmp_path / "graph.dot"
    with pytest.raises(RuntimeError, match="enable_debug_mode"):
        graph.debug_dump(str(path))
    graph.enable_debug_mode()
    graph.debug_dump(str(path))
    text = path.read_text()
    assert text.startswith("digraph")
    assert text.index(ADD) < text.index(MUL)
