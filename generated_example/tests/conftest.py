# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What all tests share: the device, and a reason to skip where there is none."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import torch_openreg
import pytest
import torch

NAME = "openreg"
api = torch.get_device_module(NAME)


def pytest_report_header() -> str:
    count = api.device_count()
    return f"torch_openreg {torch_openreg.__version__}, torch {torch.__version__}, devices: {count}"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "no_device: runs without a device too")
    config.addinivalue_line("markers", "timeout(seconds): in the place of pyproject.toml's")
    # Code is made anew by each run: what an earlier one left in Inductor's cache would hide warnings and errors of its making.
    if "TORCHINDUCTOR_CACHE_DIR" not in os.environ:
        cache = os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(prefix="torchinductor_")
        config.add_cleanup(lambda: shutil.rmtree(cache, ignore_errors=True))


def pytest_collection_finish(session: pytest.Session) -> None:
    opinfos = sys.modules.get("torch_openreg.testing.opinfos")
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if opinfos is not None and terminal is not None:

        def say(text: str) -> None:
            terminal.ensure_newline()
            terminal.write_line(text, flush=True)

        opinfos.say = say


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if api.device_count() > 0:
        return
    reason = "no openreg device: the device library reports none"
    for item in items:
        if not item.get_closest_marker("no_device"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _clean_state():
    """Each test starts on device 0 and its default stream, and leaves no work behind."""
    yield
    if api.device_count() > 0 and api.is_initialized():
        for index in range(api.device_count()):
            api.set_stream(api.default_stream(index))
            api.synchronize(index)
        api.set_device(0)


@pytest.fixture
def device() -> torch.device:
    """The first device."""
    return torch.device(NAME, 0)


@pytest.fixture
def other() -> torch.device:
    """The second device."""
    if api.device_count() < 2:
        pytest.skip("needs two devices")
    return torch.device(NAME, 1)


@pytest.fixture
def captured() -> Callable[..., tuple[Any, Any]]:
    """Captures function(): its graph, and what it returned. `warm`: it runs once before. Options: those of graph()."""

    def capture(function: Callable[[], Any], warm: bool = True, **options: Any) -> tuple[Any, Any]:
        if warm:
            side = api.Stream()
            side.wait_stream(api.current_stream())
            with api.stream(side):
                function()
            api.synchronize()
        graph = api.Graph()
        with api.graph(graph, **options):
            result = function()
        return graph, result

    return capture
