# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Random numbers: the default generator of each device. torch.manual_seed and torch.random.fork_rng call these."""

from collections.abc import Iterable

import torch

from .. import _C
from ._utils import Device, _get_device_index
from .device import current_device, device_count


def _get_generator(device: Device) -> torch.Generator:
    """The default generator of `device`."""
    return _C._default_generator(_get_device_index(device, optional=True))


def manual_seed(seed: int) -> None:
    """Seed the current device's generator. A negative seed is taken modulo 2**64. Does nothing without a device."""
    if device_count() > 0:
        _get_generator(current_device()).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """manual_seed() on all devices. torch.manual_seed calls it, so it must work without a device too."""
    for index in range(device_count()):
        _get_generator(index).manual_seed(int(seed))


def seed() -> int:
    """Seed the current device's generator with a number that nobody can foresee, and return that."""
    return _get_generator(current_device()).seed()


def seed_all() -> None:
    """seed(), with the same number on all devices."""
    if device_count() > 0:
        manual_seed_all(seed())


def initial_seed() -> int:
    """The seed of the current device's generator."""
    return _get_generator(current_device()).initial_seed()


def get_rng_state(device: Device = "openreg") -> torch.Tensor:
    """The state of `device`'s generator, a ByteTensor on the CPU; give it to set_rng_state() to draw again."""
    return _get_generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device: Device = "openreg") -> None:
    """Set the state of `device`'s generator.

    Raises:
        RuntimeError: get_rng_state() can't have made `new_state`.
    """
    _get_generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """get_rng_state() of each device."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """set_rng_state() of each device, in order."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
