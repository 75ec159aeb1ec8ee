"""`python -m openreg_gen.audit --device NAME [--import PACKAGE] [--json FILE]`"""

import argparse
import os
import pathlib
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from .. import device, protocol
from ..command import Exit, Parser, complain, program
from ..progress import Progress
from . import children, document, dtypes, factories
from .probe import ANSWERS, CRASHES, HANGS, INAPPLICABLE, Outcome, Probe
from .probes import all_probes


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = Parser(prog=program("audit"), description=__doc__)
    device.add_arguments(parser)
    parser.add_argument("--json", metavar="FILE", default="-", help="the file to write; default: standard output")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="time limit per call in seconds (60)")
    parser.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="processes at a time; default: one per CPU, at most 4"
    )
    parser.add_argument(
        "--no-samples", action="store_true", help="don't call operators to find out which dtypes they take"
    )
    parser.add_argument("--quiet", action="store_true", help="write the file only")
    given = parser.parse_args(words)
    if given.timeout <= 0:
        parser.error("--timeout must be more than 0")
    return given


def outcome(result: children.Result) -> Outcome:
    """The verdict on a probe, by how its process ended."""
    if result.how == children.CRASHED:
        return Outcome(CRASHES, f"the process {result.message}")
    if result.how == children.HUNG:
        return Outcome(HANGS, result.message)
    return Outcome(*result.answer)


def entries_of(results: Sequence[children.Result]) -> tuple[list[dtypes.Entry], list[dict[str, str]]]:
    """The samples that ended, and those that took their process with them."""
    entries, deaths = [], []
    for result in results:
        if result.how == children.ENDED:
            entries.append(dtypes.Entry(*result.answer))
        else:
            verdict = CRASHES if result.how == children.CRASHED else HANGS
            deaths.append({"sample": result.name, "verdict": verdict, "message": result.message})
    return entries, deaths


def audit(subject: str, given: argparse.Namespace) -> dict[str, Any]:
    """The whole document. Raises children.ChildError if no process can be started that has the device."""
    begin = time.monotonic()
    found = document.of_dispatcher(subject, given.package)
    probes = {probe.name: probe for probe in all_probes()}
    samples = [] if given.no_samples else dtypes.subjects()
    fallen = [op for op, how, *_ in found["ops"] if how in ("fallback", "boxed") and factories.makes_a_tensor(op)]
    limits = children.Limits(job=given.timeout)
    workers = given.jobs if given.jobs > 0 else min(4, os.cpu_count() or 1)
    what = f"{len(probes)} interfaces of {subject}, samples of {len(samples)} operators and {len(fallen)} factories"
    print(f"audit: calls {what}", file=sys.stderr, flush=True)
    progress, lock, died = Progress("audit", len(probes) + len(samples) + len(fallen), "calls"), threading.Lock(), 0

    def step(result: children.Result) -> None:
        nonlocal died
        with lock:
            died += result.how != children.ENDED
            progress.step(result.name, f"{died} died")

    def run(kind: str, names: Sequence[str]) -> list[children.Result]:
        return children.run(children.Jobs(kind, subject, given.package, limits), names, step)

    with ThreadPoolExecutor(workers) as pool:
        probing = pool.submit(run, "probes", list(probes))
        sampling = [pool.submit(run, "samples", samples[start::workers]) for start in range(workers) if samples]
        answers: list[tuple[Probe, Outcome]] = [(probes[each.name], outcome(each)) for each in probing.result()]
        results = [result for each in sampling for result in each.result()]
        made = run("factories", fallen)
    progress.end()
    entries, deaths = entries_of(results)
    calls = [dtypes.Call(*call) for entry in entries for call in entry.calls]
    return {
        **found,
        "interfaces": document.of_probes(subject, answers),
        "dtypes": document.of_dtypes(calls),
        "waits": document.of_waits([(entry.names, entry.error) for entry in entries], calls),
        "on_device": [each.answer[0] for each in made if each.how == children.ENDED and each.answer[1] == "device"],
        "deaths": deaths,
        "seconds": round(time.monotonic() - begin, 1),
    }


def summary(found: dict[str, Any]) -> str:
    """A few lines for users of this module without the command."""
    verdicts = [row["verdict"] for row in found["interfaces"]]
    lines = [f"{found['device']}, PyTorch {found['torch']}: {found['seconds']} s"]
    lines.append(f"{verdicts.count(ANSWERS)} of {len(verdicts) - verdicts.count(INAPPLICABLE)} interfaces answer")
    for row in found["interfaces"]:
        if row["verdict"] not in (ANSWERS, INAPPLICABLE):
            lines.append(f"  {row['verdict']:<16} {row['name']}: {row['message']}")
    return "\n".join(lines)


def own_output() -> IO[str]:
    """Standard output as it is now; from here on, what a backend prints there goes to standard error, and JSON stays JSON."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return own


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    out = own_output()
    try:
        given.device = device.open_device(given.device, given.package)
        found = audit(given.device, given)
    except (device.DeviceError, protocol.ProtocolError, children.ChildError) as error:
        text, _, hint = str(error).partition(": ")
        complain(text, hint, Exit.ENVIRONMENT)
        return Exit.ENVIRONMENT
    text = document.text_of(found)
    if given.json == "-":
        print(text, end="", file=out, flush=True)
        return 0
    try:
        pathlib.Path(given.json).write_text(text)
    except OSError as error:
        complain(f"{given.json}: {error.strerror}", "name another file", Exit.ENVIRONMENT)
        return Exit.ENVIRONMENT
    if not given.quiet:
        print(summary(found), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
