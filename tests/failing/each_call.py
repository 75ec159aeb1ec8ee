"""Lets each call that a backend makes of its device fail once: scripts/nightly.sh failing.

each_call.py TREE [--scenario NAME ...] [--sample] [--function F] [--part 1/2]        run by the backend's Python

A scenario runs in a fork of a process that has imported the backend and not used the device. First all calls succeed and are
counted. Then call 0 fails, then call 1, and so on, with the error for "anything else"; then the first call of each function with
each other error. After each failure
- the process goes on: no crash, no hang, and it ends with 0;
- what was raised, or warned, names the function, or says that memory is out;
- a second try in the same process gives what the first gives where nothing fails;
- all memory is back: of the allocator's statistics, and of the device.
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import pickle
import re
import select
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import scenarios
import shim
import torch

TIMEOUT = 120  # seconds that one run may take; it takes one
UNKNOWN = "ErrorUnknown"
# An error that is an answer: the device lacks this, or needs more time. The backend may go on without a word.
ANSWERS = ("ErrorNotSupported", "ErrorNotReady", "ErrorNotPorted")
# Functions whose failure may pass without a word, and why.
QUIET = {
    "GetDeviceCount": "the number that was known stays; at first, no devices is an answer",
    "GetDevice": "the freed block is looked for on all devices, in another order",
    "PointerGetAttributes": "is_pinned() answers no, as with CUDA",
    "EventQuery": "pinned memory is asked for again later",
    "EventCreateWithFlags": "the allocator waits for the stream instead",
    "EventRecord": "the allocator waits for the stream instead",
    "ActivityName": "a profile lacks a name",
}
# An abort that can't be helped here, by scenario and function, and why.
KNOWN = {
    ("collectives", "GetDevice"): "PyTorch's Future makes its device current in its destructor, for CUDA's events, too",
    (
        "training",
        "SetDevice",
    ): "a thread of PyTorch's autograd makes its device current where nothing catches, for CUDA's, too",
}
# What gives memory back: if it fails, the device keeps the memory.
GIVES_BACK = ("Free", "FreeHost", "MemRelease", "MemUnmap", "MemAddressFree", "IpcCloseMemHandle", "GraphDestroy")


class Trial(NamedTuple):
    scenario: str
    function: str  # that fails
    call: int  # of all calls if `each`, else of that function
    code: str
    each: bool


class Outcome(NamedTuple):
    trial: Trial
    problems: list[str]
    said: str  # what was raised or warned


def error_codes(include: Path) -> dict[str, int]:
    """{"ErrorUnknown": 9}: without the API's prefix."""
    text = "".join(header.read_text() for header in sorted(include.glob("*.h")))
    return {name: int(value) for name, value in re.findall(r"^ +\w+?(Error[A-Z]\w*) = (\d+)", text, re.MULTILINE)}


def memory_of(name: str) -> dict:
    """The memory in use and the free memory of each device, when nobody uses any more."""
    api = torch.get_device_module(name)
    gc.collect()
    out = {}
    for index in range(api.device_count()):
        torch.accelerator.synchronize(index)
    api.empty_cache()
    for index in range(api.device_count()):
        out[index] = (api.memory_allocated(index), api.mem_get_info(index)[0])
    return out


