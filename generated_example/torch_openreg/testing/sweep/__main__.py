# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The command: see the package's text, or --help."""

import argparse
import os
import pathlib
import subprocess
import sys
import traceback

from . import NAME, PACKAGE, PREFIX, __doc__ as about, cases, report, results, runner
from .cases import ALL_DTYPES, DTYPES, Selection
from .compare import CATEGORIES, check, run
from .known import DIFFERENCES
from .modes import MODES

SAMPLE_DTYPES = ("float32", "int64")
SHOWN = 40


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog=f"python -m {PACKAGE}.testing.sweep",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("subjects", nargs="*", metavar="SUBJECT", help="such as add, 'nn.functional.*', 'optim.*', once")
    p.add_argument("--dtype", action="append", choices=[*ALL_DTYPES, "all"], help=f"default: {', '.join(DTYPES)}")
    p.add_argument("--variant", action="append", default=[], metavar="GLOB", help="such as forward, 'out*'")
    p.add_argument("--mode", action="append", choices=[*MODES, "all"], help="settings of the workers; default: default")
    p.add_argument("--sample", action="store_true", help="what CI runs: each variant once, with two dtypes")
    p.add_argument("--most", type=int, metavar="N", help="samples of a variant, at most")
    p.add_argument("--case", metavar="NAME", help="runs one case in this process, and prints all about it")
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="worker processes")
    p.add_argument("--timeout", type=float, default=120, metavar="S", help="a case that takes longer hangs")
    p.add_argument("--results", type=pathlib.Path, default=pathlib.Path("sweep.jsonl"), metavar="PATH")
    p.add_argument("--html", type=pathlib.Path, metavar="PATH", help="the page; default: beside the results")
    p.add_argument("--fresh", action="store_true", help="begins anew; otherwise what the results hold isn't run again")
    return p


def one_case(name: str) -> int:
    if os.environ.get(f"{PREFIX}_SWEEP_DETERMINISTIC"):
        runner.torch.use_deterministic_algorithms(True)
    found = cases.find(name)
    if found is None:
        print(f"{name}: there is no such case", file=sys.stderr)
        return 2
    call = found[1].call
    print(f"args:   {call.args}\nkwargs: {call.kwargs}")
    for device in ("cpu", f"{NAME}:{call.device}"):
        outcome = run(call, runner.torch.device(device), found[1].seed)
        print(f"\n--- {device}\nresult: {outcome.value}")
        if outcome.error is not None:
            traceback.print_exception(outcome.error)
        for number, value in enumerate(outcome.inputs):
            print(f"argument {number} afterwards: {value}")
    difference = check(call, found[1].seed)
    print("\nno difference" if difference is None else f"\n{difference.category}: {difference.detail}")
    return 0 if difference is None else 1


def run_mode(arguments: argparse.Namespace, mode: str, tasks: list, selection: Selection) -> None:
    kept = results.Results(arguments.results, selection, False)
    done = kept.done(mode)
    left = [task for task in tasks if task not in done]
    progress = report.Progress(mode, len(left))
    try:
        for task, outcome in runner.run(left, selection, arguments.jobs, arguments.timeout):
            kept.add(mode, task, outcome)
            progress.step(str(task), len(outcome["found"]))
    finally:
        progress.end()


def in_environment(mode: str) -> int:
    """This command again, where the mode's variables are set before PyTorch is loaded."""
    environment = {**os.environ, **MODES[mode], f"{PREFIX}_SWEEP_MODE": mode}
    return subprocess.run([sys.executable, "-m", f"{PACKAGE}.testing.sweep", *sys.argv[1:]], env=environment).returncode


def main() -> int:
    arguments = parser().parse_args()
    modes = list(MODES) if "all" in (arguments.mode or []) else arguments.mode or ["default"]
    inside = os.environ.get(f"{PREFIX}_SWEEP_MODE")
    if inside is None and arguments.case and MODES[modes[0]]:
        return in_environment(modes[0])
    if arguments.case:
        return one_case(arguments.case)
    dtypes = tuple(arguments.dtype or (SAMPLE_DTYPES if arguments.sample else DTYPES))
    most = arguments.most if arguments.most is not None else 1 if arguments.sample else None
    selection = Selection(tuple(arguments.variant), most)
    tasks = cases.tasks(arguments.subjects, ALL_DTYPES if "all" in dtypes else dtypes)
    if not tasks:
        print("no subject matches", file=sys.stderr)
        return 2
    if inside is not None:
        run_mode(arguments, inside, tasks, selection)
        return 0
    if wrong := results.wrong_entries(DIFFERENCES):
        print("known.py: " + "\nknown.py: ".join(wrong), file=sys.stderr)
        return 2
    if arguments.fresh:
        arguments.results.unlink(missing_ok=True)
        sys.argv.remove("--fresh")
    for mode in modes:
        if MODES[mode]:
            if in_environment(mode) != 0:
                return 4
        else:
            run_mode(arguments, mode, tasks, selection)
    return summarize(arguments, modes, tasks, selection)


def summarize(arguments: argparse.Namespace, modes: list[str], tasks: list, selection: Selection) -> int:
    kept = results.Results(arguments.results, selection, False)
    listed = set(tasks)
    kept.rows = {key: row for key, row in kept.rows.items() if key[1] in listed}
    findings = list(kept.findings(DIFFERENCES, modes))
    findings.sort(key=lambda f: (CATEGORIES.index(f.category), f.case))
    whole = not arguments.variant and selection.most is None
    stale = results.stale(DIFFERENCES, findings, tasks, modes) if whole else []
    above = results.above(findings, modes) if arguments.sample else []
    print(report.text(kept, findings, stale, modes, SHOWN))
    print("\n".join(above))
    page = arguments.html or arguments.results.with_suffix(".html")
    page.write_text(report.page(kept, findings, modes), encoding="utf-8")
    print(f"\n{arguments.results}, {page}")
    return 1 if stale or above or any(finding.known is None for finding in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
