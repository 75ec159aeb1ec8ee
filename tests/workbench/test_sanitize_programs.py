"""openreg-gen sanitize on whole programs: each planted race is found, and no program without one is accused."""

import more_races
import pytest
import race_free
import torch
from openreg_gen.sanitize import Sanitizer
from openreg_gen.sanitize.findings import Kind

KINDS = {Kind.HOST: more_races.HOSTS, Kind.ORDER: more_races.ORDERS, Kind.REUSE: more_races.REUSES}
PLANTED = [pytest.param(kind, each, id=each.__name__) for kind, programs in KINDS.items() for each in programs]


@pytest.fixture
def hooked(device):
    if not hasattr(getattr(torch, device), "_gpu_trace"):
        pytest.skip("the backend calls no trace hooks")
    torch.accelerator.synchronize()
    yield device
    torch.accelerator.synchronize()


@pytest.mark.parametrize(("kind", "program"), PLANTED)
def test_a_planted_race_is_found(hooked, kind, program):
    with Sanitizer(hooked) as races:
        program(hooked, fixed=False)
    assert kind in {race.kind for race in races.races}, str(races)


@pytest.mark.parametrize(("kind", "program"), PLANTED)
def test_the_program_without_its_race(hooked, kind, program):
    with Sanitizer(hooked) as races:
        program(hooked, fixed=True)
    assert not races.found, str(races)


@pytest.mark.parametrize("program", race_free.PROGRAMS, ids=lambda each: each.__name__)
def test_a_program_without_a_race(hooked, program):
    with Sanitizer(hooked) as races:
        program(hooked)
    assert not races.found, str(races)
