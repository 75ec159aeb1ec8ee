"""Counts the calls in an execution trace of PyTorch's that comes on stdin, and prints the counts as JSON.

`openreg_gen.calls` starts this file as a process of its own, so that the trace of a long run, gigabytes, is read while it
is written and kept nowhere. It imports neither torch nor this package. Printed are rows of an operator
("aten::add.out"), the device types among its arguments, and the number of such calls.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable

# A node has three lines: "inputs" with the values of the arguments, "outputs", and "attrs" with the schema.
_VALUES = re.compile(r'^\s*"inputs": \{"values": (.*?), "shapes": ')
_DEVICE = re.compile(r'"([a-z_][a-z0-9_]*)(?::\d+)?"')
_SCHEMA = re.compile(r'"name": "op_schema", "type": "string", "value": "([\w:.]+)\(')


def count(lines: Iterable[str]) -> Counter[tuple[str, tuple[str, ...]]]:
    """Calls by operator and device types; strings among the arguments that look like devices are listed with them."""
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    devices: tuple[str, ...] = ()
    for line in lines:
        if values := _VALUES.match(line):
            devices = tuple(sorted(set(_DEVICE.findall(values[1]))))
        elif schema := _SCHEMA.search(line):
            counts[schema[1], devices] += 1
        elif '"finish_ts"' in line:
            break  # and no later: a forked child may hold the other end for longer
    return counts


if __name__ == "__main__":
    json.dump([[op, devices, calls] for (op, devices), calls in count(sys.stdin).items()], sys.stdout)
