"""A trace as one HTML page that works offline: timeline, tree, and the source beside it."""

import json
from importlib import resources
from typing import Any


def render(trace: dict[str, Any]) -> str:
    """The page of a trace in its JSON form. It fetches nothing; the JSON is in it."""
    template = (resources.files(__package__) / "page.html").read_text()
    data = json.dumps(trace).replace("<", "\\u003c")  # so that no text of the code can end the script
    return template.replace("/*DATA*/null", data, 1)
