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

# A node has three lines: "inputs" with the values of the arguments, "outputs", and "attrs" with the schema.
_VALUES = re.compile(r'^\s*"inputs": (\{"values": (.*?), "shapes": .*\})')
_DEVICE = re.compile(r'"([a-z_][a-z0-9_]*)(?::\d+)?"')
_SCHEMA = re.compile(r'"name": "op_schema", "type": "string", "value": "([\w:.]+)\(')
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
    devices: tuple[str, ...] = ()
    inputs = ""
    for line in lines:
        if values := _VALUES.match(line):
            devices = tuple(sorted({*_DEVICE.findall(values[2]), *([""] if _NOWHERE.search(values[2]) else [])}))
            inputs = values[1]
        elif schema := _SCHEMA.search(line):
            counts[schema[1], devices, arguments(inputs) if shapes else ""] += 1
        elif '"finish_ts"' in line:
            break  # and no later: a forked child may hold the other end for longer
    return counts


if __name__ == "__main__":
    json.dump([[*row, calls] for row, calls in count(sys.stdin, "--shapes" in sys.argv).items()], sys.stdout)
