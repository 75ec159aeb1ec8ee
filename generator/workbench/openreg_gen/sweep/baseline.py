"""An earlier sweep's results, `--baseline`: what is new since then, what is fixed, and what is the same."""

import json
import pathlib
from typing import NamedTuple

from .results import SCHEMA, Finding, Results

Key = tuple[str, str]  # mode, case


class BaselineError(ValueError):
    """A file that isn't the results of a sweep of this device."""


class Baseline(NamedTuple):
    path: pathlib.Path
    found: dict[Key, str]  # each case that differed, with its category

    def marked(self, findings: list[Finding]) -> list[Finding]:
        """The findings, with those marked that differed then in the same way."""
        return [f._replace(old=self.found.get((f.mode, f.case)) == f.category) for f in findings]

    def fixed(self, findings: list[Finding], results: Results, modes: list[str]) -> list[Key]:
        """Cases that differed then, and were run again: they no longer differ."""
        differ = {(f.mode, f.case) for f in findings}
        ran = {(mode, task.subject, variant) for (mode, task), row in results.rows.items() for variant in row["counts"]}
        dtypes = {(mode, task.subject, task.dtype) for mode, task in results.rows}

        def again(key: Key) -> bool:
            mode, (subject, variant, dtype, _) = key[0], key[1].rsplit("/", 3)
            if subject != "once" and (mode, subject, dtype) not in dtypes:
                return False
            return mode in modes and (variant == "samples" or (mode, subject, variant) in ran)

        return sorted(key for key in self.found if key not in differ and again(key))


def load(path: pathlib.Path, device: str) -> Baseline:
    """Raises BaselineError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise BaselineError(f"--baseline {path}: {error}") from error
    tasks: dict[tuple[str, ...], dict[Key, str]] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            schema, of = row["schema"], row["device"]
            key = (row["selection"], row["mode"], row["subject"], row["dtype"])
            found = {(row["mode"], str(case)): str(category) for case, category, _ in row["found"]}
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) > 1 and isinstance(error, json.JSONDecodeError):
                break  # the run was killed while it wrote this line
            raise BaselineError(f"--baseline {path}: line {number} is not the result of a task of a sweep") from error
        if schema != SCHEMA:
            raise BaselineError(f"--baseline {path}: has format {schema}; this version reads format {SCHEMA}")
        if of != device:
            raise BaselineError(f"--baseline {path}: is of the device {of!r}, not {device!r}")
        tasks[key] = found  # a task that was run again counts as it was last
    if not tasks:
        raise BaselineError(f"--baseline {path}: has no results")
    return Baseline(path, {key: category for found in tasks.values() for key, category in found.items()})
