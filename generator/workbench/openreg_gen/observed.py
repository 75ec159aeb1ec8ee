"""Counts the calls in an execution trace of PyTorch's that comes on stdin, and prints the counts as JSON.

`openreg_gen.calls` starts this file as a process of its own, so that the trace of a long run, gigabytes, is read while it
is written and kept nowhere. It imports neither torch nor this package. Printed are rows of an operator
("aten::add.out"), the device types among its arguments, its arguments with `--shapes` (see arguments()), and the number of such
calls.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable

# A node has three lines: "inputs" with the values of the arguments, "outputs", and "attrs" with the schema. Plain searches find them
# faster than regular expressions, and the traced process waits if this one is slow.
_INPUTS = '"inputs": {"values": '
_ATTRS = '"attrs": '
_SCHEMA = '"name": "op_schema", "type": "string", "value": "'
_DEVICE = re.compile(r'"([a-z_][a-z0-9_]*)(?::\d+)?"')
# One whose storage PyTorch can't access has no device there.
_NOWHERE = re.compile(r'\[\d+,\d+,\d+,\d+,\d+,""\]')
# A tensor among the values: its number, its storage's number, offset, elements, bytes of one, device.
_TENSOR = re.compile(r'\[\d+,\d+,(\d+),\d+,\d+,"[^"]*"\]')


def arguments(inputs: str) -> str:
    """A node's inputs without what differs from run to run: of each tensor among the values only its offset is left, as {"offset": 0}."""
    return _TENSOR.sub(r'{"offset": \1}', inputs)


def count(lines: Iterable[str], shapes: bool = False) -> Counter[tuple[str, tuple[str, ...], str]]:
    """Calls by operator, device types, and arguments, which are "" without `shapes`. Strings among the arguments that look
    like devices are listed with them."""
    counts: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    inputs = ""
    for padded in lines:
        line = padded.lstrip()
        if line.startswith(_INPUTS):
            inputs = line
        elif line.startswith(_ATTRS):
            begin = line.find(_SCHEMA) + len(_SCHEMA)
            if op := line[begin : line.index("(", begin)] if line[begin] != '"' else "":
                values = inputs[len(_INPUTS) : inputs.find(', "shapes": ')]
                nowhere = [""] if _NOWHERE.search(values) else []
                devices = tuple(sorted({*_DEVICE.findall(values), *nowhere}))
                counts[op, devices, arguments(inputs[len('"inputs": ') :].rstrip(",\n")) if shapes else ""] += 1
        elif '"finish_ts"' in line:
            break  # and no later: a forked child may hold the other end for longer
    return counts


if __name__ == "__main__":
    json.dump([[*row, calls] for row, calls in count(sys.stdin, "--shapes" in sys.argv).items()], sys.stdout)
