# Written by openreg-gen 0.1.0 from openreg.yaml.
# Shared: rendered, then yours to edit; `tests` in the spec changes what is rendered.
"""Differences from the CPU that are meant, or that can't be mended here. Yours to edit.

An entry says which cases differ (subject/variant/dtype/index, as globs), in what, and why. One whose cases no longer
differ fails the sweep. `crash`, `hang`, `raising`, `device`, `dtype` and `value` need `cites`: PyTorch's own issue, or how
CUDA does the same. MOST is how many cases of a category a whole run may find known; a number that may only fall.
"""

from typing import NamedTuple


class Known(NamedTuple):
    case: str
    category: str
    reason: str
    cites: str = ""
    mode: str = "*"


MOST: dict[str, int] = {}
DIFFERENCES: list[Known] = []
