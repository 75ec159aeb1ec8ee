# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""torch.save and torch.load, map_location, pickle, copy."""

import copy
import io
import pickle

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def saved(obj: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16, torch.bool, torch.complex64])
def test_load_where_it_was(device, other, dtype):
    for where in (device, other):
        x = torch.arange(12).reshape(3, 4).to(dtype)
        y = torch.load(saved(x.to(where)))
        assert y.device == where
        assert y.dtype == dtype
        assert torch.equal(y.cpu(), x)


@pytest.mark.parametrize("to", ["cpu", NAME, f"{NAME}:1", torch.device(f"{NAME}:0")])
def test_map_location(other, to):
    for source in ("cpu", NAME, other):
        y = torch.load(saved(torch.arange(5.0).to(source)), map_location=to)
        expected = torch.device(to)
        assert y.device.type == expected.type
        assert expected.index is None or y.device.index == expected.index
        assert y.tolist() == [0, 1, 2, 3, 4]


def test_map_location_function_and_dict(device, other):
    file = saved(torch.ones(2, device=other))
    assert torch.load(file, map_location=lambda storage, location: storage).device.type == "cpu"
    file.seek(0)
    assert torch.load(file, map_location={f"{NAME}:1": f"{NAME}:0"}).device == device


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match="99"):
        torch.load(saved(torch.ones(2)), map_location=f"{NAME}:99")


def test_load_follows_the_current_device(other):
    with api.device(other):
        assert torch.load(saved(torch.ones(2)), map_location=NAME).device == other


def test_views_share_after_loading(device):
    x = torch.zeros(6, device=device)
    y, view = torch.load(saved([x, x[2:4]]))
    view.fill_(1)
    assert y.tolist() == [0, 0, 1, 1, 0, 0]
    assert view.storage_offset() == 2


def test_strides_survive(device):
    x = torch.arange(6.0).reshape(2, 3).to(device).t()
    y = torch.load(saved(x))
    assert y.stride() == x.stride() == (1, 3)
    assert torch.equal(y.cpu(), x.cpu())


def test_parameter_and_requires_grad(device):
    parameter = torch.load(saved(torch.nn.Parameter(torch.ones(2, device=device))))
    assert isinstance(parameter, torch.nn.Parameter)
    assert parameter.requires_grad
    assert parameter.device == device


def test_state_dict(device):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).to(device)
    fresh = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    fresh.load_state_dict(torch.load(saved(model.state_dict()), map_location="cpu"))
    for a, b in zip(model.state_dict().values(), fresh.state_dict().values(), strict=True):
        assert torch.equal(a.cpu(), b)


def test_pickle(device):
    x = pickle.loads(pickle.dumps(torch.arange(3.0).to(device)))
    assert x.device == device
    assert x.tolist() == [0, 1, 2]


def test_deepcopy(device, other):
    for where in (device, other):
        x = torch.arange(4.0).to(where)
        y = copy.deepcopy({"x": x, "view": x[1:]})
        assert y["x"].device == where
        assert y["x"].data_ptr() != x.data_ptr()
        y["view"].fill_(0)
        assert y["x"].tolist() == [0, 0, 0, 0]
        assert x.tolist() == [0, 1, 2, 3]


def test_deepcopy_of_a_module(other):
    module = torch.nn.Linear(2, 2).to(other)
    twin = copy.deepcopy(module)
    assert twin.weight.device == other
    assert twin.weight.data_ptr() != module.weight.data_ptr()
    assert torch.equal(twin.weight.cpu(), module.weight.cpu())


def test_generator_state_is_saved(device):
    state = torch.load(saved(api.get_rng_state(device)))
    assert torch.equal(state, api.get_rng_state(device))
