# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Import in either order, with and without Autoload; fork() and DataLoader workers."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

NAME = "openreg"
api = torch.openreg


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
    reason="torch_openreg is on the path, but not installed",
)
USE = """
assert torch.device("openreg:0").type == "openreg"
assert torch.accelerator.current_accelerator().type == "openreg"
if torch.openreg.is_available():
    assert torch.zeros(2, device="openreg").tolist() == [0, 0]
print("good")
"""


@pytest.mark.no_device
@installed
def test_import_in_the_folder_above():
    """There the tree's folder could be taken for the package."""
    above = Path(__file__).resolve().parents[2]
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
    assert entry_points() == ["torch_openreg:_autoload"]
    (point,) = [p for p in metadata.entry_points(group="torch.backends") if p.name == NAME]
    for _ in range(2):
        point.load()()


@pytest.mark.no_device
@installed
def test_torch_alone():
    result = run("import torch" + USE + "import torch_openreg")
    assert result.stdout == "good\n", result.stderr


@pytest.mark.no_device
def test_package_first():
    result = run("import torch_openreg; import torch" + USE)
    assert result.stdout == "good\n", result.stderr


@pytest.mark.no_device
def test_autoload_off():
    code = """
import torch
assert not hasattr(torch, "openreg")
import torch_openreg
"""
    result = run(code + USE, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.stdout == "good\n", result.stderr


@pytest.mark.no_device
def test_import_uses_no_device_and_exit_is_clean():
    code = """
import torch, torch_openreg
assert not torch.openreg.is_initialized()
torch.manual_seed(0)
torch.openreg.device_count()
assert not torch.openreg.is_initialized()
if torch.openreg.is_available():
    keep = [torch.ones(10, device="openreg"), torch.ones(10).pin_memory(), torch.openreg.Stream()]
    keep.append(keep[-1].record_event())
    keep.append(keep)  # a cycle: freed while the interpreter ends, or never
"""
    result = run(code)
    assert (result.returncode, result.stderr) == (0, "")


class Numbers(Dataset):
    """The numbers from 0 to 15, on the CPU, or made on the device."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor(float(index), device=self.where)


def test_dataloader_workers_and_pinning(device):
    api.init()
    loader = DataLoader(
        Numbers("cpu"),
        batch_size=4,
        num_workers=1,
        pin_memory=True,
        multiprocessing_context="fork",
    )
    batches = list(loader)
    assert all(batch.is_pinned() for batch in batches)
    moved = torch.cat([batch.to(device, non_blocking=True).cpu() for batch in batches])
    assert moved.tolist() == list(range(16))


def test_forked_child_is_refused(device):
    api.init()
    loader = DataLoader(Numbers(NAME), num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match="forked subprocess.*spawn"):
        list(loader)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
def test_forked_child_knows(device):
    x = torch.ones(100, device=device)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        known = api._is_in_bad_fork() and not api.is_initialized()
        torch.manual_seed(1)  # leaves the device alone
        del x  # what it would free is the parent's
        os.write(write, b"known" if known else b"not known")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        assert answer.read() == b"known"
    assert os.waitpid(child, 0)[1] == 0
    assert not api._is_in_bad_fork()
    assert x.tolist() == [1] * 100


def test_fork_before_first_use():
    code = """
import os, torch, torch_openreg
child = os.fork()
assert torch.ones(3, device="openreg").tolist() == [1, 1, 1]
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    result = run(code)
    assert (result.returncode, result.stderr) == (0, "")
