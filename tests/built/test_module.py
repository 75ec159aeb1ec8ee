"""torch.NAME: names, forms of devices, context managers; methods of tensors and modules; a default device."""

import importlib
import threading

import pytest
import torch
from built import NAME, PACKAGE

api = torch.get_device_module(NAME)


@pytest.mark.no_device
def test_name_and_modules():
    assert torch.device(f"{NAME}:1").type == NAME
    assert torch._C._get_privateuse1_backend_name() == NAME
    assert torch.get_device_module(NAME) is api
    assert torch.accelerator.current_accelerator().type == NAME
    assert torch.accelerator.device_count() == api.device_count()
    assert torch.accelerator.is_available() == api.is_available()


@pytest.mark.no_device
def test_registrations_are_made_once():
    assert torch.device("privateuseone:1") == torch.device(NAME, 1)
    torch.utils.rename_privateuse1_backend(NAME)  # the same name again changes nothing
    with pytest.raises(RuntimeError, match="already been set"):
        torch.utils.rename_privateuse1_backend("another")
    with pytest.raises(RuntimeError, match="already been registered"):
        torch.utils.generate_methods_for_privateuse1_backend()
    with pytest.raises(RuntimeError, match="already been registered"):
        torch._register_device_module(NAME, api)
    with pytest.raises(RuntimeError, match="Expected one of"):
        torch._register_device_module("no_such_device", api)
    assert torch.utils.backend_registration._get_custom_mod_func("device_count")() == api.device_count()
    with pytest.raises(RuntimeError, match=f"torch.{NAME}.no_such_function"):
        torch.utils.backend_registration._get_custom_mod_func("no_such_function")


@pytest.mark.no_device
def test_submodules_are_the_same_under_both_names():
    by_torch = importlib.import_module(f"torch.{NAME}.random")
    assert by_torch is importlib.import_module(f"{PACKAGE}.backend.random")
    assert by_torch is api.random


@pytest.mark.no_device
def test_module_has_what_it_says():
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = api.no_such_function


def test_current_device(device, other):
    assert api.current_device() == 0
    api.set_device(other)
    assert api.current_device() == 1
    assert torch.accelerator.current_device_index() == 1
    assert torch.empty(1, device=NAME).device == other
    api.set_device(-1)
    assert api.current_device() == 1
    api.set_device(f"{NAME}:0")
    assert api.current_device() == 0


def test_current_device_belongs_to_the_thread(other):
    api.set_device(other)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(api.current_device()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert api.current_device() == 1


@pytest.mark.parametrize("form", [1, f"{NAME}:1", torch.device(f"{NAME}:1")])
def test_context_manager(other, form):
    with api.device(form):
        assert api.current_device() == 1
        with api.device(0):
            assert api.current_device() == 0
        assert api.current_device() == 1
    assert api.current_device() == 0


@pytest.mark.parametrize("nothing", [None, -1])
def test_context_manager_that_changes_nothing(other, nothing):
    api.set_device(1)
    with api.device(nothing):
        assert api.current_device() == 1
    assert api.current_device() == 1


def test_context_manager_restores_after_an_exception(other):
    with pytest.raises(KeyError), api.device(other):
        raise KeyError
    assert api.current_device() == 0


def test_device_of(device, other):
    with api.device_of(torch.empty(1, device=other)):
        assert api.current_device() == 1
        with api.device_of(torch.empty(1)):
            assert api.current_device() == 1
    assert api.current_device() == 0


@pytest.mark.parametrize("index", [99, 127, 128, 1 << 40])
def test_index_out_of_range(index):
    with pytest.raises((RuntimeError, OverflowError)):
        api.set_device(index)
    with pytest.raises((RuntimeError, OverflowError)), api.device(index):
        pass
    with pytest.raises((RuntimeError, OverflowError)):
        api.get_device_properties(index)
    assert api.current_device() == 0


def test_another_backends_device():
    for call in (api.set_device, api.synchronize, api.get_device_name, api.device):
        with pytest.raises(ValueError, match="cpu"):
            call("cpu")


def test_get_device_index(other):
    get = api._utils._get_device_index
    assert get(1) == get(f"{NAME}:1") == get(torch.device(NAME, 1)) == 1
    assert get(None, True) == get(NAME, True) == 0
    with api.device(1):
        assert get(None, True) == get(NAME, True) == 1
    assert get("cpu", allow_cpu=True) == -1
    for without_index in (None, NAME, torch.device(NAME)):
        with pytest.raises(ValueError, match="index"):
            get(without_index)


def test_initialized(device):
    api.init()
    api.init()
    assert api.is_initialized()
    assert not api._is_in_bad_fork()


def test_tensor_methods(device):
    x = torch.arange(4.0)
    y = getattr(x, NAME)()
    assert not getattr(x, f"is_{NAME}")
    assert getattr(y, f"is_{NAME}")
    assert y.device == device
    assert torch.equal(y.cpu(), x)
    assert getattr(y, NAME)() is y


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16], ids=str)
def test_types_have_names(device, dtype):
    x = torch.ones(2, dtype=dtype)
    name = x.type().replace("torch.", f"torch.{NAME}.")
    y = x.to(device)
    assert y.type() == name
    assert y.type(name) is y
    assert torch.ones(2).type(name).dtype == dtype
    assert torch.ones(2).type(name).device == device
    assert y.type(x.type()).device.type == "cpu"


def test_tensor_method_takes_an_index(other):
    assert getattr(torch.ones(1), NAME)(1).device == other


def test_module_and_storage_methods(device):
    module = getattr(torch.nn.Linear(2, 3), NAME)()
    assert {p.device for p in module.parameters()} == {device}
    storage = getattr(torch.arange(4.0).untyped_storage(), NAME)()
    assert getattr(storage, f"is_{NAME}")
    assert storage.cpu().tolist() == torch.arange(4.0).untyped_storage().tolist()


@pytest.fixture
def default_device(other):
    torch.set_default_device(other)
    yield other
    torch.set_default_device(None)


def test_default_device(default_device):
    made = {
        "empty": torch.empty(2),
        "zeros": torch.zeros(2, 3),
        "full": torch.full((2,), 3),
        "tensor": torch.tensor([1.0, 2.0]),
        "as_tensor": torch.as_tensor([1, 2]),
        "scalar": torch.tensor(1.5),
        "empty_strided": torch.empty_strided((2, 2), (1, 2)),
        "rand": torch.rand(3),
        "parameter": torch.nn.Linear(2, 2).weight,
        "buffer": torch.nn.BatchNorm1d(2).running_mean,
    }
    assert {name: x.device for name, x in made.items()} == dict.fromkeys(made, default_device)
    assert made["tensor"].tolist() == [1, 2]
    assert torch.get_default_device() == default_device
    assert torch.zeros(2, device="cpu").device.type == "cpu"
    assert torch.zeros_like(torch.zeros(2, device="cpu")).device.type == "cpu"
    with torch.device("cpu"):
        assert torch.zeros(2).device.type == "cpu"
    with torch.device(NAME, 0):
        assert torch.zeros(2).device == torch.device(NAME, 0)
    assert torch.zeros(2).device == default_device
    assert api.current_device() == 0  # a default device is not the current one


def test_default_device_by_name(default_device):
    torch.set_default_device(NAME)
    with api.device(default_device):
        assert torch.zeros(2).device == default_device
    assert torch.zeros(2).device == torch.device(NAME, 0)


def test_default_device_is_each_threads_own(default_device):
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.zeros(1, device=None).device.type))
    thread.start()
    thread.join()
    assert found == ["cpu"]
