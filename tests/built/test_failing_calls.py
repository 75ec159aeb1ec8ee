"""Calls of the device that fail where a failure once ended the process. tests/failing lets each call fail, at night."""

import subprocess
import sys
from pathlib import Path

import pytest
from built import NAME, ROOT

EACH_CALL = Path(__file__).parents[1] / "failing/each_call.py"
API = (ROOT / f"third_party/{NAME}/include/{NAME}.h").read_text()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "scenario, function, component",
    [("graphs", "StreamGetCaptureInfo", "graphs"), ("collectives", "GetDeviceCount", "distributed")],
)
def test_no_failure_ends_the_process(scenario, function, component):
    if not (ROOT / f"tests/test_{component}.py").exists() or f"{function}(" not in API:
        pytest.skip(f"the tree has no component {component}")
    prefix = API.split(f"{function}(")[0].split()[-1]
    words = [sys.executable, EACH_CALL, ROOT, "--scenario", scenario, "--function", prefix + function]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500, check=False)
    if "is optional, and the port leaves it out" in done.stdout + done.stderr:
        pytest.skip(f"the port has nothing of {component}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of them with problems" in done.stdout
