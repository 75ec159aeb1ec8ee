"""torch.NAME._workbench: defaults, what is refused, and devices that are not there."""

from types import SimpleNamespace

import pytest
import torch
from openreg_gen import device as devices
from openreg_gen import protocol

NAMES = sorted({"modes", "start", "known", "most", "excluded", "operators", "fallbacks", "reset_fallbacks"})


@pytest.fixture
def provide(monkeypatch):
    """Makes an object with some members what the CPU provides."""
    return lambda **members: monkeypatch.setattr(torch.cpu, "_workbench", SimpleNamespace(**members), raising=False)


def test_nothing_is_provided():
    given = protocol.of("cpu")
    assert given == protocol.Workbench()
    assert (given.modes, given.start, given.known, given.fallbacks()) == ({}, "spawn", (), [])
    given.reset_fallbacks()


def test_some_is_provided(provide):
    rows = [("aten::add.out", 2, 48, 0.5), ("aten::mul.out", 1, 0, 0.25, "it has no kernel", "kernel")]
    provide(modes={"sync": {"MINE_BLOCKING": "1"}}, fallbacks=lambda: rows, reset_fallbacks=rows.clear)
    given = protocol.of("cpu")
    assert given.provided == {"modes", "fallbacks", "reset_fallbacks"}
    assert given.fallbacks()[0] == protocol.Fallback("aten::add.out", 2, 48, 0.5, "", "fallback")
    assert given.fallbacks()[1].cause == "kernel"
    given.reset_fallbacks()
    assert given.fallbacks() == [] and given.start == "spawn" and given.excluded == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_member_is_named(provide, name):
    provide(**{name: 3})
    wanted = {"start": '"fork" or "spawn"', "modes": "a dict", "most": "a dict"}
    wanted |= dict.fromkeys(("known", "excluded", "operators"), "a list")
    with pytest.raises(protocol.ProtocolError) as raised:
        protocol.of("cpu")
    words = f"torch.cpu._workbench.{name} is 3; it has to be {wanted.get(name, 'a function')}"
    assert str(raised.value) == words


LOADED = "the PrivateUse1 backend that is loaded is 'mine'; try --device mine"
NOT_REGISTERED = (
    "torch-mine did not register one when torch was imported; is TORCH_DEVICE_BACKEND_AUTOLOAD=0 set? A backend that torch doesn't"
    " load by itself needs --import PACKAGE"
)
NONE = "no backend is installed; install one, or name the module that registers it: --import PACKAGE"


@pytest.mark.parametrize(
    "loaded, packages, hint",
    [("mine", ["torch-mine"], LOADED), (None, ["torch-mine"], NOT_REGISTERED), (None, [], NONE)],
)
def test_a_device_that_is_not_there(monkeypatch, loaded, packages, hint):
    monkeypatch.setattr(devices, "current", lambda: loaded)
    monkeypatch.setattr(devices, "backends", lambda: packages)
    with pytest.raises(devices.DeviceError) as raised:
        devices.open_device("other")
    assert str(raised.value).startswith("no device 'other' in ") and str(raised.value).endswith(hint)


def test_a_module_that_is_not_there():
    with pytest.raises(devices.DeviceError, match="no_such_backend: can't be imported by "):
        devices.open_device("cpu", "no_such_backend")


def test_the_command_says_how_another_python_is_chosen(monkeypatch):
    monkeypatch.setenv("OPENREG_GEN_COMMAND", "openreg-gen")
    for words in (("cpu", "no_such_backend"), ("other",)):
        with pytest.raises(devices.DeviceError, match="OPENREG_GEN_PYTHON names another Python$"):
            devices.find_device(*words)


def test_a_device_is_found_by_its_name(any_device):
    assert devices.open_device(any_device) == any_device
    assert devices.open_device(f"{any_device}:0") == any_device


def test_the_backend_is_as_the_protocol_wants(device):
    given = protocol.of(device)
    if not given.provided:
        pytest.skip("the backend provides no _workbench")
    assert given.provided <= set(NAMES)
    given.reset_fallbacks()
    x = torch.tensor([1, 2], device=device).bincount()
    rows = given.fallbacks()
    assert x.device.type == device and all(isinstance(row, protocol.Fallback) for row in rows)
