"""Tasks, and the cases of a task in their order: the same in each process, so that a name is enough to run one again."""

import fnmatch
import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from ..testing import opinfos
from . import kernels, models, networks, numbers, once, telling, written  # noqa: F401  (some register their variants)
from .compare import Call
from .copies import tensors
from .quirks import LEFT_OUT
from .subjects import named
from .variants import VARIANTS, OpSample, Variant

DTYPES = ("float32", "int64", "complex64", "bool")
ALL_DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "complex32", "complex64", "complex128"),
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e5m2"),
)
LARGE = 2_000_000  # elements: such samples test a limit of one device's kernels, and take long


class Task(NamedTuple):
    subject: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.subject}/{self.dtype}"


class Case(NamedTuple):
    name: str
    call: Call
    seed: int


class Selection(NamedTuple):
    """What of a task is run."""

    variants: tuple[str, ...] = ()  # globs; none: all
    most: int | None = None  # samples of a variant, at most: those that show most
    number: int | None = None  # of the only sample


def subjects() -> dict[str, tuple[str, ...]]:
    """Each subject with the dtypes that it has on the CPU."""

    def listed(dtypes: Any) -> tuple[str, ...]:
        found = {str(dtype).removeprefix("torch.") for dtype in dtypes}
        return tuple(dtype for dtype in ALL_DTYPES if dtype in found)

    found: dict[str, tuple[str, ...]] = {"once": ("any",)}
    for name, info in opinfos.database().items():
        found[name] = listed(info.dtypes)
    for name, info in models.modules().items():
        found[name] = listed(info.dtypes)
    found.update(dict.fromkeys(models.optimizers(), ("float32", "float64")))
    return found


def tasks(patterns: list[str], dtypes: tuple[str, ...]) -> list[Task]:
    """Of the subjects that words name. Raises UnknownSubjects if one of them names none."""
    listed = []
    listed_subjects = subjects()
    if any(pattern.startswith(networks.PREFIX) for pattern in patterns):
        listed_subjects.update(dict.fromkeys(networks.architectures(), networks.DTYPES))
    wanted = named(patterns, listed_subjects) if patterns else listed_subjects
    for subject, known in listed_subjects.items():
        if subject not in wanted:
            continue
        chosen = [dtype for dtype in known if dtype in dtypes or dtype == "any"]
        # What none of the wanted dtypes is for is run with one that it has.
        listed += [Task(subject, dtype) for dtype in chosen or known[:1]]
    return listed


def seeded() -> None:
    random.seed(0)
    torch.manual_seed(0)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(0)


def drawn(make: Callable[[], Any], most: int | None = None) -> list[Any]:
    """All samples or the first, before anything else draws random numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeded()
        return list(itertools.islice(make(), most))


def spaced(count: int, most: int | None) -> list[int]:
    """So many indices from 0 to count, evenly."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({i * (count - 1) // max(most - 1, 1) for i in range(most)})


def size(sample: Any) -> int:
    return sum(x.numel() for x in tensors((sample.input, sample.args, sample.kwargs)))


def op_cases(
    info: Any, dtype: torch.dtype, name: str, selection: Selection, wanted: Callable[[str], bool]
) -> Iterator[Case]:
    samples: dict[bool, list[Any]] = {}
    picked: dict[bool, list[int]] = {}

    def made(grad: bool) -> list[Any]:
        if grad not in samples:
            # Some have more than a thousand: making them takes longer than a few calls.
            first = None if selection.most is None else max(8 * selection.most, telling.DRAWN)
            samples[grad] = drawn(lambda: info.sample_inputs("cpu", dtype, requires_grad=grad), first)
            picked[grad] = [] if selection.most is None else telling.picks(samples[grad], selection.most)
        return samples[grad]

    def chosen(variant: Variant, number: int) -> Iterator[list[Case]]:
        """The cases of each sample that a variant takes."""
        given = made(variant.grad)
        limits = [most for most in (variant.most, selection.most) if most is not None]
        if selection.number is not None:
            order = [selection.number] if selection.number < len(given) else []
        elif selection.most is not None:
            order = telling.turn(given, picked[variant.grad], variant.name, number, selection.most)
        else:
            order = spaced(len(given), min(limits, default=None))
        yielded = 0
        for index in order:
            if size(given[index]) > kernels.limit(name, variant.name, LARGE):
                continue
            found = list(variant_cases(variant, OpSample(info, given[index], dtype, index), name))
            yield found
            yielded += bool(found)
            if selection.most is not None and yielded == min(limits):
                return

    for number, variant in enumerate(VARIANTS.values()):
        if (info.name, variant.name) in LEFT_OUT or not wanted(variant.name) or not variant.applies(info, dtype):
            continue
        if variant.named and not selection.variants:
            continue
        for found in chosen(variant, number):
            yield from found
    if wanted("errors") and info.error_inputs_func is not None and dtype == first_dtype(info):
        for index, wrong in enumerate(drawn(lambda: info.error_inputs("cpu"))):
            sample = wrong.sample_input
            call = Call(info.op, (sample.input, *sample.args), sample.kwargs)
            yield Case(f"{name}/errors/{short(dtype)}/{index}", call, index)


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def first_dtype(info: Any) -> torch.dtype:
    listed = [getattr(torch, dtype) for dtype in ALL_DTYPES]
    return next((dtype for dtype in listed if dtype in info.dtypes), torch.float32)


def variant_cases(variant: Variant, given: OpSample, name: str) -> Iterator[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = list(variant.make(given))
    for number, call in enumerate(calls):
        part = f".{number}" if len(calls) > 1 else ""
        yield Case(f"{name}/{variant.name}/{short(given.dtype)}/{given.number}{part}", call, given.number)


def cases(task: Task, selection: Selection) -> Iterator[Case]:
    def wanted(variant: str) -> bool:
        return not selection.variants or any(fnmatch.fnmatchcase(variant, glob) for glob in selection.variants)

    if task.subject == "once":
        for variant, dtype, call in once.calls():
            if wanted(variant):
                yield Case(f"once/{variant}/{dtype}/0", call, 0)
        return
    dtype = getattr(torch, task.dtype)
    if task.subject in opinfos.database():
        yield from op_cases(opinfos.database()[task.subject], dtype, task.subject, selection, wanted)
        return
    if (info := kernels.find(task.subject)) is not None:
        yield from op_cases(info, dtype, task.subject, selection, wanted)
        return
    seeded()
    if task.subject.startswith(networks.PREFIX):
        listed = networks.calls(task.subject, dtype)
    elif task.subject in models.modules():
        listed = models.module_calls(models.modules()[task.subject], dtype)
    else:
        listed = models.optimizer_calls(models.optimizers()[task.subject], dtype)
    counts: dict[str, int] = {}
    for variant, index, call in list(listed):
        counts[variant] = counts.get(variant, 0) + 1
        if wanted(variant) and (selection.most is None or counts[variant] <= selection.most):
            yield Case(f"{task.subject}/{variant}/{task.dtype}/{index}", call, 0)


def find(name: str) -> tuple[Task, Case] | None:
    """The task and the case of a printed name."""
    subject, variant, dtype, last = name.rsplit("/", 3)
    task = Task(subject, dtype)
    chosen = (
        Selection((variant,), number=int(number))
        if (number := last.partition(".")[0]).isdigit()
        else Selection((variant,))
    )
    return next(((task, case) for case in cases(task, chosen) if case.name == name), None)
