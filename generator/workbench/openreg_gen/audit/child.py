"""The program of a child process: runs jobs by name and writes each answer as one line of JSON.

Names come as a JSON list on standard input. Answers go to a file descriptor of their own, since what a backend prints
must not mix with them: {"begin": name}, {"at": part} where a part of the job begins, {"end": name, "answer": ...}, and
{"all": true} at the end.
"""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .. import device


def jobs_of(kind: str, subject: str, begin: Callable[[str], None]) -> Callable[[str], Any]:
    """How a job of one kind runs, by its name. It calls `begin` with the name of each part."""
    if kind == "probes":
        from .probe import run
        from .probes import all_probes

        probes = {probe.name: probe for probe in all_probes()}
        return lambda name: run(probes[name], subject)
    if kind == "factories":
        from .factories import call

        return lambda name: call(name, subject)
    from .dtypes import Samples

    return Samples(subject, begin).run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m openreg_gen.audit.child")
    device.add_arguments(parser)
    parser.add_argument("--jobs", required=True, choices=["probes", "samples", "factories"])
    parser.add_argument("--answers", required=True, type=int, help="the file descriptor to write to")
    given = parser.parse_args()
    names = json.load(sys.stdin)
    with os.fdopen(given.answers, "w", buffering=1) as answers:
        os.set_inheritable(given.answers, False)
        subject = device.open_device(given.device, given.package)
        warnings.simplefilter("ignore")

        def begin(part: str) -> None:
            print(json.dumps({"at": part}), file=answers)

        run = jobs_of(given.jobs, subject, begin)
        for name in names:
            print(json.dumps({"begin": name}), file=answers)
            print(json.dumps({"end": name, "answer": run(name)}), file=answers)
        print(json.dumps({"all": True}), file=answers)
        answers.flush()
        os._exit(0)  # what happens when the process ends is a probe's own subject


if __name__ == "__main__":
    main()
