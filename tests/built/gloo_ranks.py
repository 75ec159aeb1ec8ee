"""Ranks of a process group over Gloo: the fixture of test_outside_gloo*.py, and the functions that their scripts use."""

import tempfile

import pytest
from built import NAME
from forks import Forks

PRELUDE = f"""
import datetime, os
import torch, torch.distributed as dist
NAME = "{NAME}"
api = torch.get_device_module(NAME)
D = torch.device(NAME, rank % api.device_count())
api.set_device(D)

def init(name="first", seconds=60, ranks=None, device_id=None):
    ranks = ranks or list(range(size))
    dist.set_debug_level_from_env()
    dist.init_process_group(
        dist.get_default_backend_for_device(NAME), init_method=f"file://{{os.environ['MEETING']}}/{{name}}",
        rank=ranks.index(rank), world_size=len(ranks), timeout=datetime.timedelta(seconds=seconds), device_id=device_id)

def same(got, expected):
    got, expected = got.cpu(), torch.as_tensor(expected).cpu()
    assert got.shape == expected.shape and got.dtype == expected.dtype, (got, expected)
    assert torch.equal(got, expected), (got, expected)

def error(function, *kinds):
    "The text of the error that function() raises."
    try:
        function()
    except kinds or Exception as caught:
        return f"{{type(caught).__name__}}: {{caught}}"
    raise AssertionError("nothing was raised")

def drain():
    "Takes the error that the device still reports, if there is one."
    try:
        api.synchronize()
    except torch.AcceleratorError as caught:
        print("drained ->", caught)
"""


@pytest.fixture(scope="module")
def forks():
    server = Forks(PRELUDE)
    yield server
    server.close()


@pytest.fixture
def ranks(forks):
    """Runs a script once per rank; the ranks meet in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield lambda script, count, **options: forks.run(script, count, MEETING=folder, **options)
