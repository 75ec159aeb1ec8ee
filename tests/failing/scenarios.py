"""Uses of a backend, while calls of its device fail. Each returns plain Python values, the same in each run."""

import os
import pickle
import struct
import subprocess
import sys
import tempfile

import torch

SCENARIOS: dict[str, object] = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def devices(name: str) -> list[str]:
    """Two, the same one twice where there is only one."""
    return [f"{name}:0", f"{name}:{1 if torch.get_device_module(name).device_count() > 1 else 0}"]


@scenario
def memory(name):
    api, (first, second) = torch.get_device_module(name), devices(name)
    held = [torch.full((size,), 3.0, device=each) for size in (1, 1000, 1 << 20) for each in (first, second)]
    sums = [each.sum().item() for each in held]
    del held[::2]
    api.empty_cache()
    more = torch.ones(1 << 21, device=first)
    return [*sums, more.sum().item(), [each.sum().item() for each in held]]


@scenario
def copies(name):
    first, second = devices(name)
    host = torch.arange(5000.0)
    x = host.to(first)
    across = x.to(second)
    turned = x.reshape(50, 100).t().contiguous()
    back = torch.empty(5000)
    back.copy_(across)
    x[10:20] = x[20:30]
    return [back.sum().item(), turned.cpu()[3, :5].tolist(), x.cpu()[8:24].tolist(), x.double().cpu().sum().item()]


@scenario
def pinned(name):
    host = torch.arange(4096.0).pin_memory(name)
    x = host.to(name, non_blocking=True)
    back = torch.empty(4096, pin_memory=True)
    back.copy_(x * 2, non_blocking=True)
    torch.accelerator.synchronize()
    return [back.sum().item(), back[:4].tolist()]


@scenario
def kernels(name):
    generator = torch.Generator(name).manual_seed(7)
    x = torch.arange(-50.0, 50.0, device=name).reshape(10, 10)
    y = (x @ x.t()).relu() + x.abs().sqrt()
    drawn = torch.rand(1000, device=name, generator=generator)
    out = [y.sum().item(), y.amax(1).tolist(), x.softmax(0)[0].tolist(), 0 <= drawn.min().item() <= 1]
    return [*out, torch.special.i1(x[6]).tolist(), x[x > 40].tolist(), x.int().tolist()[0], y.norm().item()]


@scenario
def streams(name):
    api, (first, _) = torch.get_device_module(name), devices(name)
    side, other = torch.Stream(first), torch.Stream(first)
    done, late = torch.Event(first, enable_timing=True), torch.Event(first, enable_timing=True)
    x = torch.ones(1000, device=first)
    side.wait_stream(api.current_stream())
    with side:
        y = x * 3
        done.record()
    with other:
        other.wait_event(done)
        z = y + x
        y.record_stream(other)
        late.record()
    late.synchronize()
    passed = done.elapsed_time(late) >= 0
    api.current_stream().wait_event(late)
    out = [z.sum().item(), passed, late.query()]
    side.synchronize()
    return [*out, side.query()]


@scenario
def graphs(name):
    api = torch.get_device_module(name)
    x = torch.ones(100, device=name)
    with torch.Stream(name):  # kernels run once before they are captured
        x.mul(2).add(1)
    torch.accelerator.synchronize()
    graph = api.Graph()
    with api.graph(graph):
        y = x.mul(2).add(1)
    out = []
    for value in (5.0, -3.0):
        x.fill_(value)
        graph.replay()
        out.append(y.sum().item())
    graph.reset()
    return out


@scenario
def training(name):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)).to(name)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    x, wanted = torch.linspace(-1, 1, 64).reshape(8, 8).to(name), torch.arange(8).remainder(4).to(name)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@scenario
def saving(name):
    _, second = devices(name)
    with tempfile.TemporaryFile() as file:
        torch.save({"w": torch.arange(100.0, device=second)}, file)
        file.seek(0)
        loaded = torch.load(file, map_location=name)["w"]
    return [loaded.sum().item(), str(loaded.device)]


@scenario
def collectives(name):
    import torch.distributed as dist

    dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
    try:
        x = torch.arange(100.0, device=name)
        dist.all_reduce(x)
        parts = [torch.empty_like(x)]
        dist.all_gather(parts, x * 2)
        dist.broadcast(x, 0)
        return [x.sum().item(), parts[0].sum().item()]
    finally:
        dist.destroy_process_group()


@scenario
def processes(name):
    """Memory of another process is read here, and memory of this process there."""
    from multiprocessing.reduction import ForkingPickler

    import torch.multiprocessing  # its reductions

    x = torch.arange(1000.0, device=name)
    there = PEER.ask("sum", bytes(ForkingPickler.dumps(x)))
    theirs = pickle.loads(PEER.ask("share", b""))
    here = theirs.sum().item()
    del theirs
    PEER.ask("forget", b"")
    return [pickle.loads(there), here]


class Peer:
    """Another process with the same backend, whose calls don't fail. Forks of this process share it, in turn."""

    def __init__(self, package: str, name: str, environment: dict[str, str]) -> None:
        words = [sys.executable, __file__, package, name]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, verb: str, data: bytes) -> bytes:
        """An answer to an earlier fork's question is left unread by that fork, so answers carry the asker's number."""
        write(self._process.stdin, pickle.dumps((os.getpid(), verb, data)))
        while True:
            asker, answer = pickle.loads(read(self._process.stdout))
            if asker == os.getpid():
                if isinstance(answer, str):
                    raise AssertionError(answer)
                return answer

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)


PEER: Peer | None = None


def write(file, data: bytes) -> None:
    file.write(struct.pack("<Q", len(data)) + data)
    file.flush()


def read(file) -> bytes:
    head = file.read(8)
    if len(head) < 8:
        raise EOFError
    return file.read(struct.unpack("<Q", head)[0])


def serve(package: str, name: str) -> None:
    import importlib
    from multiprocessing.reduction import ForkingPickler

    importlib.import_module(package)
    held = None
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            asker, verb, data = pickle.loads(read(sys.stdin.buffer))
        except EOFError:
            return
        try:
            answer = b""
            if verb == "sum":
                answer = pickle.dumps(pickle.loads(data).sum().item())
            elif verb == "share":
                held = torch.full((500,), 2.0, device=name)
                answer = bytes(ForkingPickler.dumps(held))
            else:
                held = None
        except Exception as error:  # its answer to the asker
            answer = f"the peer: {type(error).__name__}: {error}"
        write(out, pickle.dumps((asker, answer)))


if __name__ == "__main__":
    serve(*sys.argv[1:])
