"""More programs with a race; with `fixed` they have none. See races.py, whose programs are those of public bug reports."""

import copy
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils.data import DataLoader

SIZE = 1 << 12


def _current() -> torch.Stream:
    return torch.accelerator.current_stream()


def _pinned(value: float = 1.0, size: int = SIZE) -> torch.Tensor:
    return torch.full((size,), value).pin_memory()


def _wait(fixed: bool) -> None:
    if fixed:
        torch.accelerator.synchronize()


def upload_refilled(device: str, fixed: bool) -> None:
    """The commonest one: `to()` may still read what the CPU fills again."""
    host = _pinned()
    x = host.to(device, non_blocking=True)
    _wait(fixed)
    host.fill_(5)
    x.sum().item()


def upload_with_cast_refilled(device: str, fixed: bool) -> None:
    host = _pinned()
    host.to(device, torch.float16, non_blocking=True)
    _wait(fixed)
    host.fill_(5)


def upload_by_method_refilled(device: str, fixed: bool) -> None:
    """`tensor.NAME()`, as `tensor.cuda()`."""
    host = _pinned()
    getattr(host, device)(non_blocking=True)
    _wait(fixed)
    host.mul_(2)


def upload_in_inference_mode(device: str, fixed: bool) -> None:
    """`to()` isn't split into its operators there."""
    with torch.inference_mode():
        host = _pinned()
        host.to(device, non_blocking=True)
        _wait(fixed)
        host.fill_(5)


