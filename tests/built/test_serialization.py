"""torch.save and torch.load, map_location, pickle, copy."""

import copy
import io
import pickle

import pytest
import torch
from built import NAME

api = torch.get_device_module(NAME)


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


def test_locations(device, other):
    for where in (device, other):
        assert torch.serialization.location_tag(torch.ones(1, device=where).untyped_storage()) == str(where)
        storage = torch.serialization.default_restore_location(torch.ones(2).untyped_storage(), str(where))
        assert storage.device == where
        assert torch.tensor([], device=where).set_(storage, 0, (2,)).tolist() == [1, 1]
    assert torch.serialization.location_tag(torch.ones(1).untyped_storage()) == "cpu"


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


# Views with flags, gaps or elements that share memory, of a complex tensor of 3 x 4.
VIEWS = {
    "conjugate": lambda x: x.conj(),
    "negative": lambda x: x.conj().imag,
    "real": lambda x: x.real,
    "row": lambda x: x[1],
    "columns": lambda x: x[:, 1::2],
    "transposed": lambda x: x.t(),
    "conjugate transposed": lambda x: x.mH[1:],
    "expanded": lambda x: x[:1].expand(5, 4),
    "windows": lambda x: x.flatten().unfold(0, 4, 2),
    "scalar": lambda x: x[2, 3],
    "empty": lambda x: x[:0],
    "reinterpreted": lambda x: x.view(torch.float32),
}
views = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


def complex_tensor():
    return torch.complex(torch.arange(12.0), torch.arange(12.0) - 6).reshape(3, 4)


def assert_same_view(found, wanted, device):
    assert found.device == device
    assert (found.shape, found.stride(), found.storage_offset(), found.dtype) == (
        wanted.shape,
        wanted.stride(),
        wanted.storage_offset(),
        wanted.dtype,
    )
    assert (found.is_conj(), found.is_neg()) == (wanted.is_conj(), wanted.is_neg())
    assert found.untyped_storage().nbytes() == wanted.untyped_storage().nbytes()
    assert torch.equal(found.cpu().resolve_conj().resolve_neg(), wanted.resolve_conj().resolve_neg())


@views
def test_deepcopy_of_views(device, other, view):
    for where in (device, other):
        x = complex_tensor().to(where)
        y = copy.deepcopy(view(x))
        assert_same_view(y, copy.deepcopy(view(complex_tensor())), where)
        assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        assert torch.equal(x.cpu(), complex_tensor())


@views
def test_load_of_views_where_it_is_asked_for(device, other, view):
    for source in (torch.device("cpu"), device, other):
        file = saved(view(complex_tensor().to(source)))
        for target in (torch.device("cpu"), device, other):
            file.seek(0)
            y = torch.load(file, map_location=target)
            assert_same_view(y, torch.load(saved(view(complex_tensor()))), target)


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
