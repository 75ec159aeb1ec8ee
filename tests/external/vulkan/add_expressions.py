"""add_expressions.py SPEC TREE_SPEC: adds the expressions of SPEC, such as specs/opencl.yaml, to a tree's spec.

They become kernels in the language of the tree's device."""

import pathlib
import sys

import yaml


def main(source: pathlib.Path, target: pathlib.Path) -> None:
    text = target.read_text(encoding="utf-8")
    known = yaml.safe_load(text)["ops"]
    ops = yaml.safe_load(source.read_text(encoding="utf-8"))["ops"]
    lines = [
        f"  {op}: {yaml.safe_dump(entry, default_flow_style=True, width=1_000_000).strip()}\n"
        for op, entry in ops.items()
        if isinstance(entry, dict) and entry.get("strategy") in ("pointwise", "reduction") and op not in known
    ]
    target.write_text(text.replace("\nops:\n", "\nops:\n" + "".join(lines), 1), encoding="utf-8")


main(*map(pathlib.Path, sys.argv[1:]))
