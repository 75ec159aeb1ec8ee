"""Programs without a race that look as if they had one; each says why it has none."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils.data import DataLoader

SIZE = 1 << 12


def _current() -> torch.Stream:
    return torch.accelerator.current_stream()


def _pinned(value: float = 1.0) -> torch.Tensor:
    return torch.full((SIZE,), value).pin_memory()


def upload_that_waits(device: str) -> None:
    """A copy without non_blocking has ended when it returns, so any stream may use the result."""
    side, x = torch.Stream(device), torch.ones(SIZE).to(device)
    with side:
        x.sum()
    side.synchronize()


def upload_that_waits_and_casts(device: str) -> None:
    host = _pinned()
    x = host.to(device, torch.float16)
    host.fill_(5)
    x.add_(1)


def upload_of_pageable_memory(device: str) -> None:
    """non_blocking doesn't outlast the call if the CPU's memory isn't pinned."""
    host = torch.ones(SIZE)
    x = host.to(device, non_blocking=True)
    host.fill_(5)
    x.sum()


def download_that_waits(device: str) -> None:
    host = torch.empty(SIZE).pin_memory()
    for _ in range(2):
        host.copy_(torch.ones(SIZE, device=device))
        host.numpy().sum()
        host.add_(1)


def download_and_an_event(device: str) -> None:
    host = torch.ones(SIZE, device=device).to("cpu", non_blocking=True)
    event = torch.Event(device)
    event.record()
    event.synchronize()
    host.sum()
    host.fill_(2)


def parts_of_staging(device: str) -> None:
    """Each batch has its own half of the pinned memory."""
    staging, x = _pinned().view(2, -1), torch.zeros(2, SIZE // 2, device=device)
    for half in range(2):
        staging[half].fill_(half)
        x[half].copy_(staging[half], non_blocking=True)
    torch.accelerator.synchronize()


def pinned_memory_freed_early(device: str) -> None:
    """The host's allocator keeps it until the stream has passed the copy."""
    x = torch.zeros(SIZE, device=device)
    for value in range(4):
        x.copy_(_pinned(value), non_blocking=True)
    x.sum().item()


def interleaved_columns(device: str) -> None:
    side, x = torch.Stream(device), torch.zeros(64, 64, device=device)
    torch.accelerator.synchronize()
    for _ in range(3):
        x[:, 0::2].add_(1)
        with side:
            x[:, 1::2].add_(1)
    torch.accelerator.synchronize()


def many_readers(device: str) -> None:
    streams, x = [torch.Stream(device) for _ in range(3)], torch.ones(SIZE, device=device)
    done = _current().record_event()
    for stream in streams:
        stream.wait_event(done)
        with stream:
            x.sum()
    for stream in streams:
        _current().wait_stream(stream)
    x.zero_()
    torch.accelerator.synchronize()


def waits_in_a_chain(device: str) -> None:
    """Three waits for two, which waits for one."""
    one, two, three = (torch.Stream(device) for _ in range(3))
    with one:
        x = torch.ones(SIZE, device=device)
    two.wait_stream(one)
    three.wait_stream(two)
    with three:
        x.add_(1)
    one.wait_stream(three)  # before its memory is free again
    torch.accelerator.synchronize()


def number_read(device: str) -> None:
    """item() waits for the stream, and so does nonzero()."""
    side, x = torch.Stream(device), torch.ones(SIZE, device=device)
    x.add_(1)
    x[0].item()
    with side:
        x.mul_(2)
        x.nonzero()
    x.add_(1)
    torch.accelerator.synchronize()


def event_recorded_again(device: str) -> None:
    side, x, event = torch.Stream(device), torch.zeros(SIZE, device=device), torch.Event(device)
    for _ in range(3):
        x.add_(1)
        event.record()
        side.wait_event(event)
        with side:
            x.mul_(2)
            event.record()
        _current().wait_event(event)
    torch.accelerator.synchronize()


def query_until_done(device: str) -> None:
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    with side:
        x.add_(1)
    while not side.query():
        pass
    x.add_(1)
    event = _current().record_event()
    while not event.query():
        pass
    with side:
        x.sum()
    torch.accelerator.synchronize()


def two_buffers(device: str) -> None:
    loader, current = torch.Stream(device), _current()
    slots = [torch.zeros(SIZE, device=device) for _ in range(2)]
    staging, copied, used = [_pinned() for _ in slots], [None, None], [current.record_event() for _ in slots]
    for step in range(6):
        slot = step % 2
        if copied[slot] is not None:
            copied[slot].synchronize()
        staging[slot].fill_(step)
        loader.wait_event(used[slot])
        with loader:
            slots[slot].copy_(staging[slot], non_blocking=True)
        copied[slot] = loader.record_event()
        current.wait_event(copied[slot])
        slots[slot].sum()
        used[slot] = current.record_event()
    torch.accelerator.synchronize()


def prefetcher(device: str) -> None:
    """The next batch is uploaded while this one is used; record_stream() keeps it."""
    side, model = torch.Stream(device), nn.Linear(8, 8).to(device)
    loader = iter(DataLoader([torch.ones(8)] * 12, batch_size=3, pin_memory=True))

    def preload() -> torch.Tensor | None:
        batch = next(loader, None)
        if batch is None:
            return None
        with side:
            return batch.to(device, non_blocking=True).mul(2)

    following = preload()
    while following is not None:
        _current().wait_stream(side)
        batch = following
        batch.record_stream(_current())
        following = preload()
        model(batch).sum().backward()
    torch.accelerator.synchronize()


def threads_with_their_own(device: str) -> None:
    """Each thread has its tensor and its stream, and waits before it ends."""
    sums = [torch.zeros((), device=device) for _ in range(3)]
    torch.accelerator.synchronize()

    def work(total: torch.Tensor) -> None:
        stream = torch.Stream(device)
        with stream:
            for _ in range(3):
                total.add_(torch.ones(SIZE, device=device).sum())
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(each,)) for each in sums]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    torch.stack(sums).sum()


