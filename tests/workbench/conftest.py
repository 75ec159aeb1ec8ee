"""Fixtures of the tests of the workbench: its package comes from this checkout."""

import os
import pathlib
import sys

import pytest

WORKBENCH = pathlib.Path(__file__).resolve().parents[2] / "generator/workbench"
sys.path.insert(0, str(WORKBENCH))


@pytest.fixture(scope="session")
def device():
    """The PrivateUse1 backend to test on: OPENREG_GEN_DEVICE, or the one that is loaded."""
    from openreg_gen import device as devices

    name = os.environ.get("OPENREG_GEN_DEVICE") or devices.current()
    if name is None:
        pytest.skip("no PrivateUse1 backend is loaded; OPENREG_GEN_DEVICE names one")
    return devices.open_device(name)
