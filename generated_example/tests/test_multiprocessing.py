# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Tensors of the device in other processes: shared, not copied. Real processes, started by spawn."""

import gc
import os
import signal
import time
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
import torch.multiprocessing as mp
from torch_openreg import _C

NAME = "openreg"
api = torch.openreg
MIB = 1 << 20
PATIENCE = 300  # seconds: a process imports PyTorch, on a machine that may be busy


def _can_share():
    if api.device_count() == 0:
        return False
    try:
        _C._ipc_share(torch.ones(1, device=NAME).untyped_storage())
    except NotImplementedError:
        return False
    return True


class Consumer:
    """Another process that runs what it is sent: (function, arguments) in, a result out."""

    def __init__(self):
        context = mp.get_context("spawn")
        self.tasks, self.results = context.Queue(), context.Queue()
        self.process = context.Process(target=_serve, args=(self.tasks, self.results), daemon=True)
        self.process.start()

    def call(self, function, *args):
        self.tasks.put((function, args))
        ok, result = self.results.get(timeout=PATIENCE)
        assert ok, result
        return result

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(PATIENCE)

    def close(self):
        if self.process.is_alive():
            self.tasks.put(None)
            self.process.join(PATIENCE)


def _serve(tasks, results):
    kept = {}
    while (task := tasks.get()) is not None:
        function, args = task
        del task
        try:
            answer = True, function(kept, *args)
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}"
        del args
        gc.collect()
        results.put(answer)
        del answer


def _keep(kept, name, value):
    kept[name] = value
    return value.tolist() if isinstance(value, torch.Tensor) else None


def _drop(kept, *names):
    for name in names:
        del kept[name]
    gc.collect()


def _fill(kept, name, value):
    kept[name].fill_(value)
    api.synchronize()


def _values(kept, name):
    return kept[name].tolist()


def _share_storage(kept, *names):
    return len({kept[name].untyped_storage()._cdata for name in names}) == 1


def _hand_back(kept, name):
    return kept[name]


def _make(kept, values):
    kept["mine"] = torch.tensor(values, device=NAME)
    return kept["mine"]


def _drop_in_a_capture(kept, name):
    y = torch.zeros(2, device=NAME)
    graph = api.Graph()
    with api.graph(graph):
        y.add_(1)
        _drop(kept, name)
    graph.replay()
    return y.tolist()


def _describe(kept, value):
    return type(value).__name__, str(value.device), value.requires_grad, value.is_leaf


def _sum(kept, tensors):
    return [x.cpu().sum().item() for x in tensors]


@pytest.fixture(scope="module")
def shared_consumer():
    if not _can_share():
        pytest.skip("the device can't share memory between processes")
    consumer = Consumer()
    yield consumer
    consumer.close()


@pytest.fixture
def consumer(shared_consumer):
    yield shared_consumer


@pytest.fixture
def own_consumer():
    if not _can_share():
        pytest.skip("the device can't share memory between processes")
    consumer = Consumer()
    yield consumer
    consumer.close()


def _held():
    gc.collect()
    api.ipc_collect()
    return api.memory_allocated(0)


def _wait_until_held(nbytes):
    """A process that was killed lets go when the system is done with it."""
    end = time.monotonic() + PATIENCE
    while (held := _held()) != nbytes and time.monotonic() < end:
        time.sleep(0.05)
    assert held == nbytes


def test_both_sides_see_the_same_memory(consumer, device):
    x = torch.arange(10.0, device=device)
    assert consumer.call(_keep, "x", x) == list(range(10))
    x.fill_(3)
    api.synchronize()
    assert consumer.call(_values, "x") == [3.0] * 10
    consumer.call(_fill, "x", 4)
    assert x.tolist() == [4.0] * 10
    consumer.call(_drop, "x")


def test_what_goes_away_in_a_capture_does_not_end_it(consumer, device):
    before = _held()
    x = torch.ones(4, device=device)
    consumer.call(_keep, "x", x)
    assert consumer.call(_drop_in_a_capture, "x") == [1.0, 1.0]
    consumer.call(_keep, "y", torch.ones(4, device=device))  # another one that goes away takes it along
    consumer.call(_drop, "y")
    del x
    _wait_until_held(before)


def test_order_needs_no_synchronization(consumer, device):
    x = torch.zeros(1 << 20, device=device)
    for value in range(1, 5):
        x.fill_(value)
        assert consumer.call(_sum, [x]) == [value * float(1 << 20)]


def test_memory_is_kept_until_the_last_lets_go(consumer, device):
    before = _held()
    x = torch.ones(MIB, device=device)
    size = _held() - before
    assert size >= 4 * MIB
    consumer.call(_keep, "x", x.view(4, -1)[0, :2])
    del x
    assert _held() - before == size
    y = torch.zeros(MIB, device=device)
    assert consumer.call(_values, "x") == [1.0, 1.0]
    del y
    consumer.call(_drop, "x")
    assert _held() == before


def test_views_of_one_storage(consumer, device):
    before = _held()
    base = torch.arange(100.0, device=device)
    consumer.call(_keep, "row", base.view(10, 10)[3])
    consumer.call(_keep, "column", base.view(10, 10)[:, 3])
    consumer.call(_keep, "all", base)
    assert consumer.call(_share_storage, "row", "column", "all")
    assert consumer.call(_values, "column") == [float(i * 10 + 3) for i in range(10)]
    consumer.call(_fill, "column", -1)
    assert base.view(10, 10)[3].tolist() == [30.0, 31.0, 32.0, -1.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0]
    consumer.call(_drop, "row", "all")
    del base
    assert _held() > before
    consumer.call(_drop, "column")
    assert _held() == before


