"""The package: import in either order, with and without Autoload; it loads with the minor release of PyTorch that it was built
with and no other, and `diagnose` says why it does not. Libraries that are older than the Python files around them are
reported."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import torch
from built import NAME, ROOT
from built import PACKAGE as PACKAGE_NAME

_release = importlib.import_module(f"{PACKAGE_NAME}._release")


def entry_points() -> list[str]:
    return [point.value for point in metadata.entry_points(group="torch.backends") if point.name == NAME]


def run(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


installed = pytest.mark.skipif(
    not entry_points(),
    reason=f"{PACKAGE_NAME} is on the path, but not installed",
)
USE = f"""
assert torch.device("{NAME}:0").type == "{NAME}"
assert torch.accelerator.current_accelerator().type == "{NAME}"
if torch.{NAME}.is_available():
    assert torch.zeros(2, device="{NAME}").tolist() == [0, 0]
print("good")
"""


@pytest.mark.no_device
@installed
def test_import_in_the_folder_above():
    """There the tree's folder could be taken for the package."""
    above = ROOT.parent
    done = subprocess.run(
        [sys.executable, "-c", f"import torch{USE}"],
        cwd=above,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "good\n", done.stderr


@pytest.mark.no_device
@installed
def test_entry_point():
    assert entry_points() == [f"{PACKAGE_NAME}:_autoload"]
    (point,) = [p for p in metadata.entry_points(group="torch.backends") if p.name == NAME]
    for _ in range(2):
        point.load()()


@pytest.mark.no_device
@installed
def test_torch_alone():
    result = run(f"import torch{USE}import {PACKAGE_NAME}")
    assert result.stdout == "good\n", result.stderr


@pytest.mark.no_device
def test_package_first():
    result = run(f"import {PACKAGE_NAME}; import torch{USE}")
    assert result.stdout == "good\n", result.stderr


@pytest.mark.no_device
def test_autoload_off():
    code = f"""
import torch
assert not hasattr(torch, "{NAME}")
import {PACKAGE_NAME}
"""
    result = run(code + USE, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.stdout == "good\n", result.stderr


# --- Releases of PyTorch

PACKAGE = Path(_release.__file__).parent
MAJOR, MINOR = _release.minor(torch.__version__)
OTHER = f"{MAJOR}.{MINOR + 1}.0+cpu"


@pytest.fixture
def copy(tmp_path):
    """The package without its libraries: what tries to load one fails with another error than what looks first."""
    package = tmp_path / "elsewhere" / PACKAGE.name
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
    what = f"{PACKAGE.name} was rendered after it was built; run: cmake --build "
    (copy.parent / ".openreg-gen").mkdir()
    (copy.parent / ".openreg-gen" / "manifest.json").write_text('{\n  "sources": "0",\n')
    done = python(copy, "-c", f"import {PACKAGE.name}")
    assert done.stderr.splitlines()[-1] == f"ImportError: {what}{copy.parent / 'build'}"
    monkeypatch.setattr(_release, "MANIFEST", copy.parent / ".openreg-gen" / "manifest.json")
    with pytest.warns(UserWarning, match=what), _release.checked():  # they load
        pass


@pytest.mark.no_device
def test_another_minor_release_is_refused_before_anything_is_loaded(copy):
    built_with(copy, OTHER)
    done = python(copy, "-c", f"import {PACKAGE.name}")
    last = done.stderr[done.stderr.index("ImportError: ") :]
    assert f"was built with PyTorch {MAJOR}.{MINOR + 1} ({OTHER}), and {torch.__version__} is installed." in last
    assert f"pip install 'torch=={MAJOR}.{MINOR + 1}.*'" in last
    assert f"+torch{MAJOR}.{MINOR}" in last


@pytest.mark.no_device
def test_autoload_is_refused_in_the_same_words(copy):
    built_with(copy, OTHER)
    folder = copy.parent / f"{PACKAGE.name}-0.dist-info"  # what pip writes, so that `import torch` finds the package
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE.name}\nVersion: 0\n")
    entry = f"{NAME} = {PACKAGE.name}:_autoload"
    (folder / "entry_points.txt").write_text(f"[torch.backends]\n{entry}\n")
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
    env = {f"{NAME.upper()}_TESTS": "", "TORCH_DEVICE_BACKEND_AUTOLOAD": "1"}
    said = reported(python(PACKAGE, "-m", f"{PACKAGE.name}.diagnose", **env))
    assert said["loading"] == "works"
    assert said["built with PyTorch"] == said["installed PyTorch"] == str(torch.__version__)
    assert said["devices"] == str(torch.accelerator.device_count())
    assert said["Autoload"].startswith("on: ")
    assert f"${NAME.upper()}_TESTS" in said
    if torch.accelerator.is_available():
        assert said["a sum on the device"] == "3.0"
    for name in ("build", "compiler here", "Python", "system", "C library", "CPU", "allocator settings"):
        assert said[name], name
    assert "CUDA devices that PyTorch sees" in said


@pytest.mark.no_device
def test_diagnose_where_loading_is_refused(copy):
    built_with(copy, OTHER)
    said = reported(python(copy, "-m", f"{PACKAGE.name}.diagnose"))
    assert said["built with PyTorch"] == OTHER
    assert said["installed PyTorch"] == str(torch.__version__)
    assert said["loading"].startswith("refused: ")
    assert said["Autoload"].startswith("off (0)")


@pytest.mark.no_device
def test_diagnose_where_loading_fails(copy):
    done = python(copy, "-m", f"{PACKAGE.name}.diagnose")
    assert reported(done)["loading"].startswith("fails with exit code 1")
    assert "cannot import name '_C'" in done.stdout


@pytest.mark.no_device
def test_only_diagnose_leaves_the_device_out(monkeypatch):
    entry = importlib.import_module(f"{PACKAGE.name}._entry")
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", f"{PACKAGE.name}.diagnose"])
    assert entry._chosen()  # argv is the test runner's: -m was done with long ago
    monkeypatch.setattr(sys, "argv", ["-m"])
    assert not entry._chosen()
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", f"{PACKAGE.name}.other"])
    assert entry._chosen()
