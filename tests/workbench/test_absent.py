"""Facts that a backend doesn't report: one line, which has the command that adds them to a tree of openreg-gen."""

import json
import sys
import types

import pytest
import torch
from openreg_gen import absent, protocol

FACTS = {"fallbacks": "why operators fall back", "profiler": "kernels", "modes": "modes of its own"}


@pytest.fixture
def rendered(tmp_path, monkeypatch):
    """A device whose package is a tree that lacks components, and no backend."""
    package = tmp_path / "torch_thing"
    package.mkdir()
    for name in ("__init__", "_absent"):
        (package / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    module = types.ModuleType("torch_thing.backend")
    monkeypatch.setattr(torch, "thing", module, raising=False)
    yield "thing"
    for name in [name for name in sys.modules if name.startswith("torch_thing")]:
        del sys.modules[name]


def test_a_tree_is_told_the_components(rendered):
    found = absent.absent(rendered, protocol.Workbench(), FACTS, profiled=False)
    assert [each.component for each in found] == ["fallback_report", "profiler", "loops"]
    said = absent.line(found)
    assert "why operators fall back, kernels and modes of its own" in said
    assert said.endswith("`openreg-gen add component fallback_report profiler loops`")
    assert found[0].json() == {
        "shows": "why operators fall back",
        "component": "fallback_report",
        "provide": "torch.thing._workbench.fallbacks",
        "command": "openreg-gen add component fallback_report",
    }


def test_a_backend_by_hand_is_told_what_to_provide(monkeypatch):
    monkeypatch.setattr(torch, "other", object(), raising=False)
    found = absent.absent("other", protocol.Workbench(provided=frozenset(["modes"])), FACTS)
    said = absent.line(found)
    assert said.endswith(": why operators fall back (torch.other._workbench.fallbacks)") and "add component" not in said
    assert found[0].json()["command"] == ""


def test_nothing_is_absent_of_a_backend_that_reports_all(rendered):
    everything = protocol.Workbench(provided=frozenset(FACTS))
    assert absent.absent(rendered, everything, FACTS) == [] and absent.line([]) == ""
    assert absent.absent("cpu", protocol.Workbench(), FACTS, profiled=False) == []


def test_each_fact_is_a_member_of_the_protocol():
    assert set(absent.COMPONENTS) - {"profiler"} <= set(protocol._MEMBERS)


RUNS = {
    "trace": ("torch.relu(a)", "why operators fall back"),
    "compare": ("script.py", "which calls of composite operators fell back"),
    "record": ("script.py", "which calls fell back"),
    "try": ("relu --quick --variant forward --dtype float32 --jobs 1", "which calls the host computed"),
    "sweep": ("abs --limit 1 --variant forward --dtype float32 --jobs 1", "which differences are intended"),
}
SLOW = [pytest.param(tool, marks=pytest.mark.nightly) for tool in ("record", "try", "sweep")]


@pytest.mark.parametrize("tool", ["trace", "compare", *SLOW])
def test_each_tool_says_it_once(device, run_python, tmp_path, tool):
    (tmp_path / "script.py").write_text(f"import torch\ntorch.relu(torch.ones(2, device={device!r}))\n")
    words, shows = RUNS[tool]
    parts = [words] if tool == "trace" else words.split()
    # As a backend by hand that has no protocol.
    run = f"import runpy, torch; torch.{device}._workbench = None; runpy.run_module('openreg_gen.{tool}', run_name='__main__')"
    done = run_python("-c", run, *parts, "--device", device, "--json=out.json", code=None)
    said = done.stdout + done.stderr
    assert said.count("not shown, since the backend doesn't report it: ") == 1 and shows in said, said
    if tool != "record":  # whose JSON is the recording
        assert shows in json.loads((tmp_path / "out.json").read_text())["absent"][0]["shows"]