def test_many_tensors(consumer, device):
    before = _held()
    tensors = [torch.full((1000,), float(i), device=device) for i in range(200)]
    assert consumer.call(_sum, tensors) == [1000.0 * i for i in range(200)]
    assert consumer.call(_sum, tensors) == [1000.0 * i for i in range(200)]
    del tensors
    assert _held() == before


def test_each_device_its_own(consumer, device, other):
    pair = [torch.ones(5, device=device), torch.full((5,), 2.0, device=other)]
    assert consumer.call(_sum, pair) == [5.0, 10.0]


def test_home_again(consumer, device):
    x = torch.arange(5.0, device=device)
    consumer.call(_keep, "x", x)
    back = consumer.call(_hand_back, "x")
    assert back.untyped_storage()._cdata == x.untyped_storage()._cdata
    address = x.data_ptr()
    del x, back
    home = consumer.call(_hand_back, "x")  # the storage is dead here, its memory is not
    assert home.data_ptr() == address
    assert home.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    consumer.call(_drop, "x")


def test_from_there_to_here(consumer):
    x = consumer.call(_make, [1.0, 2.0, 3.0])
    assert x.tolist() == [1.0, 2.0, 3.0]
    x.fill_(8)
    api.synchronize()
    assert consumer.call(_values, "mine") == [8.0] * 3
    consumer.call(_drop, "mine")
    assert x.tolist() == [8.0] * 3


def test_passed_on(consumer, own_consumer, device):
    before = _held()
    x = torch.full((1000,), 5.0, device=device)
    consumer.call(_keep, "x", x)
    del x
    own_consumer.call(_keep, "x", consumer.call(_hand_back, "x"))
    consumer.call(_drop, "x")
    assert _held() > before
    assert own_consumer.call(_values, "x") == [5.0] * 1000
    own_consumer.call(_drop, "x")
    assert _held() == before


def test_what_a_killed_consumer_held_is_freed(own_consumer, device):
    before = _held()
    x = torch.ones(MIB, device=device)
    own_consumer.call(_keep, "x", x)
    del x
    assert _held() > before
    own_consumer.kill()
    _wait_until_held(before)


def test_memory_outlives_a_killed_producer(own_consumer):
    x = own_consumer.call(_make, [1.0, 2.0, 3.0])
    own_consumer.kill()
    assert x.tolist() == [1.0, 2.0, 3.0]
    x.add_(1)
    assert x.tolist() == [2.0, 3.0, 4.0]


def test_a_message_of_the_dead(own_consumer, consumer):
    x = own_consumer.call(_make, [1.0])
    message = _C._ipc_share(x.untyped_storage())
    del x
    own_consumer.kill()
    gc.collect()
    with pytest.raises(RuntimeError, match="has ended"):
        _C._ipc_open(message)


def test_all_kinds_of_tensors(consumer, device):
    parameter = torch.nn.Parameter(torch.ones(3, device=device))
    assert consumer.call(_describe, parameter) == ("Parameter", f"{NAME}:0", True, True)
    empty = torch.empty(0, 3, device=device)
    assert consumer.call(_describe, empty) == ("Tensor", f"{NAME}:0", False, True)
    assert consumer.call(_describe, torch.ones(3)) == ("Tensor", "cpu", False, True)
    leaf = torch.ones(3, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing"):
        ForkingPickler.dumps(leaf.view(3))


def test_modules(consumer, device):
    module = torch.nn.Linear(4, 2).to(device).share_memory()
    theirs = consumer.call(_sum, list(module.parameters()))
    assert theirs == pytest.approx([p.cpu().sum().item() for p in module.parameters()])


def test_received_storages_keep_their_size(consumer):
    x = consumer.call(_make, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="(?i)resiz"):
        x.resize_(1000)
    consumer.call(_drop, "mine")


def test_recorded_streams_hold_memory_that_was_shared(device):
    if not _can_share():
        pytest.skip("the device can't share memory between processes")
    stream = api.Stream()
    back = torch.zeros(MIB).pin_memory()
    with api.stream(stream):
        busy = torch.empty(16 * MIB, device=device)
    for _ in range(3):
        x = torch.full((MIB,), 3.0, device=device)
        _C._ipc_open(_C._ipc_share(x.untyped_storage()))  # the message has come home: nobody else uses the memory
        stream.wait_stream(api.current_stream())
        with api.stream(stream):
            for value in range(8):
                busy.fill_(value + 1)
            back.copy_(x, non_blocking=True)
        x.record_stream(stream)
        del x
        torch.full((MIB,), 4.0, device=device)
        stream.synchronize()
        assert torch.equal(back, torch.full((MIB,), 3.0))


def test_peers(device, other):
    assert not api.can_device_access_peer(device, device)
    answer = api.can_device_access_peer(device, other)
    assert answer == api.can_device_access_peer(0, 1)
    x = torch.arange(1000.0, device=device)
    assert torch.equal(x.to(other).cpu(), x.cpu())
    assert torch.equal(x.to(other, non_blocking=True).to(device).cpu(), x.cpu())
    with pytest.raises(RuntimeError):
        api.can_device_access_peer(0, api.device_count())
