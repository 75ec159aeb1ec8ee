# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""A build loads with the minor release of PyTorch it was built with, and no other; `diagnose` says why it does not. Libraries
that are older than the Python files around them are reported."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg
from torch_openreg import _release

PACKAGE = Path(torch_openreg.__file__).parent
NAME = "torch_openreg"
MAJOR, MINOR = _release.minor(torch.__version__)
OTHER = f"{MAJOR}.{MINOR + 1}.0+cpu"


@pytest.fixture
def copy(tmp_path):
    """The package without its libraries: what tries to load one fails with another error than what looks first."""
    package = tmp_path / "elsewhere" / NAME
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "csrc", "__pycache__"))
    return package


def python(package, *arguments, **env):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=package.parent,  # which Python looks in first
        env={**os.environ, "PYTHONPATH": str(package.parent), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def built_with(package, version):
    path = package / "lib/build.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "torch": version}))


@pytest.mark.no_device
def test_what_the_build_wrote():
    assert _release.built()["torch"] == str(torch.__version__) == _release.installed_version()
    assert _release.problem() == _release.stale() == ""


@pytest.mark.no_device
def test_stale_libraries(copy, monkeypatch):
    what = f"{NAME} was rendered after it was built; run: cmake --build "
    (copy.parent / ".openreg-gen").mkdir()
    (copy.parent / ".openreg-gen" / "manifest.json").write_text('{\n  "sources": "0",\n')
    done = python(copy, "-c", f"import {NAME}")
    assert done.stderr.splitlines()[-1] == f"ImportError: {what}{copy.parent / 'build'}"
    monkeypatch.setattr(_release, "MANIFEST", copy.parent / ".openreg-gen" / "manifest.json")
    with pytest.warns(UserWarning, match=what), _release.checked():  # they load
        pass


@pytest.mark.no_device
def test_another_minor_release_is_refused_before_anything_is_loaded(copy):
    built_with(copy, OTHER)
    done = python(copy, "-c", f"import {NAME}")
    last = done.stderr[done.stderr.index("ImportError: ") :]
    assert f"was built with PyTorch {MAJOR}.{MINOR + 1} ({OTHER}), and {torch.__version__} is installed." in last
    assert f"pip install 'torch=={MAJOR}.{MINOR + 1}.*'" in last
    assert f"+torch{MAJOR}.{MINOR}" in last


@pytest.mark.no_device
def test_autoload_is_refused_in_the_same_words(copy):
    built_with(copy, OTHER)
    folder = copy.parent / f"{NAME}-0.dist-info"  # what pip writes, so that `import torch` finds the package
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(f"[torch.backends]\nopenreg = {NAME}:_autoload\n")
    done = python(copy, "-c", "import torch", TORCH_DEVICE_BACKEND_AUTOLOAD="1")
    assert f"was built with PyTorch {MAJOR}.{MINOR + 1} ({OTHER})" in done.stderr
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in done.stderr


@pytest.mark.no_device
def test_a_patch_release_fits(copy, monkeypatch):
    monkeypatch.setattr(_release, "BUILT", copy / "lib/build.json")
    for version in (f"{MAJOR}.{MINOR}.99", f"{MAJOR}.{MINOR}.0a0+git1234"):
        built_with(copy, version)
        assert _release.problem() == ""
    built_with(copy, f"{MAJOR}.{MINOR}9.0")
    assert _release.problem() != ""


@pytest.mark.no_device
def test_neither_a_build_nor_pytorch(copy, monkeypatch):
    monkeypatch.setattr(_release, "installed_version", lambda: "")
    assert "none is installed" in _release.problem()
    monkeypatch.setattr(_release, "BUILT", copy / "nothing")
    assert "was not built" in _release.problem()


def reported(done):
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^(\S.*?): +(.*)$", done.stdout, re.M))


@pytest.mark.no_device
def test_diagnose():
    env = {"OPENREG_TESTS": "", "TORCH_DEVICE_BACKEND_AUTOLOAD": "1"}
    said = reported(python(PACKAGE, "-m", f"{NAME}.diagnose", **env))
    assert said["loading"] == "works"
    assert said["built with PyTorch"] == said["installed PyTorch"] == str(torch.__version__)
    assert said["devices"] == str(torch.openreg.device_count())
    assert said["Autoload"].startswith("on: ")
    assert "$OPENREG_TESTS" in said
    if torch.openreg.is_available():
        assert said["a sum on the device"] == "3.0"
    for name in ("build", "compiler here", "Python", "system", "C library", "CPU", "allocator settings"):
        assert said[name], name
    assert "CUDA devices that PyTorch sees" in said


@pytest.mark.no_device
def test_diagnose_where_loading_is_refused(copy):
    built_with(copy, OTHER)
    said = reported(python(copy, "-m", f"{NAME}.diagnose"))
    assert said["built with PyTorch"] == OTHER
    assert said["installed PyTorch"] == str(torch.__version__)
    assert said["loading"].startswith("refused: ")
    assert said["Autoload"].startswith("off (0)")


@pytest.mark.no_device
def test_diagnose_where_loading_fails(copy):
    done = python(copy, "-m", f"{NAME}.diagnose")
    assert reported(done)["loading"].startswith("fails with exit code 1")
    assert "cannot import name '_C'" in done.stdout


@pytest.mark.no_device
def test_only_diagnose_leaves_the_device_out(monkeypatch):
    entry = importlib.import_module(f"{NAME}._entry")
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", f"{NAME}.diagnose"])
    assert entry._chosen()  # argv is the test runner's: -m was done with long ago
    monkeypatch.setattr(sys, "argv", ["-m"])
    assert not entry._chosen()
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", f"{NAME}.other"])
    assert entry._chosen()
