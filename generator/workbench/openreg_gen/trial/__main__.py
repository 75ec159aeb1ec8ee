"""The command: `openreg-gen try`, or `python -m openreg_gen.try`."""

import argparse
import functools
import json
import sys
from collections.abc import Sequence
from typing import Any

import torch

from .. import arguments as command_line, command, device, protocol
from ..progress import Progress
from ..record import RecordingError, load
from ..served import base_of
from ..sweep import kernels, runner
from ..sweep.cases import ALL_DTYPES, Selection, Task
from ..sweep.context import Context
from ..sweep.everywhere import EVERYWHERE
from ..sweep.known import KnownDifferences, from_rows
from ..sweep.variants import VARIANTS
from ..testing import opinfos
from ..testing.forms import Forms
from . import verdict
from .names import overloads_of
from .proof import Witness

DTYPES = ("float32", "float16", "bfloat16", "int64", "bool", "complex64")
LARGE_DTYPES = ("int8", "uint8", "bool")
# Variants that look at PyTorch's Python side more than at a kernel.
NOT_FOR_KERNELS = ("fakes", "backward_fakes", "backward_fakes_by_heads", "copied_results", "alias", "method")
MOST_INFOS = 4


class Reached:
    """An operator as opinfos.split() takes it: a name with the other overloads of its packet."""

    serves: Sequence[str] = ()
    tolerance = None

    def __init__(self, name: str, forms: Sequence[str]) -> None:
        self.name, self.forms = name, forms


def infos_of(op: str) -> list[Any]:
    """The OpInfos of an operator as a user names it. Fails if there is no such operator."""
    name = op.removeprefix("aten::")
    known = overloads_of(op)
    if not known:
        return [opinfos.database()[name]]
    first, _, overload = name.partition(".")
    found = [info for info in opinfos.database().values() if first.removesuffix("_") in opinfos.names(info)]
    if not found:  # what others reach, such as _softmax: found out by running them all, once
        opinfos.say = lambda text: print(text, file=sys.stderr)
        for infos in opinfos.split(Forms(Reached(name if overload else known[0], known))):
            found += infos
    return found[:MOST_INFOS]


def dtypes_of(arguments: argparse.Namespace, workbench: protocol.Workbench) -> Sequence[str]:
    """Those that were asked for, else those that the backend says its kernel has, else the usual ones."""
    if arguments.dtype:
        return tuple(arguments.dtype)
    base = base_of(arguments.op)
    for row in workbench.operators:
        if base_of(str(getattr(row, "name", ""))) == base and (own := getattr(row, "dtypes", None)):
            return tuple(own)
    return DTYPES


def recorded_ops(path: str, op: str) -> list[str]:
    """The operators of a file that are OP, or another overload of it if it has none of that name."""
    try:
        rows = [each.op for each in load(path).ops if each.shapes]
    except RecordingError as error:
        command.fail(str(error), "`openreg-gen record --shapes -o FILE --device NAME script.py` writes one")
    if not rows:
        command.fail(f"{path} has no shapes", "record them with `openreg-gen record --shapes`")
    name = op.removeprefix("aten::")
    base = base_of(op.removeprefix("nn.functional."))
    return [name] if name in rows else [row for row in rows if base_of(row) == base]


def tasks_of(arguments: argparse.Namespace, workbench: protocol.Workbench) -> list[Task]:
    infos = infos_of(arguments.op)
    wanted = dtypes_of(arguments, workbench)
    tasks = []
    for info in infos:
        known = [each for each in ALL_DTYPES if getattr(torch, each) in info.dtypes]
        for dtype in [each for each in wanted if each in known] or known[:1]:
            tasks += [Task(info.full_name, dtype), Task(kernels.BORDERS + info.full_name, dtype)]
        if arguments.large:
            tasks += [Task(kernels.LARGE + info.full_name, each) for each in LARGE_DTYPES if each in known][:1]
    if arguments.shapes:
        found = recorded_ops(arguments.shapes, arguments.op)
        if not found:
            print(f"{arguments.shapes} has no call of {arguments.op}", file=sys.stderr)
        for name in found:
            subject = f"{kernels.RECORDED}{arguments.shapes}:{name}"
            dtypes = kernels.Recorded(arguments.shapes, name).dtypes
            tasks += [Task(subject, each) for each in ALL_DTYPES if getattr(torch, each) in dtypes]
    return tasks


def variants_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    return tuple(arguments.variant or (name for name in VARIANTS if name not in NOT_FOR_KERNELS))


def main(words: Sequence[str] | None = None) -> int:
    arguments = command_line.parse("try", words)
    json_file = command.check_file(arguments.json)
    kind = device.find_device(arguments.device, arguments.package)
    if why := opinfos.missing():
        command.fail(why, code=command.Exit.ENVIRONMENT)
    backend = protocol.of(kind)
    tasks = tasks_of(arguments, backend)
    if not tasks:
        command.fail(f"{arguments.op}: PyTorch has no samples for it", "record some: --shapes FILE")
    start = "fork" if kind == "cpu" else backend.start
    witness = functools.partial(Witness, dtypes_of(arguments, backend))
    context = Context(kind, arguments.package, start, examiner=witness)
    own = from_rows(backend.known, f"torch.{kind}._workbench.known") if kind != "cpu" else []
    known = KnownDifferences(own, EVERYWHERE if kind != "cpu" else ())
    selection = Selection(variants_of(arguments), 4 if arguments.quick else None)
    result = verdict.Verdict(arguments.op.removeprefix("aten::"), kind, workbench=backend)
    progress = Progress("try", len(tasks), "tasks")
    outcomes: dict[Task, dict[str, Any]] = {}
    jobs = 1 if arguments.large else arguments.jobs
    for task, outcome in runner.run(context, tasks, selection, jobs, arguments.timeout):
        outcomes[task] = outcome
        different = sum(len(each["found"]) for each in outcomes.values())
        progress.step(str(task), f"{different} differences")
    progress.end()
    for task in tasks:
        result.add(task, outcomes[task], known)
    path = verdict.results_file(arguments.speeds)
    runs = verdict.read_results(path)
    key = f"{kind}/{result.op}"
    if json_file != "-":
        print(verdict.text(result, context, runs.get(key, {})))
    command.put(json_file, json.dumps(result.json(), indent=1))
    verdict.write_results(path, {**runs, key: result.json()})
    return command.Exit.DONE if result.right else command.Exit.NO


if __name__ == "__main__":
    command.run(main)
