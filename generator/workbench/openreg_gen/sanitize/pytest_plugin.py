"""pytest under the sanitizer: a test that has a race fails, with the report as its text.

    OPENREG_GEN_DEVICE=mine pytest -p openreg_gen.sanitize.pytest_plugin tests

Fixtures run outside of it, and so do processes that a test starts.
"""

import os
from collections.abc import Generator

import pytest

from .. import device
from .mode import Sanitizer
from .unseen import Unseen

_unseen: dict[Unseen, int] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for what, count in _unseen.items():
        terminalreporter.write_line(f"sanitizer: not seen ({count}): {what.value}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    kind = os.environ.get("OPENREG_GEN_DEVICE") or device.current() or "cpu"
    with Sanitizer(kind) as races:
        outcome = yield
    for what, count in races.unseen.items():
        _unseen[what] = _unseen.get(what, 0) + count
    if races.found:
        pytest.fail(str(races), pytrace=False)
    return outcome
