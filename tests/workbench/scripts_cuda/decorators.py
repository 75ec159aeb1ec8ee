"""Decorators around functions that know CUDA."""

import functools
import time

import torch


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        start = time.perf_counter()
        result = function(*args, **kwargs)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        wrapper.seconds = time.perf_counter() - start
        return result

    return wrapper


def retry_without_memory(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            return function(*args, **kwargs)

    return wrapper


@timed
@retry_without_memory
@torch.no_grad()
def work(x):
    if not hasattr(work, "failed"):
        work.failed = True
        raise torch.cuda.OutOfMemoryError("once")
    return x.softmax(0)


@torch.autocast("cuda", dtype=torch.bfloat16)
def product(x):
    return x @ x


use_gpu = torch.cuda.is_available()
x = torch.linspace(0, 1, 16).view(4, 4).to("cuda" if use_gpu else "cpu")
y, z = work(x), product(x)
RESULT = {"losses": [*y.flatten().tolist(), z.float().sum().item()], "type": str(z.dtype), "on": y.device.type}
