"""The driver of orders by seed (tests/schedule/seeds.py), on programs of a few lines. At night: races and a deadlock, planted in the device."""

import importlib
import os
import shutil
import subprocess
import sys

import pytest
from trees import ROOT

sys.path.insert(0, str(ROOT / "tests/schedule"))
programs, races, seeds = (importlib.import_module(name) for name in ("programs", "races", "seeds"))


def shell(text):
    return ["sh", "-c", text]


def test_seeds_that_fail_are_found():
    command = shell('[ "$OPENREG_SCHEDULE" -lt 3 ] || { echo "[  FAILED  ] A.B (3 ms)"; exit 1; }')
    failures = seeds.run_seeds(command, range(5))
    assert [(failure.seed, failure.how, failure.tests()) for failure in failures] == [
        (3, "it ended with 1", ["A.B"]),
        (4, "it ended with 1", ["A.B"]),
    ]


def test_runs_without_seeds(monkeypatch):
    monkeypatch.setenv("OPENREG_SCHEDULE", "7")
    assert not seeds.run_seeds(shell('[ -z "$OPENREG_SCHEDULE" ]'), range(2), plain=True)


def test_crashes_and_hangs_are_failures():
    (crash,) = seeds.run_seeds(shell("kill -SEGV $$"), range(1))
    assert crash.how == "signal 11"
    (hang,) = seeds.run_seeds(shell("sleep 60 & echo begun; wait"), range(1), limit=5)
    assert (hang.how, hang.said) == ("it took more than 5 s", "begun\n")


def test_races_can_be_planted(tmp_path):
    """Their texts are in the tree, once each."""
    for race in races.RACES.values():
        for file in (race.file, *race.more):
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "generated_example" / file, path)
        before = races.plant(tmp_path, race)
        assert all(path.read_text() != text for path, text in before.items()) and len(before) == 1 + len(race.more)


@pytest.mark.nightly
def test_a_deadlock_names_who_waits(tmp_path):
    """An event that never happens."""
    changes = {"    target->submit(Stream::Touches::kNothing, [mark] { mark->happen(); });\n": ""}
    tree = races.copy_of(ROOT / "generated_example", tmp_path)
    races.plant(tree, races.Race(races.DEVICE + "event_api.cpp", changes))
    command = [programs.build("device", tree, tmp_path)[0], "--gtest_filter=*AChainOfStreamsKeepsItsOrder"]
    environment = {**os.environ, **programs.SETTINGS, "OPENREG_SCHEDULE": "5"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode < 0
    assert "turns of OPENREG_SCHEDULE=5: no thread can go on" in done.stderr
    assert "host thread 0 (orEventSynchronize) waits for an event" in done.stderr
    assert "waits for a task" in done.stderr or "waits for an event" in done.stderr
