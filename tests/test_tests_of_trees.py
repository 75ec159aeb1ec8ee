"""The tests that trees get: what they may ask of a device."""

import re
from pathlib import Path

TEMPLATES = Path(__file__).parents[1] / "templates"
ASKED = re.compile(r'(?:match=|^[A-Z]+ = )f?r?"([^"]+)"', re.MULTILINE)


def test_they_ask_for_codes_and_not_for_the_simulators_sentences():
    """A driver has its own sentences: patterns are those that the backend itself writes, or names of codes."""
    said = re.findall(r'"([^"]*)"', (TEMPLATES / "third_party/src/error_names.cpp.j2").read_text())
    ours = "".join(path.read_text() for path in TEMPLATES.glob("csrc/**/*.j2"))
    asked = {
        (path.name, part)
        for path in (TEMPLATES / "tests").glob("*.py.j2")
        for pattern in ASKED.findall(path.read_text())
        for part in pattern.split("|")
    }
    assert len(asked) > 80
    assert [
        (name, part) for name, part in sorted(asked) if any(part in text for text in said) and part not in ours
    ] == []