def thread_and_an_event(device: str) -> None:
    x = torch.zeros(SIZE, device=device)
    ready = _current().record_event()

    def work() -> torch.Event:
        stream = torch.Stream(device)
        stream.wait_event(ready)
        with stream:
            x.add_(1)
        return stream.record_event()

    with ThreadPoolExecutor(1) as pool:
        _current().wait_event(pool.submit(work).result())
    x.add_(1)
    torch.accelerator.synchronize()


def backward_in_a_thread(device: str) -> None:
    w = torch.ones(SIZE, device=device, requires_grad=True)
    loss = (w * 2).sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()
    torch.accelerator.synchronize()
    w.grad.sum()


def memory_reused_by_its_stream(device: str) -> None:
    """The allocator gives freed memory to the same stream again, which is in order."""
    side = torch.Stream(device)
    for stream in (_current(), side):
        with stream:
            for _ in range(4):
                x = torch.ones(SIZE, device=device)
                (x + 1).sum()
                del x
    torch.accelerator.synchronize()


def memory_handed_over(device: str) -> None:
    """The owner waits for the other stream before it frees the tensor."""
    side = torch.Stream(device)
    for _ in range(3):
        x = torch.ones(SIZE, device=device)
        side.wait_stream(_current())
        with side:
            x.mul_(2)
        _current().wait_stream(side)
        del x
    torch.accelerator.synchronize()


def constants(device: str) -> None:
    """torch.tensor() waits, so any stream may use its result."""
    side = torch.Stream(device)
    with side:
        x, y = torch.tensor([1.0] * 64, device=device), torch.asarray([2.0] * 64, device=device)
    z = torch.as_tensor([3.0] * 64, device=device)
    x.add_(y).add_(z)
    torch.accelerator.synchronize()


def grown_and_shrunk(device: str) -> None:
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    x.resize_(4 * SIZE).fill_(1)
    side.wait_stream(_current())
    with side:
        x.sum()
        x.resize_(16)  # needs no other memory
    _current().wait_stream(side)
    x.add_(1)
    torch.accelerator.synchronize()


def copies_between_devices(device: str) -> None:
    """They wait for the current streams of both devices, and these wait for them."""
    last = torch.accelerator.device_count() - 1
    x = torch.ones(SIZE, device=f"{device}:0")
    for _ in range(3):
        y = x.to(f"{device}:{last}", non_blocking=True)
        x.add_(1)
        y.mul_(2)
        x.copy_(y)
        y.zero_()
    for index in range(last + 1):
        torch.accelerator.synchronize(index)


def optimizer_on_a_side_stream(device: str) -> None:
    side, model = torch.Stream(device), nn.Linear(8, 8).to(device)
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    x = torch.ones(4, 8, device=device)
    for _ in range(3):
        side.wait_stream(_current())
        with side:
            optimizer.zero_grad()
        _current().wait_stream(side)
        model(x).sum().backward()
        side.wait_stream(_current())
        with side:
            optimizer.step()
        _current().wait_stream(side)
    torch.accelerator.synchronize()


def error_in_a_block(device: str) -> None:
    """The block gives the default stream back, which alone uses the tensor."""
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    try:
        with side:
            raise ValueError
    except ValueError:
        x.add_(1)
    x.sum().item()


def operator_that_raises(device: str) -> None:
    """It raises before it queues anything."""
    side, x = torch.Stream(device), torch.ones(SIZE, device=device)
    torch.accelerator.synchronize()
    try:
        with side:
            x.add_(torch.ones(3, device=device))
    except RuntimeError:
        x.add_(1)
    torch.accelerator.synchronize()


def inference(device: str) -> None:
    side, model = torch.Stream(device), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Flatten()).to(device)
    with torch.inference_mode():
        x = torch.ones(4, 8).pin_memory().to(device, non_blocking=True)
        side.wait_stream(_current())
        with side:
            y = model(x).reshape(-1).to("cpu", non_blocking=True)
        side.synchronize()
        y.sum().item()


def gradients_of_two_streams(device: str) -> None:
    """backward() orders the streams of forward itself."""
    side, w = torch.Stream(device), torch.ones(SIZE, device=device, requires_grad=True)
    for _ in range(2):
        side.wait_stream(_current())
        with side:
            y = (w * 2).sum()
        _current().wait_stream(side)
        y.record_stream(_current())
        (y + (w * 3).sum()).backward()
        side.wait_stream(_current())
        w.grad.zero_()
        _current().synchronize()


PROGRAMS = [
    each
    for name, each in list(globals().items())
    if callable(each) and getattr(each, "__module__", "") == __name__ and not name.startswith("_")
]
