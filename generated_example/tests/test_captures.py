# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
"""Captures of graphs: what they refuse, who may wait meanwhile, how they end and fail."""

import threading

import pytest
import torch

api = torch.openreg
REFUSED = "operation not permitted while a stream is captured|capture of a graph failed"


def test_work_that_is_not_joined_fails(device):
    x = torch.ones(10, device=device)
    origin, side = api.Stream(), api.Stream()
    graph = api.Graph()
    with pytest.raises(torch.AcceleratorError, match=REFUSED), api.graph(graph, stream=origin):
        side.wait_stream(api.current_stream())
        with api.stream(side):
            x + 1
    assert (x + 1).sum().item() == 20


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


def test_errors_of_a_replay_are_reported(device, captured):
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


def test_a_graph_that_goes_away_meanwhile(device, captured):
    """Garbage collection may drop a graph, which waits for its replays, in the midst of another one's capture."""
    x = torch.zeros(1 << 16, device=device)
    replayed, _ = captured(lambda: [x.add_(1) for _ in range(50)], warm=False)
    unused, _ = captured(lambda: x + 1)
    replayed.replay()
    graph = api.Graph()
    with api.graph(graph):
        y = x * 2
        del replayed, unused
        y += 1
    assert x.min().item() == x.max().item() == 50
    graph.replay()
    assert y.min().item() == y.max().item() == 101
