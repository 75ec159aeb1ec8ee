"""Which entries of PyTorch's OpInfo database reach which overload: found out by running them once on the CPU.

Names alone do not say which: `nn.functional.relu` has the samples of `threshold_backward`, `softmax` those of `_softmax`.
So the first samples of each entry run forward, in-place and backward, and what they dispatch to is noted. That takes
minutes on a busy machine, once for each PyTorch: the result is kept in the user's cache. Run as a program, this file does only
that; it needs no device.
"""

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from .forms import Forms, tensors

TRACED_SAMPLES = 16
# What PyTorch calls inside of a kernel, where tracing does not see it.
INSIDE = {
    "convolution_overrideable": "convolution",
    "convolution_backward_overrideable": "convolution_backward",
}


@functools.cache
def missing() -> str:
    """Why there are no samples: what PyTorch's test modules need, and how to install it. "" if there are."""
    try:
        from torch.testing._internal import common_methods_invocations  # noqa: F401
    except ImportError as error:  # numpy or expecttest is missing
        name = (error.name or "").partition(".")[0]
        if not name or name == "torch":
            return str(error)
        return f"PyTorch's samples need {name}: {sys.executable} -m pip install {name}"
    return ""


@functools.cache
def database() -> dict[str, Any]:
    """Each OpInfo by its full name ("div.floor_rounding"); empty where PyTorch's test modules can't be imported."""
    if why := missing():
        warnings.warn(f"no samples of PyTorch's own: {why}", stacklevel=2)
        return {}
    from torch.testing._internal import common_methods_invocations as infos

    foreach = [name for name in sorted(vars(infos)) if name.startswith("foreach_") and name.endswith("_db")]
    listed = [*infos.op_db, *(info for name in foreach for info in getattr(infos, name))]
    return {info.full_name: info for info in listed}


def name_of(overload: torch._ops.OpOverload) -> str:
    """Such as add.Tensor, or relu where the overload has no name."""
    base = overload._schema.name.split("::")[1]
    return base if overload._overloadname == "default" else f"{base}.{overload._overloadname}"


See = Callable[[torch._ops.OpOverload, tuple[Any, ...], dict[str, Any]], None]


class Calls(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands each call of an ATen operator to a function before it runs."""

    def __init__(self, see: See) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.see = see

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func.namespace == "aten":
            self.see(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


@contextmanager
def quiet() -> Iterator[None]:
    """Samples draw random numbers and warn: neither is to be seen outside."""
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sample_inputs(info: Any, dtype: torch.dtype) -> Iterator[Any]:
    grad = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    return iter(info.sample_inputs("cpu", dtype, requires_grad=grad))


def run_sample(info: Any, sample: Any, see: See) -> None:
    """One sample on the CPU: out of place with its gradient, then in-place. Skips what the CPU refuses."""
    args, kwargs = sample.args, sample.kwargs
    with Calls(see):
        try:
            result = info.op(sample.input, *args, **kwargs)
            for value in tensors(result):
                if value.requires_grad:
                    torch.autograd.backward(value, torch.ones_like(value), retain_graph=True)
        except Exception:  # whatever it is: a CUDA-only function raises AssertionError
            pass
        if info.inplace_variant is None:
            return
        try:
            target = tree_map_only(torch.Tensor, lambda x: x.detach().clone(), sample.input)
            info.inplace_variant(target, *args, **kwargs)
        except Exception:
            pass


def say(text: str) -> None:
    """Tells the user why the tests seem to stand still; conftest.py gives it a terminal."""


def trace() -> dict[str, dict[str, int]]:
    """OpInfo -> overload -> number of calls."""
    reached: dict[str, dict[str, int]] = {}
    order = (torch.float32, torch.complex64, torch.int64, torch.bool)
    say("finding out which of PyTorch's samples reach which operator, once for this PyTorch; the result is kept:")
    for number, (full_name, info) in enumerate(database().items()):
        if number % 100 == 0:
            say(f"  {number} of {len(database())} entries")
        dtype = next((dtype for dtype in order if dtype in info.dtypes), None)
        seen: Counter[str] = Counter()
        if dtype is None:
            continue
        with quiet():
            for index, sample in enumerate(sample_inputs(info, dtype)):
                if index == TRACED_SAMPLES:
                    break
                run_sample(info, sample, lambda func, *_, seen=seen: seen.update([name_of(func)]))
        reached[full_name] = dict(sorted(seen.items()))
    return reached


def cache_file() -> pathlib.Path | None:
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path("~/.cache").expanduser())
    names = "\n".join([torch.__version__, str(TRACED_SAMPLES), *database()])
    key = hashlib.sha256(names.encode()).hexdigest()[:16]
    return home / "openreg-gen" / f"opinfos-{key}.json" if home.is_absolute() else None


def kept(path: pathlib.Path) -> dict[str, dict[str, int]] | None:
    """The findings of an earlier run. A file that can't be read has none."""
    try:
        found: dict[str, dict[str, int]] = json.loads(path.read_text())
        return found
    except (OSError, ValueError):
        return None


@functools.cache
def reached() -> dict[str, dict[str, int]]:
    """trace(), from the cache if there is one. Of several processes one traces, and the others wait for it."""
    path = cache_file()
    if path is None:
        return trace()
    if (found := kept(path)) is not None:
        return found
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("w")
    except OSError:  # nothing can be kept there
        return trace()
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := kept(path)) is None:
            found = trace()
            with suppress(OSError):
                part = path.with_suffix(f".{os.getpid()}")
                part.write_text(json.dumps(found))
                part.replace(path)
    return found


def names(info: Any) -> set[str]:
    """The ATen names that an OpInfo is about by its own account."""
    given = [info.name, info.aten_name, *(alias.name for alias in info.aliases)]
    short = {name.removeprefix("nn.functional.").replace("special.", "special_") for name in given if name}
    return {name.replace(".", "_") for name in short}


@functools.cache
def find(*overloads: str) -> tuple[Any, ...]:
    """The OpInfos that reach one of some overloads, those that are about it first, then those that do little else."""
    wanted = {INSIDE.get(name, name) for name in overloads}
    bases = {name.split(".")[0].removesuffix("_") for name in wanted}
    found = []
    for full_name, seen in reached().items():
        if wanted.isdisjoint(seen):
            continue
        info = database()[full_name]
        found.append((names(info).isdisjoint(bases), len(seen), full_name))
    return tuple(database()[full_name] for *_, full_name in sorted(found))


def split(forms: Forms) -> tuple[list[Any], list[Any]]:
    """The OpInfos that reach an operator or another form of its group: those whose subject it is, and the others."""
    bases = {form._schema.name.split("::")[1].removesuffix("_") for form in forms.group}
    listed = find(*sorted(name_of(form) for form in forms.group))
    about = [info for info in listed if not names(info).isdisjoint(bases)]
    return about, [info for info in listed if info not in about]


if __name__ == "__main__":
    say = functools.partial(print, flush=True)
    reached()
    say(f"kept in {cache_file()}")