def in_fork(run, *arguments) -> tuple[object, str, str]:
    """What run() returns in a fork, what the fork wrote to its standard error, and how it ended, if that was not well."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(errors.fileno(), 2)
            answer = run(*arguments)
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(answer, pipe)
            sys.exit(0)  # the interpreter and the libraries end as they do in any process
        os.close(writer)
        data, end = b"", time.monotonic() + TIMEOUT
        how = ""
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            while not how:
                ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
                if not ready:
                    how = f"no answer within {TIMEOUT} s"
                elif chunk := pipe.read(1 << 20):
                    data += chunk
                else:
                    break
        status = None
        while status is None and not how:
            done, status_word = os.waitpid(child, os.WNOHANG)
            if done:
                status = status_word
            elif time.monotonic() > end:
                how = f"its exit took over {TIMEOUT} s"
            else:
                time.sleep(0.002)
        if how:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        elif os.WIFSIGNALED(status):
            how = f"crash: {signal.Signals(os.WTERMSIG(status)).name}"
        elif os.WEXITSTATUS(status):
            how = f"it ended with {os.WEXITSTATUS(status)}"
        errors.seek(0)
        return pickle.loads(data) if data else None, errors.read().decode(errors="replace"), how


class Runner:
    def __init__(self, tree: Path, package: str, name: str, library: shim.Shim) -> None:
        include = tree / "third_party" / name / "include"
        self.package, self.name, self.shim = package, name, library
        self.codes = error_codes(include)
        self.functions = {each.name for each in shim.declared(include)}
        self.prefix = os.path.commonprefix(sorted(self.functions))

    def plain(self, function: str) -> str:
        return function.removeprefix(self.prefix)

    def run(self, scenario: str):
        if scenario == "import":
            importlib.import_module(self.package)
            return [(torch.ones(2, device=self.name) + 1).tolist()]
        return scenarios.SCENARIOS[scenario](self.name)

    def counted(self, scenario: str):
        """Values, the calls, the memory that is left, and the modules that were imported on the way."""
        before = set(sys.modules)
        self.shim.begin(None, 0, 0, 0)
        values = self.run(scenario)
        gc.collect()
        self.shim.end()
        return values, self.shim.calls(), memory_of(self.name), sorted(set(sys.modules) - before)

    def failing(self, trial: Trial, values, left: dict):
        """In the fork. Returns which function failed ("": the call was not made), what was said, whether it was raised, and problems."""
        problems, said, raised = [], "", False
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            self.shim.begin(None if trial.each else trial.function, trial.call, 1, self.codes[trial.code])
            try:
                got = self.run(trial.scenario)
            except RuntimeError as error:  # torch.AcceleratorError and torch.OutOfMemoryError are such
                said, raised = f"{type(error).__name__}: {error}", True
                error.__traceback__ = None
            except Exception as error:
                said, raised = f"{type(error).__name__}: {error}", True
                problems.append(f"raised a {type(error).__name__}")
                error.__traceback__ = None
            else:
                # A guard that can't restore the current device warns, and what names no device then uses another one.
                # What isn't ready is an answer of queries.
                may_differ = self.plain(self.shim.failed()) == "SetDevice" or trial.code == "ErrorNotReady"
                if got != values and not may_differ:
                    problems.append(f"wrong: {got!r:.200}, not {values!r:.200}")
                got = None
            gc.collect()
            failed = self.shim.end()
            said += "".join(f"\n{each.message}" for each in warned)
        if not failed:
            return "", "", False, []
        function = self.shim.failed()  # threads change the order of calls
        torch.get_device_module(self.name).set_device(0)
        for attempt in ("second", "third"):
            try:
                again = self.run(trial.scenario)
            except Exception as error:
                error.__traceback__ = None
                # An error of work that was queued may come up with the next wait.
                if attempt == "third":
                    problems.append(f"the third try failed, too: {type(error).__name__}: {error}")
                continue
            if again != values:
                problems.append(f"the {attempt} try is wrong: {again!r:.200}, not {values!r:.200}")
            again = None
            break
        try:
            after = memory_of(self.name)
        except Exception as error:
            problems.append(f"the memory can't be read: {type(error).__name__}: {error}")
        else:
            for index, (allocated, free) in left.items():
                if after[index][0] != allocated:
                    problems.append(
                        f"a tensor is lost: {after[index][0] - allocated} bytes are in use on device {index}"
                    )
                elif after[index][1] < free and self.plain(function) not in GIVES_BACK:
                    problems.append(f"a leak: {free - after[index][1]} bytes fewer are free on device {index}")
        return function, said, raised, problems

    def judge(self, trial: Trial, values, left: dict) -> Outcome | None:
        """None: the call was not made this time."""
        answer, errors, how = in_fork(self.failing, trial, values, left)
        function, said, raised, problems = answer if answer is not None else (trial.function, "", False, [])
        said += "\n" + errors
        if how and not (how == "crash: SIGABRT" and (trial.scenario, self.plain(trial.function)) in KNOWN):
            problems = [*problems, how]
        if not function and not how:
            return None
        trial = trial._replace(function=function or trial.function)
        out_of_memory = trial.code.endswith("MemoryAllocation") and re.search(r"(?i)out of memory|allocat", said)
        plain = self.plain(trial.function)
        # Memory that is out is asked for again when what is cached was given back.
        again = trial.code == "ErrorMemoryAllocation" and plain in ("Malloc", "MallocHost", "MemCreate")
        quiet = trial.code in ANSWERS or plain in QUIET or again
        if trial.function not in said and not out_of_memory and not how:
            if raised and plain != "GetDeviceCount" and trial.code not in ANSWERS:
                problems = [*problems, "the error doesn't name the function"]
            elif not quiet:
                problems = [*problems, "nothing was said"]
        return Outcome(trial, problems, said.strip())


def trials_of(scenario: str, calls: list[str], runner: Runner, sample: bool) -> list[Trial]:
    """Each call with one error; the first call of each function with the others. sample: the first call of each with one error."""
    first = {name: calls.index(name) for name in dict.fromkeys(calls)}
    if sample:
        return [Trial(scenario, name, call, UNKNOWN, True) for name, call in first.items()]
    out = [Trial(scenario, name, call, UNKNOWN, True) for call, name in enumerate(calls)]
    others = [code for code in runner.codes if code != UNKNOWN]
    return out + [Trial(scenario, name, 0, code, False) for name in first for code in others]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--scenario", action="append", choices=["import", *scenarios.SCENARIOS])
    parser.add_argument("--function", help="only calls of this one")
    parser.add_argument("--sample", action="store_true", help="the first call of each function, with one error")
    parser.add_argument("--times", action="store_true", help="how long each failure took")
    parser.add_argument("--part", default="1/1", help="I/N: each Nth failure, from the Ith on")
    parser.add_argument("--shim", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    tree = given.tree.resolve()
    name = next((tree / "third_party").glob("*/include")).parent.name
    package = f"torch_{name}"
    environment = dict(os.environ)
    if given.shim is None:
        path = shim.build(
            tree / "third_party" / name / "include",
            tree / package / "lib" / f"lib{name}.so",
            Path(tempfile.mkdtemp()) / "failing.so",
        )
        environment |= {"LD_PRELOAD": str(path), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.argv, "--shim", str(path)], environment)
    del environment["LD_PRELOAD"], os.environ["LD_PRELOAD"]
    runner = Runner(tree, package, name, shim.Shim(given.shim))
    shutil.rmtree(given.shim.parent)  # it is loaded
    gc.collect()
    gc.freeze()  # else each fork's collections copy what this process has
    part, parts = map(int, given.part.split("/"))
    wanted = given.scenario or ["import", *scenarios.SCENARIOS]
    bad, failures = [], 0
    for scenario in wanted:
        if scenario != "import":
            importlib.import_module(package)
            gc.freeze()
        if scenario == "processes":
            scenarios.PEER = scenarios.Peer(package, name, environment)
        counted, errors, how = in_fork(runner.counted, scenario)
        if how or counted is None:
            print(f"{scenario}: it doesn't run: {how}\n{errors}", flush=True)
            bad.append(scenario)
            continue
        values, calls, left, modules = counted
        if scenario != "import":
            for module in modules:  # here, once, instead of in each fork
                with contextlib.suppress(ImportError):
                    importlib.import_module(module)
            gc.freeze()
            values, calls, left, _ = in_fork(runner.counted, scenario)[0]
        trials = trials_of(scenario, calls, runner, given.sample)
        if given.function:
            trials = [each for each in trials if each.function == given.function]
        trials = trials[part - 1 :: parts]
        begun, found = time.monotonic(), 0
        for trial in trials:
            started = time.monotonic()
            outcome = runner.judge(trial, values, left)
            if given.times:
                print(f"{time.monotonic() - started:6.1f} s  {trial.function} {trial.call} {trial.code}", flush=True)
            if outcome is None:
                continue
            failures += 1
            if outcome.problems:
                found += 1
                bad.append(outcome)
                print(
                    json.dumps(
                        {
                            **trial._asdict(),
                            "problems": outcome.problems,
                            "said": outcome.said[-600:] if not given.function else outcome.said,
                        }
                    ),
                    flush=True,
                )
        print(
            f"{scenario:12} {len(calls):5} calls of {len(set(calls)):2} functions, {len(trials):4} failures, {found} with problems,"
            f" {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    if scenarios.PEER is not None:
        scenarios.PEER.close()
    print(f"figures: {failures} calls failed, {len(bad)} of them with problems")
    return 1 if bad or not failures else 0


if __name__ == "__main__":
    sys.exit(main())
