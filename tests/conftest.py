"""Fixtures of the tests of the command: it runs as a process, on trees in temporary folders."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND, unpack

if "TREE" not in os.environ and importlib.util.find_spec("torch_openreg") is None:
    collect_ignore = ["built"]  # its tests need a tree that is installed


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: too slow for CI; runs with OPENREG_GEN_NIGHTLY in the environment")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("nightly") and "OPENREG_GEN_NIGHTLY" not in os.environ:
            item.add_marker(pytest.mark.skip(reason="of scripts/nightly.sh slow"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    site = pathlib.Path(next(path for path in sys.path if (pathlib.Path(path) / "torch/include").is_dir()))
    made = dict(
        os.environ,
        OPENREG_GEN_PYTHON=sys.executable,
        XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")),
        TMPDIR=str(tmp_path_factory.mktemp("tmp")),  # a command that is killed may leave a folder there
    )
    made.pop("OPENREG_GEN_DATA", None)
    return made, site / "torch"


@pytest.fixture(scope="session")
def openreg_gen(environment):
    base, torch = environment

    # code: what it must exit with; None: whatever it does
    def run(*argv, code=0, cwd=None, torch=torch, env=(), prefix=()):
        argv = [str(word) for word in argv]
        if torch and argv[0] in ("new", "generate", "add", "remove", "explain"):
            argv += ["--torch", str(torch)]
        command = [*prefix, COMMAND, *argv]
        outcome = subprocess.run(
            command, check=False, cwd=cwd, env={**base, **dict(env)}, text=True, capture_output=True
        )
        assert code is None or outcome.returncode == code, outcome.stdout + outcome.stderr
        return outcome

    return run


@pytest.fixture(scope="session")
def other_releases(tmp_path_factory):
    """Folders torch-VERSION with what other releases of PyTorch declare: scripts/declarations.py."""
    folder = tmp_path_factory.mktemp("other_releases")
    unpack(pathlib.Path(__file__).parent / "other_releases.tar.xz", folder)
    return folder


@pytest.fixture(scope="session")
def pristine(openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp("pristine")
    openreg_gen("new", "mybackend", "--profile", "full", cwd=where)
    return where / "torch_mybackend"


@pytest.fixture
def tree(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "torch_mybackend")
