# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Storages: making, copying, resizing, sharing; what new memory holds in deterministic mode, and what copies take."""

import gc

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def test_make_and_copy(device, other):
    for where in (device, other):
        storage = torch.UntypedStorage(100, device=where)
        assert storage.device == where
        assert storage.nbytes() == 100
        storage.copy_(torch.arange(100, dtype=torch.uint8).untyped_storage())
        assert storage.cpu().tolist() == list(range(100))
        assert storage.clone().cpu().tolist() == list(range(100))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_typed_storage(device):
    storage = torch.arange(5.0).to(device).storage()
    assert getattr(storage, f"is_{NAME}")
    assert storage.device == device
    assert storage.cpu().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("nbytes", [0, 8, 40, 4000])
def test_resize(device, nbytes):
    x = torch.arange(10, dtype=torch.uint8).to(device)
    storage = x.untyped_storage()
    storage.resize_(nbytes)
    assert storage.nbytes() == nbytes
    kept = min(10, nbytes)
    assert storage.cpu().tolist()[:kept] == list(range(kept))


def test_resize_to_nothing_frees(device):
    x = torch.empty(1 << 22, dtype=torch.uint8, device=device)
    held = api.memory_allocated(device)
    x.untyped_storage().resize_(0)
    assert held - api.memory_allocated(device) >= 1 << 22
    x.untyped_storage().resize_(1 << 22)
    x.fill_(9)
    assert x[-1].item() == 9


def test_resize_keeps_the_device(other):
    x = torch.ones(4, device=other)
    x.untyped_storage().resize_(64)
    x.resize_(16)
    assert x.device == x.untyped_storage().device == other
    assert x[:4].tolist() == [1, 1, 1, 1]


def test_views_share(device):
    x = torch.zeros(4, 6, device=device)
    view = x.view(2, 12)[1].unfold(0, 3, 3).transpose(0, 1)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    view.fill_(1)
    expected = torch.zeros(4, 6)
    expected[2:] = 1
    assert torch.equal(x.cpu(), expected)
    assert view.storage_offset() == 12


def test_set(device):
    source = torch.arange(12.0).to(device)
    x = torch.empty(0, device=device)
    x.set_(source.untyped_storage(), 2, (2, 3), (5, 1))
    assert x.tolist() == [[2, 3, 4], [7, 8, 9]]
    assert x.untyped_storage()._cdata == source.untyped_storage()._cdata
    x.set_(source)
    assert x.is_set_to(source)
    x.set_(source.untyped_storage())
    assert x.shape == (12,)
    x.set_()
    assert x.numel() == 0
    with pytest.raises(RuntimeError):
        x.set_(torch.ones(2))


def test_data_swap_keeps_the_parameter(device):
    parameter = torch.nn.Parameter(torch.ones(3))
    identity = id(parameter)
    parameter.data = torch.full((3,), 2.0, device=device)
    assert id(parameter) == identity
    assert parameter.device == device
    assert parameter.tolist() == [2, 2, 2]
    parameter.data = torch.zeros(3)
    assert parameter.device.type == "cpu"


def test_module_to_keeps_parameters(device):
    module = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    before = [id(p) for p in module.parameters()]
    module.to(device)
    assert [id(p) for p in module.parameters()] == before
    assert optimizer.param_groups[0]["params"][0].device == device


def test_memory_lives_as_long_as_its_last_user(device):
    gc.collect()
    before = api.memory_allocated(device)
    x = torch.full((1 << 16,), 5.0, device=device)
    storage = x.untyped_storage()
    del x
    gc.collect()
    y = torch.empty(0, device=device).set_(storage)
    assert y[100].item() == 5.0
    del y, storage
    gc.collect()
    assert api.memory_allocated(device) == before


def test_item_and_tolist(device):
    for value in (True, 3, 2.5, 1 + 2j):
        assert torch.tensor(value, device=device).item() == value
    assert torch.arange(3).to(device).tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        torch.zeros(2, device=device).numpy()


def test_printing(device):
    text = repr(torch.arange(3.0).to(device))
    assert text == f"tensor([0., 1., 2.], device='{NAME}:0')"


# --- New memory in deterministic mode

DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32),
    *(torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    *(torch.float8_e4m3fn, torch.float8_e5m2),
)


@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


def assert_same_bytes(found, wanted):
    assert (found.dtype, found.shape, found.stride()) == (wanted.dtype, wanted.shape, wanted.stride())
    assert found.untyped_storage().cpu().tolist() == wanted.untyped_storage().tolist()


