"""The command: `openreg-gen sweep`, or `python -m openreg_gen.sweep`."""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import traceback

import torch

from .. import absent, protocol
from .. import arguments as command_line
from ..command import Exit, check_file, complain, put
from ..device import DeviceError, count, find_device
from ..progress import Progress
from ..testing import opinfos
from . import cases, compiled, reached, report, results, runner
from .baseline import BaselineError, load
from .cases import ALL_DTYPES, DTYPES, Selection, Task

from .compare import check, run
from .context import MODE_VARIABLE, Context, enter, modes as modes_of
from .everywhere import EVERYWHERE
from .known import KnownDifferences, KnownError, from_file, from_rows
from .subjects import UnknownSubjects

SAMPLE_DTYPES = ("float32", "int64")
SHOWN = 40
DONE, DIFFERS, BAD_INPUT, ENVIRONMENT, FAULT = 0, 1, 2, 3, 4


class CommandError(Exception):
    """What ends the command: an error, what to do about it, and the exit code."""

    def __init__(self, text: str, hint: str, code: int) -> None:
        super().__init__(text)
        self.hint, self.code = hint, code


def one_case(context: Context, name: str) -> int:
    enter(context)
    found = cases.find(name) if name.count("/") >= 3 else None
    if found is None:
        hint = "a case is subject/variant/dtype/index, as the sweep prints it"
        raise CommandError(f"{name}: no such case", hint, BAD_INPUT)
    call, seed = found[1].call, found[1].seed
    if runner.devices_for(call) > count(context.device):
        raise CommandError(f"{name}: this case needs two devices", "run it on a machine with two devices", ENVIRONMENT)
    print(f"args:   {call.args}\nkwargs: {call.kwargs}")
    for device in (torch.device("cpu"), context.place(call.device)):
        outcome = run(call, device, seed)
        print(f"\n--- {device}\nresult: {outcome.value}")
        if outcome.error is not None:
            traceback.print_exception(outcome.error)
        for number, value in enumerate(outcome.inputs):
            print(f"argument {number} afterwards: {value}")
    difference = check(call, seed, context.place(call.device))
    print("\nno difference" if difference is None else f"\n{difference.category}: {difference.detail}")
    return DONE if difference is None else DIFFERS


