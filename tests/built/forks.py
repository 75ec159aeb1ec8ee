"""Runs short scripts in forked children of one process that has imported torch but never used the device.

A new process would import torch again, which takes seconds. A child ends like any other process: exit handlers run.
"""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass

# Reads one request per line. A child leaves the loop, runs its script as the last thing of the program, and ends.
SERVER = """
import gc, json, os, signal, sys, tempfile, threading, time, traceback
import torch, torch.distributed as dist, torch.multiprocessing
if dist.is_available():
    import torch.distributed.distributed_c10d, torch.distributed._functional_collectives
answers = os.fdopen(os.dup(1), "w")
requests = os.fdopen(os.dup(0))
script = None
while script is None:
    line = requests.readline()
    if not line:
        os._exit(0)
    request = json.loads(line)
    outputs = [tempfile.TemporaryFile() for _ in range(request["ranks"])]
    children = {}
    for rank, output in enumerate(outputs):
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            answers.close()
            requests.close()
            os.environ.update(request["environment"])
            script = request["script"]
            break
        children[child] = rank
    if script is not None:
        break
    codes = [None] * request["ranks"]
    end = time.monotonic() + request["seconds"]
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            codes[children.pop(child)] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() < end:
            time.sleep(0.005)
        else:
            for late in children:
                os.kill(late, signal.SIGKILL)
            end = time.monotonic() + 60
    texts = []
    for output in outputs:
        output.seek(0)
        texts.append(output.read().decode(errors="replace"))
    answers.write(json.dumps({"codes": codes, "texts": texts}) + chr(10))
    answers.flush()
size = request["ranks"]
del outputs, children
exec(compile(script, "<script>", "exec"))
"""


@dataclass
class Result:
    """How each rank ended, and what it wrote."""

    codes: list[int]
    texts: list[str]

    @property
    def text(self) -> str:
        return "".join(
            f"--- rank {rank}, exit code {code}\n{text}"
            for rank, (code, text) in enumerate(zip(self.codes, self.texts, strict=True))
        )

    def good(self, *ranks: int) -> "Result":
        """Checks that these ranks, or all, ended without an error and said "done"."""
        for rank in ranks or range(len(self.codes)):
            assert self.codes[rank] == 0 and "done" in self.texts[rank], self.text
        return self


class Forks:
    """The process that has imported torch."""

    def __init__(self, prelude: str) -> None:
        self.prelude = textwrap.dedent(prelude)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def run(self, script: str, ranks: int = 1, seconds: float = 60, **environment: str) -> Result:
        """Runs `script` after the prelude once per rank, with `rank` and `size` set, and prints "done" at its end."""
        whole = f"{self.prelude}\n{textwrap.dedent(script)}\nprint('done', flush=True)\n"
        request = {"script": whole, "ranks": ranks, "seconds": seconds, "environment": environment}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the process that forks has ended"
        return Result(**json.loads(answer))

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
