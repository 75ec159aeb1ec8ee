# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""PyTorch's operators compiled: each one's samples, forward and backward, against eager code on the device.

    python -m torch_openreg.testing.sweep_compile                    all operators, two samples each; takes an hour
    python -m torch_openreg.testing.sweep_compile --sample           a few operators, as the tests run it
    python -m torch_openreg.testing.sweep_compile add 'nn.functional.*' --samples 10

Operators are compiled in worker processes: what crashes or hangs one is reported, and the others go on. Differences are in
KNOWN, each with its reason; one that is not there fails the run, and so does an entry that is no longer true.
"""

import argparse
import fnmatch
import json
import os
import selectors
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

NAME = "openreg"
SAMPLE = ("argmax", "gather", "index_put", "softmax", "std", "where")
WAIT = 300  # seconds for one operator

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
        torch.stack([s.double() for s in sums]).sum().backward()
    kept = [result.detach().resolve_conj().resolve_neg() for result in results]
    return kept + [x.grad for x in tensors(given) if x.grad is not None]


def check(info: Any, most: int) -> tuple[int, str | None]:
    """How many samples of an operator were compiled, and the first difference."""
    dtypes = info.supported_dtypes(NAME) or info.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in dtypes), None)
    if dtype is None:
        return 0, None
    gradients = info.supports_autograd and dtype is torch.float32
    count, op = 0, info.op
    for sample in info.sample_inputs(NAME, dtype, requires_grad=gradients):
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


def work() -> None:
    """A worker: names of operators come in, what was found goes out, one line each."""
    found = operators()
    for line in sys.stdin:
        name, most = json.loads(line)
        count, difference = 0, None
        for info in found[name]:
            try:
                more, difference = check(info, most)
            except Exception as error:  # samples that PyTorch can't make on this device
                more, difference = 0, f"samples: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            count += more
            if difference is not None:
                break
        print("\n" + json.dumps([name, count, difference]), file=sys.__stdout__, flush=True)


class Worker:
    """A process, and the operator that it has."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "torch_openreg.testing.sweep_compile", "--worker"]
        environment = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", **os.environ}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        self.name, self.since = "", 0.0

    def give(self, name: str, most: int) -> None:
        self.name, self.since = name, time.monotonic()
        self.process.stdin.write(json.dumps([name, most]) + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def sweep(names: list[str], most: int, jobs: int) -> Iterator[tuple[str, int, str | None]]:
    """(operator, samples, difference), as they come."""
    waiting = list(reversed(names))
    with selectors.DefaultSelector() as ready:

        def start(worker: Worker) -> None:
            if waiting:
                worker.give(waiting.pop(), most)
                ready.register(worker.process.stdout, selectors.EVENT_READ, worker)
            else:
                worker.end()

        for _ in range(min(jobs, len(names))):
            start(Worker())
        while ready.get_map():
            for key, _ in ready.select(timeout=5):
                worker = key.data
                line = worker.process.stdout.readline()
                while line and not line.startswith('["'):  # what others print
                    line = worker.process.stdout.readline()
                ready.unregister(key.fileobj)
                if line:
                    yield tuple(json.loads(line))
                    start(worker)
                else:
                    yield worker.name, 0, f"crashed: exit code {worker.process.wait()}"
                    start(Worker())
            for key in list(ready.get_map().values()):
                worker = key.data
                if time.monotonic() - worker.since > WAIT:
                    ready.unregister(key.fileobj)
                    worker.end()
                    yield worker.name, 0, f"hangs: no answer in {WAIT} s"
                    start(Worker())


def reason(name: str) -> str | None:
    """Why an operator is known to differ."""
    return next((why for glob, why in KNOWN.items() if fnmatch.fnmatchcase(name, glob)), None)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="names or globs")
    parser.add_argument("--sample", action="store_true", help="a few operators, one sample each")
    parser.add_argument("--samples", type=int, default=2, metavar="N", help="of each operator, at most")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="worker processes")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        work()
        return 0
    globs = options.operators or (SAMPLE if options.sample else ["*"])
    names = [name for name in operators() if any(fnmatch.fnmatchcase(name, glob) for glob in globs)]
    totals: Counter[str] = Counter()
    unknown, mended = [], []
    for name, count, difference in sweep(names, 1 if options.sample else options.samples, options.jobs):
        totals["samples"] += count
        why = reason(name)
        kind = ("equal" if count else "no sample") if difference is None else "known" if why else "differs"
        totals[kind] += 1
        if kind == "differs":
            unknown.append(name)
        if kind == "equal" and why not in (None, RANDOM, EMPTY):
            mended.append(name)
        print(f"{kind:10} {name}{f': {difference}' if difference else ''}", flush=True)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.items()))
    print(f"{len(names)} operators: {counts}")
    for name in mended:
        print(f"{name}: known to differ, and does not: take its entry out of KNOWN")
    return 1 if unknown or mended else 0


if __name__ == "__main__":
    sys.exit(main())
