# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""Processes that are the ranks of a group, for tests."""

import datetime
import faulthandler
import itertools
import os
import signal
import traceback
from multiprocessing.connection import wait

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

NAME = "openreg"
BACKEND = "openregccl"
PATIENCE = 300  # seconds: a process imports PyTorch, on a machine that may be busy
numbers = itertools.count()


class Ranks:
    """Some processes that run a function at once, each as a rank of a new group."""

    def __init__(self, size, folder, env=None):
        self.size, self.folder = size, folder
        # Copies of a process that has imported PyTorch and started nothing; some of its settings are read at the import.
        context = mp.get_context("spawn" if env else "forkserver")
        if not env:
            context.set_forkserver_preload(["torch.distributed", "torch_openreg", __name__])
        self.pipes, self.processes = [], []
        changed = {key: os.environ.get(key) for key in env or {}}
        os.environ.update(env or {})
        try:
            for rank in range(size):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, rank, size), daemon=True)
                process.start()
                theirs.close()
                self.pipes.append(ours)
                self.processes.append(process)
        finally:
            for key, value in changed.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})

    def start(self, function, *args, **settings):
        """Call function(rank, *args) in each process, in a group of all; settings are init_process_group()'s."""
        if settings.get("group", True):
            settings.setdefault("init_method", f"file://{self.folder}/store{next(numbers)}")
        for pipe in self.pipes:
            pipe.send((function, args, settings))

    def outcomes(self):
        """What each returned, or the text of what it raised, or that it died."""
        found, left = {}, set(self.pipes)
        while left:
            ready = wait(left, PATIENCE)
            if not ready:
                self.kill()
                raise AssertionError(f"a rank hangs; the others: {list(found.values())}")
            for pipe in ready:
                left.remove(pipe)
                try:
                    found[pipe] = pipe.recv()
                except (EOFError, ConnectionResetError):
                    found[pipe] = (False, "the process has died")
        return [found[pipe] for pipe in self.pipes]

    def run(self, function, *args, **settings):
        """start(), and what each returned."""
        self.start(function, *args, **settings)
        outcomes = self.outcomes()
        failed = [text for ok, text in outcomes if not ok]
        assert not failed, "\n".join(failed)
        return [value for _, value in outcomes]

    def close(self):
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.join(PATIENCE)
        hung = [process.pid for process in self.processes if process.exitcode is None]
        self.kill()
        assert not hung, "a rank does not end"

    def kill(self):
        """Nobody stays behind; who hangs shows where, on stderr."""
        for signal_number in (signal.SIGABRT, signal.SIGKILL):
            for process in self.processes:
                if process.exitcode is None:
                    os.kill(process.pid, signal_number)
            for process in self.processes:
                process.join(10)


def _serve(pipe, rank, size):
    faulthandler.enable()
    torch.set_num_threads(1)
    while True:
        try:
            function, args, settings = pipe.recv()
        except EOFError:
            return
        try:
            result = (True, _call(function, args, rank, size, **settings))
        except BaseException:  # noqa: BLE001  (whatever it is, the test reports it)
            result = (False, traceback.format_exc())
        pipe.send(result)


def _call(function, args, rank, size, group=True, **settings):
    device = rank % max(torch.openreg.device_count(), 1)
    torch.accelerator.set_device_index(device)
    if not group:
        return function(rank, *args)
    settings.setdefault("timeout", datetime.timedelta(seconds=PATIENCE))
    if settings.pop("eager", False):
        settings["device_id"] = torch.device(NAME, device)
    dist.init_process_group(rank=rank, world_size=size, **settings)
    try:
        return function(rank, *args)
    finally:
        dist.destroy_process_group()


def values(rank, dtype=torch.float32, shape=(2, 3), device=NAME):
    """Numbers that differ from rank to rank, and are small enough for any dtype."""
    count = torch.Size(shape).numel()
    return (torch.arange(count).reshape(shape) % 3 + 1 + rank).to(dtype).to(device)


def same(found, expected):
    found, expected = found.cpu(), expected.cpu()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    as_bytes = [x.contiguous().reshape(-1).view(torch.uint8) for x in (found, expected)]
    assert torch.equal(*as_bytes), f"{found} is not {expected}"


def default_backend():
    """The process group behind torch.distributed's."""
    return dist.distributed_c10d._get_default_group()._get_backend(torch.device(NAME))