NEW = {
    "empty": lambda dtype, where: torch.empty(5, dtype=dtype, device=where),
    "scalar": lambda dtype, where: torch.empty((), dtype=dtype, device=where),
    "none": lambda dtype, where: torch.empty(0, dtype=dtype, device=where),
    "channels_last": lambda dtype, where: torch.empty(
        1, 2, 3, 2, dtype=dtype, device=where, memory_format=torch.channels_last
    ),
    "empty_strided": lambda dtype, where: torch.empty_strided((2, 3), (1, 2), dtype=dtype, device=where),
    "empty_permuted": lambda dtype, where: torch.empty_permuted((2, 3), (1, 0), dtype=dtype, device=where),
    "empty_like": lambda dtype, where: torch.empty_like(torch.zeros(2, 3, dtype=dtype, device=where).t()),
    "new_empty": lambda dtype, where: torch.zeros(1, device=where).new_empty((2, 2), dtype=dtype),
    "new_empty_strided": lambda dtype, where: torch.zeros(1, device=where).new_empty_strided((2,), (1,), dtype=dtype),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", NEW.values(), ids=NEW)
def test_new_memory_is_filled(device, deterministic, make, dtype):
    assert_same_bytes(make(dtype, device), make(dtype, "cpu"))


GROWN = {
    "more": lambda x: x.resize_(4, 4),
    "as another": lambda x: x.resize_as_(torch.empty(3, 5, device=x.device)),
    "not at all": lambda x: x.resize_(2, 2),
    "back": lambda x: x.resize_(1).resize_(4, 3),
    "twice": lambda x: x.resize_(13).resize_(17),
    "a transposed one": lambda x: x.t().resize_(5, 3),
    "a view": lambda x: x[1:].resize_(6, 3),
    "within the storage": lambda x: x[:1].resize_(2, 3),
    "channels_last": lambda x: x.resize_(2, 3, 2, 2, memory_format=torch.channels_last),
    "from nothing": lambda x: torch.empty(0, dtype=x.dtype, device=x.device).resize_(3),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("resize", GROWN.values(), ids=GROWN)
def test_memory_that_a_tensor_grows_by_is_filled(device, deterministic, resize, dtype):
    x = torch.arange(12).reshape(4, 3).to(dtype)
    assert_same_bytes(resize(x.to(device)), resize(x.clone()))


def test_memory_is_left_alone_where_that_is_asked_for(device, deterministic):
    torch.utils.deterministic.fill_uninitialized_memory = False
    x = torch.full((1000,), 3.0, device=device)
    storage = x.untyped_storage()
    assert torch.equal(x.resize_(10).resize_(1000).cpu(), torch.full((1000,), 3.0))
    assert x.untyped_storage().data_ptr() == storage.data_ptr()


def test_conjugates_of_what_grew(device, deterministic):
    x = torch.tensor([1 + 2j, 3 - 4j])
    y = x.to(device).conj().resize_(4)
    assert y.is_conj()
    assert torch.equal(y[:2].cpu(), x.conj())
    assert bool(y[2:].cpu().isnan().all())


# Tensors with many more elements than memory: views of the first, made on its device.
REPEATED = {
    "one element": (lambda: torch.tensor([2.5]), lambda x: x.expand(1 << 21)),
    "a scalar": (lambda: torch.tensor(2.5), lambda x: x.expand(1 << 21)),
    "a row": (lambda: torch.arange(1024.0), lambda x: x.expand(2048, 1024)),
    "a column": (lambda: torch.arange(1024.0)[:, None], lambda x: x.expand(1024, 2048)),
    "between": (lambda: torch.arange(64.0).reshape(8, 1, 8), lambda x: x.expand(8, 1 << 15, 8)),
    "with gaps": (lambda: torch.arange(64.0).reshape(8, 8)[:, ::3], lambda x: x[None].expand(1 << 16, 8, 3)),
    "windows": (lambda: torch.arange(3072.0), lambda x: x.unfold(0, 1024, 1)),
    "conjugate": (lambda: torch.tensor([1 + 2j]), lambda x: x.conj().expand(1 << 20)),
    "negative": (lambda: torch.tensor([1 + 2j]), lambda x: x.conj().imag.expand(1 << 21)),
}
repeated = pytest.mark.parametrize(("make", "repeat"), REPEATED.values(), ids=REPEATED)
MIB = 1 << 20


def taken_by(run, device):
    """The most memory of the device that was in use during run(), beyond what was before."""
    api.reset_peak_memory_stats(device)
    before = api.memory_allocated(device)
    result = run()
    return result, api.max_memory_allocated(device) - before


@repeated
def test_elements_that_repeat_go_to_the_host_once(device, make, repeat):
    x = make()
    y = repeat(x.to(device))
    found, most = taken_by(y.cpu, device)
    assert most < MIB or y.is_conj() or y.is_neg()  # which PyTorch resolves before it asks for the copy
    assert torch.equal(found, repeat(x).resolve_conj().resolve_neg())
    found = torch.empty(y.shape, dtype=torch.complex128)
    _, most = taken_by(lambda: found.copy_(y), device)
    assert most < MIB
    assert torch.equal(found, repeat(x).to(torch.complex128))


@repeated
def test_elements_that_repeat_come_from_the_host_once(device, make, repeat):
    x = repeat(make())
    y = torch.empty(x.shape, dtype=x.dtype, device=device)
    _, most = taken_by(lambda: y.copy_(x), device)
    assert most < MIB
    assert torch.equal(y.cpu(), x.resolve_conj().resolve_neg())
    wide = torch.zeros(*x.shape, 2, dtype=torch.complex128, device=device)
    _, most = taken_by(lambda: wide[..., 1].copy_(x), device)
    assert most < MIB
    assert torch.equal(wide.cpu()[..., 1], x.to(torch.complex128))
    assert not wide.cpu()[..., 0].any()


@repeated
def test_elements_that_repeat_go_to_another_device_once(device, other, make, repeat):
    x = make()
    y = repeat(x.to(device))
    z = torch.empty(y.shape, dtype=y.dtype, device=other)
    _, most = taken_by(lambda: taken_by(lambda: z.copy_(y), other), device)
    assert most < MIB
    _, most = taken_by(lambda: z.copy_(y), other)
    assert most < MIB
    assert torch.equal(z.cpu(), repeat(x).resolve_conj().resolve_neg())