def part_of_staging_refilled(device: str, fixed: bool) -> None:
    """Two batches share pinned memory, and overlap by one row."""
    staging, x = _pinned().view(64, -1), torch.zeros(32, SIZE // 64, device=device)
    x.copy_(staging[:32], non_blocking=True)
    staging[32 if fixed else 31 :].zero_()
    torch.accelerator.synchronize()


def module_moved(device: str, fixed: bool) -> None:
    model = nn.Linear(8, 8)
    for each in model.parameters():
        each.data = each.data.pin_memory()
    old = [each.data for each in model.parameters()]
    model.to(device, non_blocking=True)
    _wait(fixed)
    old[1].zero_()


def lists_copied(device: str, fixed: bool) -> None:
    host = [_pinned(size=64) for _ in range(3)]
    there = [torch.zeros(64, device=device) for _ in host]
    torch._foreach_copy_(there, host, non_blocking=True)
    _wait(fixed)
    host[2].add_(1)


def download_read_early(device: str, fixed: bool) -> None:
    host, x = torch.empty(SIZE).pin_memory(), torch.ones(SIZE, device=device)
    host.copy_(x, non_blocking=True)
    if fixed:
        _current().record_event().synchronize()
    torch.stack([host, host]).mean()


def download_copied_early(device: str, fixed: bool) -> None:
    """copy.deepcopy() reads without an operator."""
    host = torch.ones(SIZE, device=device).to("cpu", non_blocking=True)
    _wait(fixed)
    copy.deepcopy(host)


def scale_read_early(device: str, fixed: bool) -> None:
    """A number on the CPU, which the operator reads when it is called."""
    x = torch.ones(SIZE, device=device)
    scale = x.mean().to("cpu", non_blocking=True)
    _wait(fixed)
    x.mul_(scale)


def upload_of_a_download(device: str, fixed: bool) -> None:
    """A side stream copies to the device what the default stream still copies from it."""
    side, host, x = torch.Stream(device), _pinned(0), torch.ones(SIZE, device=device)
    host.copy_(x, non_blocking=True)
    if fixed:
        side.wait_stream(_current())
    with side:
        host.to(device, non_blocking=True)
    torch.accelerator.synchronize()


def prefetch_thread(device: str, fixed: bool) -> None:
    """A thread uploads batches on its own stream; the consumer doesn't wait for it."""
    batches: queue.Queue = queue.Queue()
    x = torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()

    def load() -> None:
        side = torch.Stream(device)
        with side:
            x.add_(1)
        batches.put(side)

    thread = threading.Thread(target=load)
    thread.start()
    side = batches.get()
    thread.join()
    if fixed:
        _current().wait_stream(side)
    x.sum()
    torch.accelerator.synchronize()


class _Loader(threading.Thread):
    def __init__(self, device: str) -> None:
        super().__init__()
        self.device, self.stream = device, torch.Stream(device)

    def run(self) -> None:
        with self.stream:
            self.batch = torch.full((SIZE,), 2.0, device=self.device)


def loader_thread(device: str, fixed: bool) -> None:
    loader = _Loader(device)
    loader.start()
    loader.join()
    if fixed:
        loader.stream.synchronize()
    loader.batch.add_(1)
    torch.accelerator.synchronize()


def pool_of_threads(device: str, fixed: bool) -> None:
    """Each task has its stream, and all write to one tensor."""
    total = torch.zeros(SIZE, device=device)
    streams = [torch.Stream(device) for _ in range(2)]
    torch.accelerator.synchronize()

    def task(stream: torch.Stream) -> None:
        with stream:
            total.add_(1)
            if fixed:
                stream.synchronize()

    with ThreadPoolExecutor(1) as pool:
        list(pool.map(task, streams))
    torch.accelerator.synchronize()


def columns(device: str, fixed: bool) -> None:
    """A write of every second column must not hide the write of another one."""
    side, x = torch.Stream(device), torch.zeros(64, 64, device=device)
    torch.accelerator.synchronize()
    with side:
        x[:, 1].add_(1)
    x[:, 0::2].add_(1)
    if fixed:
        _current().wait_stream(side)
    x[:, 1].sum()
    torch.accelerator.synchronize()


def out_argument(device: str, fixed: bool) -> None:
    side, a, out = torch.Stream(device), torch.ones(SIZE, device=device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    with side:
        torch.add(a, a, out=out)
    if fixed:
        _current().wait_event(side.record_event())
    out.sum()
    torch.accelerator.synchronize()


def cat_into_slices(device: str, fixed: bool) -> None:
    side, buffer = torch.Stream(device), torch.zeros(4, SIZE, device=device)
    rows = [torch.ones(1, SIZE, device=device) for _ in range(2)]
    torch.accelerator.synchronize()
    torch.cat(rows, out=buffer[:2])
    with side:
        buffer[2 if fixed else 1 :].add_(1)
    torch.accelerator.synchronize()


def cache_written_by_index(device: str, fixed: bool) -> None:
    """One stream puts rows into a cache that another one reads."""
    side, cache = torch.Stream(device), torch.zeros(64, 8, device=device)
    rows = torch.tensor([1, 5], device=device)
    torch.accelerator.synchronize()
    cache.index_put_((rows,), torch.ones(2, 8, device=device))
    if fixed:
        side.wait_stream(_current())
    with side:
        cache.sum()
    torch.accelerator.synchronize()


def scattered(device: str, fixed: bool) -> None:
    side, x = torch.Stream(device), torch.zeros(8, 8, device=device)
    index, values = torch.zeros(1, 8, dtype=torch.int64, device=device), torch.ones(1, 8, device=device)
    torch.accelerator.synchronize()
    with side:
        x.scatter_(0, index, values)
    if fixed:
        side.synchronize()
    x.clone()
    torch.accelerator.synchronize()


def one_storage(device: str, fixed: bool) -> None:
    """set_() gives a tensor the memory of another one."""
    side, x, y = torch.Stream(device), torch.zeros(SIZE, device=device), torch.empty(0, device=device)
    y.set_(x)
    torch.accelerator.synchronize()
    x.add_(1)
    if fixed:
        side.wait_stream(_current())
    with side:
        y.mul_(2)
    torch.accelerator.synchronize()


def exchanged_by_dlpack(device: str, fixed: bool) -> None:
    """A storage that begins in the middle of another one."""
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    y = torch.from_dlpack(x[16:])
    torch.accelerator.synchronize()
    x.add_(1)
    if fixed:
        side.wait_stream(_current())
    with side:
        y.sum()
    torch.accelerator.synchronize()


def grown(device: str, fixed: bool) -> None:
    """resize_() copies the elements to other memory on the current stream."""
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    with side:
        x.add_(1)
    if fixed:
        _current().wait_stream(side)
    x.resize_(4 * SIZE)
    torch.accelerator.synchronize()


def freed_by_its_owner(device: str, fixed: bool) -> None:
    """The default stream uses a side stream's tensor, whose memory goes back to the side stream."""
    side = torch.Stream(device)
    with side:
        x = torch.ones(SIZE, device=device)
    _current().wait_stream(side)
    x.sum()
    if fixed:
        x.record_stream(_current())
    del x
    with side:
        torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()


def constant_in_freed_memory(device: str, fixed: bool) -> None:
    """torch.tensor() writes memory that a side stream still reads."""
    side, values = torch.Stream(device), [1.0] * 512
    x = torch.ones(512, device=device)
    side.wait_stream(_current())
    with side:
        x.sum()
    if fixed:
        _current().wait_stream(side)
    del x
    torch.tensor(values, device=device)
    torch.accelerator.synchronize()


def result_on_another_device(device: str, fixed: bool) -> None:
    """A copy between devices is ordered with the current streams of both, and with no other one."""
    last = f"{device}:{torch.accelerator.device_count() - 1}"
    side, x = torch.Stream(last), torch.ones(SIZE, device=f"{device}:0")
    y = torch.empty(SIZE, device=last)
    y.copy_(x)
    if fixed:
        side.wait_stream(torch.accelerator.current_stream(y.device.index))
    with side:
        y.sum()
    side.synchronize()
    torch.accelerator.synchronize()


def optimizer_on_a_side_stream(device: str, fixed: bool) -> None:
    side, model = torch.Stream(device), nn.Linear(8, 8).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    x = torch.ones(4, 8, device=device)
    for _ in range(2):
        model(x).sum().backward()
        side.wait_stream(_current())
        with side:
            optimizer.step()
        if fixed:
            _current().wait_stream(side)
        optimizer.zero_grad(set_to_none=False)
    torch.accelerator.synchronize()


def statistics_copied(device: str, fixed: bool) -> None:
    """A side stream copies the buffers of a module that trains."""
    side, norm, x = torch.Stream(device), nn.BatchNorm1d(8).to(device), torch.ones(4, 8, device=device)
    average = [each.clone() for each in norm.buffers()]
    torch.accelerator.synchronize()
    norm(x)
    norm.num_batches_tracked.add_(1)
    if fixed:
        side.wait_stream(_current())
    with side:
        for mine, each in zip(average, norm.buffers(), strict=True):
            mine.copy_(each)
    torch.accelerator.synchronize()


def gradients_read_by_a_third_stream(device: str, fixed: bool) -> None:
    """backward() runs on forward's streams, and only the stream that calls it waits for them."""
    one, three = torch.Stream(device), torch.Stream(device)
    w, x = torch.ones(64, device=device, requires_grad=True), torch.ones(64, device=device)
    torch.accelerator.synchronize()
    with one:
        (w * x).sum().backward()
    if fixed:
        three.wait_stream(one)
    with three:
        w.grad.norm()
    torch.accelerator.synchronize()


def event_before_the_last_use(device: str, fixed: bool) -> None:
    """Two buffers, and the event says that one is free before its last use."""
    loader, current, host = torch.Stream(device), _current(), _pinned()
    slots = [torch.zeros(SIZE, device=device) for _ in range(2)]
    used = [current.record_event() for _ in slots]
    for step in range(4):
        slot = step % 2
        loader.wait_event(used[slot])
        with loader:
            slots[slot].copy_(host, non_blocking=True)
        current.wait_stream(loader)
        slots[slot].mul_(2)
        if not fixed:
            used[slot].record(current)
        slots[slot].sum()
        if fixed:
            used[slot].record(current)
    torch.accelerator.synchronize()


def loader_without_a_wait(device: str, fixed: bool) -> None:
    """Batches of a DataLoader are uploaded on a side stream."""
    side = torch.Stream(device)
    for (batch,) in DataLoader([(torch.ones(64),)] * 4, batch_size=2, pin_memory=True):
        with side:
            x = batch.to(device, non_blocking=True)
        if fixed:
            _current().wait_stream(side)
            x.record_stream(_current())
        x.sum()
    torch.accelerator.synchronize()


def error_in_a_block(device: str, fixed: bool) -> None:
    """The error leaves the side stream; its work goes on."""
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    try:
        with side:
            x.add_(1)
            raise ValueError
    except ValueError:
        if fixed:
            side.synchronize()
    x.zero_()
    torch.accelerator.synchronize()


def event_ignored(device: str, fixed: bool) -> None:
    """The side stream has an event, and nobody waits for it."""
    side, x = torch.Stream(device), torch.zeros(1 << 22, device=device)
    torch.accelerator.synchronize()
    with side:
        for _ in range(20):
            x.add_(1)
    event = side.record_event()
    while fixed and not event.query():
        pass
    x.sum()
    torch.accelerator.synchronize()


def waits_in_the_wrong_direction(device: str, fixed: bool) -> None:
    side, x = torch.Stream(device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    x.add_(1)
    first, second = (_current(), side) if fixed else (side, _current())
    second.wait_stream(first)
    with side:
        x.mul_(2)
    torch.accelerator.synchronize()


HOSTS = (
    upload_refilled,
    upload_with_cast_refilled,
    upload_by_method_refilled,
    upload_in_inference_mode,
    part_of_staging_refilled,
    module_moved,
    lists_copied,
    download_read_early,
    download_copied_early,
    scale_read_early,
)
ORDERS = (
    upload_of_a_download,
    prefetch_thread,
    loader_thread,
    pool_of_threads,
    columns,
    out_argument,
    cat_into_slices,
    cache_written_by_index,
    scattered,
    one_storage,
    exchanged_by_dlpack,
    grown,
    result_on_another_device,
    optimizer_on_a_side_stream,
    statistics_copied,
    gradients_read_by_a_third_stream,
    event_before_the_last_use,
    loader_without_a_wait,
    error_in_a_block,
    event_ignored,
    waits_in_the_wrong_direction,
)
REUSES = (freed_by_its_owner, constant_in_freed_memory)
