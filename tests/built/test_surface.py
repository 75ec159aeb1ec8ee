"""Every call of torch.accelerator and of torch.NAME answers, or raises an error that says what is missing; none crashes."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from built import NAME, PACKAGE

CALLS = Path(__file__).with_name("surface_calls.py")
WORKBENCH = Path(__file__).parents[2] / "generator/workbench"
COMPONENT = re.compile(r"needs? the component (\w+): `openreg-gen add component \1`")
# Errors of calls that come too early or too late, or name no file: those of PyTorch, and of this package, which begin with the device's name.
IN_WORDS = re.compile(
    rf"^{NAME}: |^torch.Event ipc is not supported yet|^Both events must be|No inf checks were recorded|_scale is None"
    "|/nowhere|^Can't swap an already initialized allocator"
)


def surface() -> list[list[str]]:
    """How each call ended: `answered`, `raised` with the error's class and text, `crashed` or `hangs`."""
    out: list[list[str]] = []
    first, ended = 0, False
    while not ended:
        child = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(CALLS), PACKAGE, NAME, str(first)], stdout=subprocess.PIPE, text=True
        )
        try:
            text, _ = child.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            child.kill()
            text, _ = child.communicate()
        lines = [json.loads(line) for line in text.splitlines()]
        assert lines, f"surface_calls.py ended with {child.returncode} before its first call"
        out += [[line[0], *line[2:]] for line in lines if line[0] in ("answered", "raised")]
        ended = lines[-1] == ["done"]
        if not ended:
            how = "hangs" if child.returncode == -9 else f"crashed ({child.returncode})"
            out.append([how, lines[-1][2]])
            first = lines[-1][1] + 1
    return out


@pytest.fixture(scope="module")
def ends() -> list[list[str]]:
    return surface()


def test_every_call_answers_or_says_what_is_missing(ends):
    faults = [
        end
        for end in ends
        if end[0] != "answered" and not (end[0] == "raised" and (COMPONENT.search(end[3]) or IN_WORDS.search(end[3])))
    ]
    assert faults == []


def test_autocast_without_rules_names_what_adds_them():
    """PyTorch warns and computes on; its warning lists the dtypes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autocast(NAME, dtype=torch.bfloat16):
            x = torch.ones(2, 2, device=NAME)
            assert (x + x).dtype == torch.float32
    said = "".join(str(each.message) for each in caught)
    if getattr(torch, NAME).get_amp_supported_dtype():
        assert not said
    else:
        assert "openreg-gen add component amp`" in said, said


def test_they_are_all_there(ends):
    labels = {end[1] for end in ends}
    assert {
        "torch.accelerator.empty_host_cache()",
        "torch.accelerator.Graph()",
        f"torch.{NAME}.manual_seed()",
    } <= labels
    for name in torch.accelerator.__all__:
        assert any(label.startswith(f"torch.accelerator.{name}") for label in labels), name


def test_pinned_memory_is_there_or_names_its_component():
    try:
        assert torch.ones(2).pin_memory().is_pinned()
    except NotImplementedError as error:
        assert COMPONENT.search(str(error))[1] == "memory"
        with pytest.raises(NotImplementedError, match="component memory"):
            torch.empty(2, pin_memory=True)


def test_the_audit_finds_no_crash():
    paths = [str(WORKBENCH), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "openreg_gen.audit", "--device", NAME, "--import", PACKAGE, "--no-samples", "--quiet"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row for row in found["interfaces"] if row["verdict"] in ("crashes", "hangs")] == []


def test_pinned_memory_works_or_names_its_component():
    try:
        assert torch.ones(3).pin_memory().is_pinned()
    except NotImplementedError as error:
        assert COMPONENT.search(str(error)).group(1) == "memory"


@pytest.mark.parametrize("backend", [None, f"{NAME}ccl"])
def test_a_process_group_works_or_names_its_component(backend):
    import torch.distributed as dist

    try:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    except NotImplementedError as error:
        assert COMPONENT.search(str(error)).group(1) == "distributed"
        # Groups that have nothing to do with the device aren't asked.
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        x = torch.ones(2, device="cpu" if dist.get_backend() == "gloo" else NAME)
        dist.all_reduce(x)
        assert x.tolist() == [1, 1]
    finally:
        dist.destroy_process_group()
