"""What docs/guides/graph-compiler.md promises, tested by someone who read nothing else: external/graph_compiler/outside_tests.py.

All tests run in one process, which stays; the mock's compile() and version() can be replaced from there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading

import pytest
from ports import ROOT
from test_graph_compiler import COMPILER, mock  # noqa: F401  (a fixture)

TESTS = ROOT / "tests/external/graph_compiler/outside_tests.py"


@pytest.fixture(scope="module")
def ask(mock, tmp_path_factory):  # noqa: F811
    """Runs one test and returns its error."""
    folder = tmp_path_factory.mktemp("outside")
    shutil.copytree(mock / "torch_mybackend", folder / "torch_mybackend", symlinks=True)
    plant = subprocess.run(
        [sys.executable, "-c", "import outside_tests; print(outside_tests.PLANT)"],
        env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
        check=True,
        capture_output=True,
        text=True,
    )
    with (folder / COMPILER).open("a") as file:
        file.write(plant.stdout)
    # As if it were installed: torch.compile finds the backend by an entry point.
    entry = re.search(r'"torch_dynamo_backends"\]\n(\w+) = "(.+)"', (mock / "pyproject.toml").read_text())
    (folder / "torch_mybackend-0.dist-info").mkdir()
    (folder / "torch_mybackend-0.dist-info/entry_points.txt").write_text(
        f"[torch_dynamo_backends]\n{entry[1]} = {entry[2]}\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "MYBACKEND_GRAPH_CACHE": "off",
        "MYBACKEND_COMPILE_SECONDS": "120",
    }
    process = subprocess.Popen(
        [sys.executable, str(TESTS)],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(folder / "stderr").open("w"),
    )

    def ask(name):
        process.stdin.write(name + "\n")
        process.stdin.flush()
        alarm = threading.Timer(300, process.kill)
        alarm.start()
        line = process.stdout.readline()
        alarm.cancel()
        assert line, f"no answer within 300 s\n{(folder / 'stderr').read_text()[-4000:]}"
        answered, error = json.loads(line)
        assert answered == name
        return error

    yield ask
    process.stdin.close()
    try:
        assert process.wait(timeout=60) == 0, (folder / "stderr").read_text()[-4000:]
    finally:
        process.kill()


pytestmark = pytest.mark.nightly  # it builds a tree of its own
NAMES = (
    "cache_files",
    "cache_folder",
    "cache_content",
    "cache_nowhere",
    "refusals",
    "time_limits",
    "settings",
    "aliasing",
    "layouts_and_numbers",
    "training",
    "whole_graphs",
    "threads",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_s_promises_hold(ask, name):
    error = ask(name)
    assert not error, error
