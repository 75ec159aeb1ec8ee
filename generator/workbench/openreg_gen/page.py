"""A page of results as one HTML file that fetches nothing: the data is in it, and the style."""

import html
import json
import pathlib
from typing import Any

_STYLE = pathlib.Path(__file__).with_name("page.css")


def render(template: pathlib.Path, title: str, data: dict[str, Any]) -> str:
    """`template` with @TITLE@, @STYLE@ and @DATA@ filled in."""
    # Within <script>, only "<" could end it.
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = template.read_text(encoding="utf-8").replace("@STYLE@", _STYLE.read_text(encoding="utf-8"))
    return page.replace("@TITLE@", html.escape(title)).replace("@DATA@", packed)
