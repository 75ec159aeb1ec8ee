"""Which of PyTorch's samples reach which operator: found out once, by one process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import openreg_gen
from openreg_gen.testing import opinfos

PROCESS = """
import time
from openreg_gen.testing import opinfos
opinfos.database = dict  # PyTorch's own takes seconds
def trace():
    print("traced", flush=True)
    time.sleep(1)
    return {"abs": {"abs": 1}}
opinfos.trace = trace
assert opinfos.reached() == {"abs": {"abs": 1}}
"""


def test_of_several_processes_one_traces(tmp_path):
    path = str(Path(openreg_gen.__file__).parents[1])
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": path}
    command = [sys.executable, "-c", PROCESS]
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=600)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(said) == ["", "traced\n"]


def test_what_cannot_be_kept_is_traced(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(opinfos, "cache_file", lambda: tmp_path / "file/opinfos.json")
    monkeypatch.setattr(opinfos, "trace", lambda: {"exp": {"exp": 2}})
    assert opinfos.reached.__wrapped__() == {"exp": {"exp": 2}}
    monkeypatch.setattr(opinfos, "cache_file", lambda: tmp_path / "opinfos.json")
    (tmp_path / "opinfos.json").write_text("{")
    assert opinfos.reached.__wrapped__() == {"exp": {"exp": 2}}
    assert json.loads((tmp_path / "opinfos.json").read_text()) == {"exp": {"exp": 2}}
