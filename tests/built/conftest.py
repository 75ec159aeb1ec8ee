"""Tests of what is the same in each tree, whatever its device and its kernels: they run here, and no tree has them.
They have the fixtures of the tree's own tests."""

import sys

import pytest
from built import ROOT, module_of

sys.path.insert(0, str(ROOT / "tests"))
_tree = module_of(ROOT / "tests/conftest.py")
globals().update({name: value for name, value in vars(_tree).items() if not name.startswith("__")})

if not (ROOT / "tests/distributed_processes.py").exists():  # what they import asks for a group of the device
    collect_ignore = ["test_distributed_sharding.py", "test_distributed_upstream.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _tree.pytest_collection_modifyitems(items)
    for item in items:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900, method="thread"))
