"""What tests of the workbench share: a device, and programs that import the workbench of this source tree."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

WORKBENCH = pathlib.Path(__file__).parents[2] / "generator/workbench"
sys.path.insert(0, str(WORKBENCH))

SECONDS = 300  # for a program, which imports PyTorch

collect_ignore = ["upstream"]  # what test_upstream*.py run: tests that crash, hang and fail


@pytest.fixture(scope="session")
def any_device() -> str:
    """$OPENREG_GEN_DEVICE, else the backend that is loaded, else cpu."""
    from openreg_gen import device

    return os.environ.get("OPENREG_GEN_DEVICE") or device.current() or "cpu"


@pytest.fixture
def device(any_device: str) -> str:
    """A backend's device; without one the test skips."""
    if any_device == "cpu":
        pytest.skip("no backend: install one, and name its device in OPENREG_GEN_DEVICE")
    return any_device


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_python(tmp_path: pathlib.Path) -> Run:
    """Runs Python with words in a folder of the test's own. `code`: the exit code that it has to have; None: any."""

    def run(*words: str | os.PathLike[str], code: int | None = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join(filter(None, [str(WORKBENCH), os.environ.get("PYTHONPATH")]))
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPENREG_GEN_")}
        environment = {**inherited, "PYTHONPATH": paths, **variables}
        argv = [sys.executable, *map(str, words)]
        done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=SECONDS)
        assert code in (None, done.returncode), done.stdout + done.stderr
        return done

    return run