class Sweep:
    """One run of the command: its arguments, and what follows from them."""

    def __init__(self, arguments: argparse.Namespace, context: Context, backend: protocol.Workbench) -> None:
        self.arguments, self.context, self.backend = arguments, context, backend
        self.settings = modes_of(backend)
        wanted = list(self.settings) if "all" in arguments.mode else arguments.mode or ["default"]
        unknown = [mode for mode in wanted if mode not in self.settings]
        if unknown:
            hint = f"there are {', '.join(self.settings)}, and all"
            raise CommandError(f"--mode {unknown[0]}: {context.device} has no such mode", hint, BAD_INPUT)
        self.modes = list(dict.fromkeys(wanted))
        dtypes = tuple(arguments.dtype or (SAMPLE_DTYPES if arguments.sample else DTYPES))
        self.dtypes = ALL_DTYPES if "all" in dtypes else dtypes
        most = arguments.limit if arguments.limit is not None else 1 if arguments.sample else None
        self.selection = Selection(tuple(arguments.variant), most)
        self.known = KnownDifferences()
        if context.device != "cpu":
            own = from_rows(backend.known, f"torch.{context.device}._workbench.known")
            own += [entry for path in arguments.known for entry in from_file(path)]
            self.known = KnownDifferences(own, EVERYWHERE)
        self.baseline = None
        if arguments.baseline is not None:
            if arguments.baseline.resolve() == arguments.out.resolve():
                hint = "keep the earlier results under another name, or name another file with --out"
                raise CommandError(
                    f"--baseline {arguments.baseline}: this run writes its results there", hint, BAD_INPUT
                )
            self.baseline = load(arguments.baseline, context.device)

    def run(self) -> int:
        inside = os.environ.get(MODE_VARIABLE)
        if self.arguments.case:
            if inside is None and self.settings[self.modes[0]]:
                return self._in_environment(self.modes[0])
            return one_case(dataclasses.replace(self.context, mode=self.modes[0]), self.arguments.case)
        if why := opinfos.missing():
            raise CommandError(why, "", ENVIRONMENT)
        tasks = cases.tasks(self.arguments.subject, self.dtypes)
        if inside is not None:
            self._run_mode(inside, tasks)
            return DONE
        if results.is_foreign(self.arguments.out):
            what = f"{self.arguments.out}: not a file of results"
            raise CommandError(what, "name another file with --out", BAD_INPUT)
        if self.arguments.fresh:
            self.arguments.out.unlink(missing_ok=True)
        for mode in self.modes:
            if not self.settings[mode]:
                self._run_mode(mode, tasks)
            elif code := self._in_environment(mode):
                return code
        return self._summarize(tasks)

    def _in_environment(self, mode: str) -> int:
        """This command again, with the mode's variables set before PyTorch is loaded."""
        words = [word for word in sys.argv[1:] if word != "--fresh"]
        package = str(pathlib.Path(__file__).parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, **self.settings[mode], MODE_VARIABLE: mode, "PYTHONPATH": paths}
        return subprocess.run([sys.executable, "-m", "openreg_gen.sweep", *words], env=environment).returncode

    def _run_mode(self, mode: str, tasks: list[Task]) -> None:
        context = dataclasses.replace(self.context, mode=mode)
        kept = results.Results(self.arguments.out, context.device, self.selection)
        done = kept.done(mode)
        left = [task for task in tasks if task not in done]
        progress = Progress(mode, len(left), "tasks")
        new = known = 0
        try:
            timeout = self.arguments.timeout or 120
            for task, outcome in runner.run(context, left, self.selection, self.arguments.jobs, timeout):
                kept.add(mode, task, outcome)
                reasons = [self.known.find(mode, case, category) for case, category, _ in outcome["found"]]
                new += reasons.count(None)
                known += len(reasons) - reasons.count(None)
                progress.step(str(task), f"{new} new, {known} known differences")
        finally:
            progress.end()

    def _summarize(self, tasks: list[Task]) -> int:
        kept = results.Results(self.arguments.out, self.context.device, self.selection)
        listed = set(tasks)
        kept.rows = {key: row for key, row in kept.rows.items() if key[1] in listed}
        findings = list(kept.findings(self.known, self.modes))
        if self.baseline is not None:
            findings = self.baseline.marked(findings)
        whole = not self.arguments.variant and self.selection.most is None
        entries = (*self.known.own, *(self.known.shared if self.arguments.strict else ()))
        stale = results.stale(entries, findings, tasks, self.modes) if whole else []
        above = results.above(findings, self.backend.most, self.modes) if self.arguments.sample else []
        say = print if "-" not in (self.arguments.json, self.arguments.html) else lambda _: None
        say(report.text(self.context, kept, findings, stale, self.modes, SHOWN, self.baseline))
        ran = kept.kernels(self.modes) if not self.arguments.subject and self.context.device != "cpu" else None
        kernels = (reached.registered(), ran) if ran is not None else None
        say(
            "\n".join(
                [*above, *([reached.line(*kernels)] if kernels else []), *filter(None, [absent.line(self._absent())])]
            )
        )
        document = report.document(self.context, kept, findings, self.modes, self.baseline, kernels, self._absent())
        page = self.arguments.html or str(self.arguments.out.with_suffix(".html"))
        put(page, report.page(self.context, document))
        put(self.arguments.json, json.dumps(document, indent=1))
        say(f"{self.arguments.out}, {page}")
        new = any(finding.state == "new" for finding in findings)
        # Compared with a baseline, what it had is not news, and neither is an entry that is stale since.
        return DIFFERS if new or (self.baseline is None and (stale or above)) else DONE

    def _absent(self) -> list[absent.Absent]:
        """Facts that the backend doesn't report."""
        facts = {"known": "which differences are intended (each counts as new)", "modes": "modes of its own"}
        if self.arguments.known:
            del facts["known"]
        return absent.absent(self.context.device, self.backend, facts)


def main() -> int:
    arguments = command_line.parse("sweep")
    arguments.json, arguments.html = check_file(arguments.json), check_file(arguments.html)
    try:
        kind = find_device(arguments.device, arguments.package)
        if arguments.compiled and arguments.baseline is not None:
            raise CommandError("--baseline is for eager code", "leave out --compiled, or --baseline", BAD_INPUT)
        if arguments.compiled:
            return compiled.main(arguments, kind)
        backend = protocol.of(kind)
        start = "fork" if kind == "cpu" else backend.start
        return Sweep(arguments, Context(kind, arguments.package, start), backend).run()
    except CommandError as error:
        text, hint, code = str(error), error.hint, error.code
    except UnknownSubjects as error:
        text, hint, code = (
            str(error),
            "name subjects like add, operators like aten::relu, or 'nn.*' in quotes",
            BAD_INPUT,
        )
    except DeviceError as error:
        text, hint, code = str(error), "", ENVIRONMENT
    except BaselineError as error:
        text, hint, code = (
            str(error),
            "name the file that an earlier sweep wrote: sweep.jsonl, or its --out",
            BAD_INPUT,
        )
    except (protocol.ProtocolError, KnownError) as error:
        text, hint, code = str(error), "docs/reference/sweep.md describes these members", BAD_INPUT
    complain(text, hint, Exit(code))
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:  # whatever it is: 1 is what a sweep that found something ends with
        traceback.print_exc()
        complain("this is a bug in the sweep", "please report it", Exit.FAULT)
        sys.exit(FAULT)
