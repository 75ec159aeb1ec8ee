"""Random numbers: seeds, states, generators, fork_rng."""

import pytest
import torch
from built import NAME, ROOT

api = torch.get_device_module(NAME)


def draw(device, generator=None) -> torch.Tensor:
    return torch.empty(1000, device=device).uniform_(generator=generator).cpu()


def test_numbers_are_uniform(device):
    torch.manual_seed(0)
    x = torch.empty(100_000, device=device).uniform_().cpu()
    assert 0 <= x.min() < 0.01
    assert 0.99 < x.max() < 1
    assert x.mean().item() == pytest.approx(0.5, abs=0.01)


def test_manual_seed_of_one_device(device, other):
    torch.manual_seed(1)
    untouched = api.get_rng_state(other)
    api.manual_seed(5)
    assert api.initial_seed() == 5
    assert torch.equal(api.get_rng_state(other), untouched)


def test_manual_seed_all(device, other):
    api.manual_seed_all(7)
    assert [generator.initial_seed() for generator in api.default_generators] == [7, 7]
    assert torch.equal(draw(device), draw(other))


@pytest.mark.parametrize("seed", [-1, 0, 1 << 63, (1 << 64) - 1])
def test_range_of_seeds(seed):
    torch.manual_seed(seed)
    api.manual_seed(seed)
    assert api.initial_seed() == seed % (1 << 64)


def test_fresh_seeds_differ(device):
    first = api.seed()
    assert api.initial_seed() == first
    assert api.seed() != first
    api.seed_all()
    assert len({generator.initial_seed() for generator in api.default_generators}) == 1


def test_state_of_all(device, other):
    states = api.get_rng_state_all()
    assert len(states) == api.device_count()
    first = [draw(device), draw(other)]
    api.set_rng_state_all(states)
    assert all(torch.equal(a, b) for a, b in zip(first, [draw(device), draw(other)], strict=True))


@pytest.mark.parametrize("state", [torch.zeros(3, dtype=torch.uint8), torch.zeros(16)])
def test_state_that_is_none(device, state):
    before = api.get_rng_state(device)
    with pytest.raises((RuntimeError, TypeError)):
        api.set_rng_state(state, device)
    assert torch.equal(api.get_rng_state(device), before)


def test_fork_rng(device):
    torch.manual_seed(3)
    states = api.get_rng_state_all()
    with torch.random.fork_rng(devices=range(api.device_count()), device_type=NAME):
        torch.manual_seed(4)
        inside = draw(device)
    assert all(torch.equal(a, b) for a, b in zip(states, api.get_rng_state_all(), strict=True))
    torch.manual_seed(4)
    assert torch.equal(draw(device), inside)


def test_default_generators(device):
    generators = api.default_generators
    assert len(generators) == api.device_count()
    assert [generator.device for generator in generators] == [
        torch.device(NAME, index) for index in range(api.device_count())
    ]
    assert api.default_generators[0] is generators[0]
    assert api._get_generator(device) is generators[0]


def test_generator_state(device):
    generator = torch.Generator(device=NAME).manual_seed(2)
    draw(device, generator)
    state = generator.get_state()
    copy = generator.clone_state()
    x = draw(device, generator)
    assert torch.equal(draw(device, copy), x)
    generator.set_state(state)
    assert torch.equal(draw(device, generator), x)


def test_generator_offset(device):
    generator = torch.Generator(device=NAME).manual_seed(2)
    assert generator.get_offset() == 0
    x = draw(device, generator)
    offset = generator.get_offset()
    assert offset > 0
    y = draw(device, generator)
    generator.set_offset(offset)
    assert torch.equal(draw(device, generator), y)
    generator.set_offset(0)
    assert torch.equal(draw(device, generator), x)
    with pytest.raises(RuntimeError, match="multiple of"):
        generator.set_offset(offset + 1)


@pytest.mark.skipif(not (ROOT / "csrc/graphs").exists(), reason="the tree has no component graphs, which shares states")
def test_generator_shared_state(device):
    generator = torch.Generator(device=NAME).manual_seed(2)
    twin = torch.Generator(device=NAME)
    twin.graphsafe_set_state(generator.graphsafe_get_state())
    draw(device, generator)
    assert torch.equal(generator.get_state(), twin.get_state())


@pytest.mark.skipif(not hasattr(torch.Generator, "philox_state"), reason="PyTorch has it since 2.14")
def test_philox_state(device):
    """A kernel that somebody else writes draws from the same sequence as the device's own."""
    generator = torch.Generator(device=NAME).manual_seed(-2)
    for increment, offset in ((3, 0), (5, 4), (1, 12)):
        state = generator.philox_state(increment)
        assert [tensor.item() for tensor in state] == [-2, offset, 0]
        assert all(tensor.device.type == "cpu" and tensor.dtype == torch.int64 for tensor in state)


@pytest.mark.skipif(not hasattr(torch.accelerator, "random"), reason="PyTorch has it since 2.14")
def test_accelerators_generator(device):
    api.manual_seed(7)
    assert torch.accelerator.random.initial_seed() == 7
    assert torch.equal(torch.accelerator.random.get_rng_state(), api.get_rng_state())
    assert len(torch.accelerator.random.get_rng_state_all()) == api.device_count()


RANDOM = {
    "rand": lambda where, generator: torch.rand(3, device=where, generator=generator),
    "randint": lambda where, generator: torch.randint(5, (3,), device=where, generator=generator),
    "randperm": lambda where, generator: torch.randperm(3, device=where, generator=generator),
    "normal": lambda where, generator: torch.normal(0.0, 1.0, (3,), device=where, generator=generator),
    "normal_": lambda where, generator: torch.empty(3, device=where).normal_(generator=generator),
    "uniform_": lambda where, generator: torch.empty(3, device=where).uniform_(generator=generator),
    "bernoulli": lambda where, generator: torch.bernoulli(torch.ones(3, device=where), generator=generator),
    "multinomial": lambda where, generator: torch.multinomial(torch.ones(3, device=where), 2, generator=generator),
}


@pytest.mark.parametrize("draws", RANDOM.values(), ids=RANDOM)
def test_generator_of_another_device(device, draws):
    """In PyTorch's words, whichever of the two the tensor is on."""
    with pytest.raises(RuntimeError, match=f"Expected a '{NAME}' device type for generator but found 'cpu'"):
        draws(device, torch.Generator())
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match=f"Expected a 'cpu' device type for generator but found '{NAME}'"):
        draws("cpu", torch.Generator(NAME))
    assert torch.equal(torch.get_rng_state(), state)
