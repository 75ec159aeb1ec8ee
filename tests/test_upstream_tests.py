"""scripts/upstream_tests.py: the tests of a tree that are nearest to those of another suite."""

import subprocess
import sys

from trees import ROOT

SCRIPT = ROOT / "scripts/upstream_tests.py"


def test_the_nearest_tests_are_named(tmp_path):
    suite, ours = tmp_path / "suite", tmp_path / "tree/tests/cpp"
    suite.mkdir()
    ours.mkdir(parents=True)
    (suite / "test_streams.py").write_text(
        "class T:\n    def test_wait_event(self):\n        pass\ndef helper(): pass\n"
    )
    (suite / "guard_test.cpp").write_text("TEST(Guard, Nested) {}\n// TEST\n")
    (ours / "event_test.cpp").write_text("TEST_F(EventTest, AnotherStreamWaitsForTheEvent) {}\n")
    (ours.parent / "test_streams.py").write_text("def test_equality():\n    pass\n")
    answer = subprocess.run(
        [sys.executable, SCRIPT, suite, tmp_path / "tree"], check=True, text=True, capture_output=True, timeout=60
    ).stdout
    assert "| wait_event | `cpp/event_test.cpp::AnotherStreamWaitsForTheEvent`" in answer
    assert "| Nested | none |" in answer and "helper" not in answer
    assert answer.count("\n## ") + answer.startswith("## ") == 2


def test_what_is_missing_is_said():
    outcome = subprocess.run([sys.executable, SCRIPT], check=False, text=True, capture_output=True, timeout=60)
    assert outcome.returncode == 1 and "upstream_tests.py" in outcome.stderr
