"""Attributes of modules and classes that are replaced for a while."""

from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    def __init__(self) -> None:
        self._originals: list[tuple[Any, str, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace an attribute by what `make` makes of it."""
        self._originals.append((owner, name, vars(owner).get(name, _MISSING)))  # inherited ones are not the owner's
        setattr(owner, name, make(getattr(owner, name)))

    def undo(self) -> None:
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
