"""`openreg-gen sweep --compiled`: PyTorch's operators compiled, forward and backward, against eager code on the device.

Operators are compiled in worker processes: what crashes or hangs one is reported, and the others go on. Differences are in
KNOWN, each with its reason; one that is not there fails the run, and so does an entry that is no longer true.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import selectors
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from ..device import find_device
from .subjects import named

SAMPLE = ("argmax", "gather", "index_put", "softmax", "std", "where")
WAIT = 300  # seconds for one operator, unless --timeout says another number

# Operators, as globs, and why what is compiled differs.
RANDOM = "random numbers: compiled code draws others than eager code does"
EMPTY = "the result is memory that nobody has written"
KNOWN: dict[str, str] = {
    **dict.fromkeys(("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial"), RANDOM),
    **dict.fromkeys(("normal*", "nn.functional.*dropout*", "rand*", "uniform", "nn.functional.rrelu"), RANDOM),
    **dict.fromkeys(("*_lowrank", "nn.functional.fractional_max_pool*", "nn.functional.scaled_dot*"), RANDOM),
    **dict.fromkeys(("empty*", "new_empty*"), EMPTY),
}


def operators() -> dict[str, list[Any]]:
    """OpInfos by name; an operator can have several, which differ in a variant."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for info in op_db:
        found.setdefault(info.name, []).append(info)
    return found


def tensors(value: Any) -> list[torch.Tensor]:
    """Those in nested lists, tuples and dicts."""
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def called(function: Any, sample: Any, gradients: bool) -> list[torch.Tensor]:
    """Results and gradients of one call."""

    # New leaves each time: in-place operators and gradients leave nothing behind.
    def fresh(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad and gradients)

    given = torch.utils._pytree.tree_map(fresh, (sample.input, sample.args, sample.kwargs))
    results = tensors(function(given[0], *given[1], **given[2]))
    sums = [result.abs().sum() for result in results if result.requires_grad]
    if gradients and sums:
        torch.stack([s.double() for s in sums]).sum().backward()  # type: ignore[no-untyped-call]
    kept = [result.detach().resolve_conj().resolve_neg() for result in results]
    return kept + [x.grad for x in tensors(given) if x.grad is not None]


def check(info: Any, device: str, most: int) -> tuple[int, str | None]:
    """How many samples of an operator were compiled, and the first difference."""
    dtypes = info.supported_dtypes(device) or info.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in dtypes), None)
    if dtype is None:
        return 0, None
    gradients = info.supports_autograd and dtype is torch.float32
    count, op = 0, info.op
    for sample in info.sample_inputs(device, dtype, requires_grad=gradients):
        if count == most:
            break
        torch.manual_seed(0)
        try:
            expected = called(op, sample, gradients)
        except Exception:  # what eager code refuses is not for the compiler
            continue
        count += 1
        torch._dynamo.reset()
        torch.manual_seed(0)
        try:
            actual = called(torch.compile(lambda x, *a, **k: op(x, *a, **k), dynamic=False), sample, gradients)
            if len(actual) != len(expected):
                return count, f"sample {count - 1}: {len(actual)} results, {len(expected)} in eager code"
            for got, want in zip(actual, expected, strict=True):
                torch.testing.assert_close(got.cpu(), want.cpu(), rtol=1e-3, atol=1e-3, equal_nan=True)
        except Exception as error:
            text = " ".join(str(error).split()) or "".join(traceback.format_exception_only(error))
            return count, f"sample {count - 1}: {type(error).__name__}: {text[:300]}"
    return count, None


def work(device: str, package: str | None) -> None:
    """A worker: names of operators come in, what was found goes out, one line each."""
    find_device(device, package)
    found = operators()
    for line in sys.stdin:
        name, most = json.loads(line)
        count, difference = 0, None
        for info in found[name]:
            try:
                more, difference = check(info, device, most)
            except Exception as error:  # samples that PyTorch can't make on this device
                more, difference = 0, f"samples: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            count += more
            if difference is not None:
                break
        print("\n" + json.dumps([name, count, difference]), file=sys.__stdout__, flush=True)


class Worker:
    """A process, and the operator that it has."""

    def __init__(self, device: str, package: str | None) -> None:
        command = [sys.executable, "-m", "openreg_gen.sweep.compiled", device, *([package] if package else [])]
        paths = [str(pathlib.Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
        environment = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.words, self.answers = self.process.stdin, self.process.stdout
        self.name, self.since = "", 0.0

    def give(self, name: str, most: int) -> None:
        self.name, self.since = name, time.monotonic()
        self.words.write(json.dumps([name, most]) + "\n")
        self.words.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def sweep(
    device: str, package: str | None, names: list[str], most: int, jobs: int, timeout: float
) -> Iterator[tuple[str, int, str | None]]:
    """(operator, samples, difference), as they come."""
    waiting = list(reversed(names))
    with selectors.DefaultSelector() as ready:

        def start(worker: Worker) -> None:
            if waiting:
                worker.give(waiting.pop(), most)
                ready.register(worker.answers, selectors.EVENT_READ, worker)
            else:
                worker.end()

        for _ in range(min(jobs, len(names))):
            start(Worker(device, package))
        while ready.get_map():
            for key, _ in ready.select(timeout=5):
                worker = key.data
                line = worker.answers.readline()
                while line and not line.startswith('["'):  # what others print
                    line = worker.answers.readline()
                ready.unregister(key.fileobj)
                if line:
                    name, count, difference = json.loads(line)
                    yield name, count, difference
                    start(worker)
                else:
                    yield worker.name, 0, f"crashed: exit code {worker.process.wait()}"
                    start(Worker(device, package))
            for key in list(ready.get_map().values()):
                worker = key.data
                if time.monotonic() - worker.since > timeout:
                    ready.unregister(key.fileobj)
                    worker.end()
                    yield worker.name, 0, f"hangs: no answer in {timeout:g} s"
                    start(Worker(device, package))


def reason(name: str) -> str | None:
    """Why an operator is known to differ."""
    return next((why for glob, why in KNOWN.items() if fnmatch.fnmatchcase(name, glob)), None)


def main(options: argparse.Namespace, device: str) -> int:
    """The sweep's command with --compiled: `subjects` are operators, `most` are samples of each. Returns its exit code."""
    globs = options.subject or (SAMPLE if options.sample else ["*"])
    known = operators()
    wanted = named(globs, known)
    names = [name for name in known if name in wanted]
    most = options.limit or (1 if options.sample else 2)
    totals: Counter[str] = Counter()
    unknown, stale = [], []
    timeout = options.timeout or WAIT
    for name, count, difference in sweep(device, options.package, names, most, options.jobs, timeout):
        totals["samples"] += count
        why = reason(name)
        kind = ("equal" if count else "no sample") if difference is None else "known" if why else "new"
        totals[kind] += 1
        if kind == "new":
            unknown.append(name)
        if kind == "equal" and why not in (None, RANDOM, EMPTY):
            stale.append(name)
        print(f"{kind:10} {name}{f': {difference}' if difference else ''}", flush=True)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.items()))
    print(f"{len(names)} operators: {counts}")
    for name in stale:
        print(f"{name}: no longer differs; remove its entry from KNOWN")
    return 1 if unknown or stale else 0


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
