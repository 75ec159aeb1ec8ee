"""`openreg-gen try` on all operators of a tree, a part of them per night: scripts/nightly.sh try_full.

try_operators.py next TREE                            where its next part begins, "TREE" or "TREE:OPERATOR"; tests/nightly.md says it
try_operators.py run PLACE --device NAME              tries operators from there on, until the time is up; run by the backend's Python

A part ends with the last operator of the tree, or after --minutes. Its last line has the place of the next. --jobs operators are
tried at a time.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import nightly_table

SECONDS = 600  # that one operator may take
# Kernels that leave some calls, or all, to the CPU: bags of embeddings are CPU code; batch norms detour with several dtypes and running
# sums; frac's kernel in OpenCL C is for its owner to write; roll's is host code, an example; the size of nonzero's result is the host's.
HOST = {"_embedding_bag", "_native_batch_norm_legit", "native_batch_norm", "frac.out", "nonzero_static", "roll"}
# `native` in specs/full.yaml: such a kernel starts as the CPU's, for its owner to write.
HOST |= {"_adaptive_avg_pool2d", "index_select", "masked_fill_.Scalar", "masked_fill_.Tensor", "masked_select"}
HOST |= {"native_layer_norm", "nonzero"}


# "in part": right, and some calls are left to the CPU, as those with dtypes that the kernel doesn't take.
OUTCOMES = ("right", "in part", "on the host", "wrong", "no samples")


class Trial(NamedTuple):
    op: str
    outcome: str  # one of OUTCOMES
    text: str = ""


def next_place(tree: str, figures: str) -> str:
    """The place that the last part's figures name; the tree's first operator if there are none."""
    found = re.findall(r"next: (\w+(?::[\w.]+)?)", figures)
    return found[-1] if found else tree


def operators(device: str, package: str | None) -> list[str]:
    """The operators that a backend has kernels of, by the names that a spec lists. Those that only make memory and views are left out."""
    from openreg_gen import device as devices
    from openreg_gen.audit import dispatcher
    from openreg_gen.record import COMPUTING, MINIMAL, listed

    kind = devices.find_device(device, package)
    names = set()
    for each in dispatcher.registrations(kind, dispatcher.all_operators()):
        if each.key == "PrivateUse1" and each.active and not each.boxed and not each.fallthrough:
            names.add(listed(each.op, each.key))
    return sorted(
        name.removeprefix("aten::")
        for name in names
        if name.startswith("aten::") and name.removeprefix("aten::") not in MINIMAL - COMPUTING
    )


def tried(op: str, words: list[str]) -> Trial:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "openreg_gen.try",
        op,
        "--quick",
        "--no-build",
        "--json",
        *words,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Trial(op, "wrong", f"no end within {SECONDS} s")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return Trial(op, "wrong", " ".join(done.stderr.strip().splitlines()[-2:]))
    if "diagnostics" in answer:
        said = answer["diagnostics"][0]["message"]
        return Trial(op, "no samples" if "no samples" in said else "wrong", said)
    if answer["right"] and answer["computed_on"] == "device":
        return Trial(op, "right")
    if not answer["cases"] and not answer["wrong"]:
        return Trial(op, "no samples")
    if answer["wrong"]:
        first = answer["wrong"][0]
        return Trial(
            op, "wrong", f"{len(answer['wrong'])} cases, {first['case']}: {first['category']}: {first['detail']}"
        )
    rows = answer["parts"] or answer["reached"]
    calls = sum(row["calls"] for row in rows.values() if row["by"] == "kernel")
    said = f"{calls} calls by kernels, {sum(answer['on_host'].values())} on the host"
    if op in HOST:
        return Trial(op, "on the host", said)
    if calls and answer["computed_on"] != "host":
        return Trial(op, "in part", said)
    if f"aten::{op}" not in answer["reached"]:
        return Trial(op, "no samples", f"samples reach {', '.join(answer['reached'])}")
    return Trial(op, "wrong", f"no kernel computed it: reached {rows}, {answer['on_host']}")


def trials_of(ops: list[str], words: list[str], seconds: float, jobs: int) -> Iterator[Trial]:
    """In the order of `ops`; none is begun after `seconds`."""
    begun, left, pending = time.monotonic(), iter(ops), collections.deque[concurrent.futures.Future[Trial]]()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(pending) < jobs and time.monotonic() - begun <= seconds and (op := next(left, None)):
                pending.append(pool.submit(tried, op, words))
            if not pending:
                return
            yield pending.popleft().result()


def run(place: str, words: list[str], listed: list[str], seconds: float, jobs: int = 1) -> int:
    """Returns the number of operators that are not right."""
    tree, _, first = place.partition(":")
    left = [op for op in listed if op >= first]
    trials = list[Trial]()
    for trial in trials_of(left, words, seconds, jobs):
        trials.append(trial)
        print(f"{trial.op:45} {trial.outcome:10} {trial.text}", flush=True)
    counts = {name: sum(trial.outcome == name for trial in trials) for name in OUTCOMES}
    after = left[len(trials) :]
    turn = f"{tree}:{after[0]}" if after else tree
    print(f"figures: {tree}: {', '.join(f'{number} {name}' for name, number in counts.items())}; next: {turn}")
    return counts["wrong"] + (not counts["right"])


def main() -> int:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("next").add_argument("tree")
    part = verbs.add_parser("run")
    part.add_argument("place")
    part.add_argument("--device", required=True)
    part.add_argument("--import", dest="package")
    part.add_argument("--minutes", type=float, default=45)
    part.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if given.verb == "next":
        rows = nightly_table.parse(nightly_table.TABLE.read_text()) if nightly_table.TABLE.is_file() else {}
        stage = f"try_{given.tree}"
        print(next_place(given.tree, rows[stage].figures if stage in rows else ""))
        return 0
    from openreg_gen.testing import opinfos

    opinfos.reached()  # takes minutes once, which would be those of the first operator
    words = ["--device", given.device, *(["--import", given.package] if given.package else [])]
    return 1 if run(given.place, words, operators(given.device, given.package), 60 * given.minutes, given.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
