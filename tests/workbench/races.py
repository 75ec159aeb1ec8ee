"""Programs with a race, as public bug reports describe them; with `fixed` they have none.

openreg-gen sanitize --device openreg tests/workbench/races.py -- NAME [fixed]
"""

import sys

import torch
from torch import nn

SIZE = 1 << 12


def missing_wait(device: str, fixed: bool) -> None:
    """A side stream reads what the default stream still computes."""
    side = torch.Stream(device)
    x = torch.ones(SIZE, device=device).mul_(3)
    if fixed:
        side.wait_stream(torch.accelerator.current_stream())
    with side:
        x.sum()
    torch.accelerator.synchronize()


def early_event(device: str, fixed: bool) -> None:
    """The event is recorded before the kernel that it should stand for."""
    side = torch.Stream(device)
    x = torch.zeros(SIZE, device=device)
    event = torch.accelerator.current_stream().record_event()
    x.add_(1)
    if fixed:
        event = torch.accelerator.current_stream().record_event()
    side.wait_event(event)
    with side:
        x + 1
    torch.accelerator.synchronize()


def buffer_overwritten(device: str, fixed: bool) -> None:
    """The next batch is loaded into a buffer from which the last step still reads."""
    loader, batches = torch.Stream(device), [torch.full((SIZE,), float(i)).pin_memory() for i in range(3)]
    buffer = torch.zeros(SIZE, device=device)
    total = torch.zeros((), device=device)
    current = torch.accelerator.current_stream()
    loader.wait_stream(current)
    for batch in batches:
        if fixed:
            loader.wait_stream(current)
        with loader:
            buffer.copy_(batch, non_blocking=True)
        current.wait_stream(loader)
        total += buffer.square().sum()
    torch.accelerator.synchronize()


def two_writers(device: str, fixed: bool) -> None:
    """Two streams add to one tensor."""
    one, two = torch.Stream(device), torch.Stream(device)
    x, total = torch.ones(SIZE, device=device), torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()
    with one:
        total.add_(x)
    if fixed:
        two.wait_stream(one)
    with two:
        total.add_(x)
    torch.accelerator.synchronize()


def forgotten_record_stream(device: str, fixed: bool) -> None:
    """A side stream still reads a tensor whose memory the next tensor gets."""
    side = torch.Stream(device)
    x = torch.ones(SIZE, device=device)
    side.wait_stream(torch.accelerator.current_stream())
    with side:
        x.sum()
    if fixed:
        x.record_stream(side)
    del x
    torch.zeros(SIZE, device=device)
    torch.accelerator.synchronize()


def staging_refilled(device: str, fixed: bool) -> None:
    """The CPU fills pinned memory again that a copy may still read."""
    staging, x = torch.ones(SIZE).pin_memory(), torch.zeros(SIZE, device=device)
    x.copy_(staging, non_blocking=True)
    if fixed:
        torch.accelerator.current_stream().synchronize()
    staging.fill_(2)


def result_read_early(device: str, fixed: bool) -> None:
    """The CPU reads the result of a copy that nobody waited for."""
    loss = torch.ones(SIZE, device=device).mean()
    host = loss.to("cpu", non_blocking=True)
    if fixed:
        torch.accelerator.synchronize()
    host.item()


def parameters_updated(device: str, fixed: bool) -> None:
    """A side stream evaluates a model while the optimizer writes its parameters."""
    torch.manual_seed(0)
    side, current = torch.Stream(device), torch.accelerator.current_stream()
    model, x = nn.Linear(8, 8).to(device), torch.ones(4, 8, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(x).sum().backward()
        if fixed:
            current.wait_stream(side)
        optimizer.step()
        optimizer.zero_grad()
        side.wait_stream(current)
        with side, torch.no_grad():
            model(x)
    torch.accelerator.synchronize()


RACES = {
    each.__name__: each
    for each in (
        missing_wait,
        early_event,
        buffer_overwritten,
        two_writers,
        forgotten_record_stream,
        staging_refilled,
        result_read_early,
        parameters_updated,
    )
}

if __name__ == "__main__":
    torch.accelerator.set_device_index(0)
    RACES[sys.argv[1]](torch.accelerator.current_accelerator().type, "fixed" in sys.argv)
