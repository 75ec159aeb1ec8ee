# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""What the workbench takes from this backend as torch.openreg._workbench: `openreg-gen sweep --device openreg` and its like.

`openreg_gen.protocol` says what each member means. Nothing else imports this module.
"""

from . import _C
from .known import DIFFERENCES, MOST
from .testing import spec

modes: dict[str, dict[str, str]] = {
    "copy": {"OPENREG_FALLBACK": "copy"},
    "alias": {"OPENREG_FALLBACK": "alias"},
    "jitter": {"OPENREG_STREAM_JITTER": "300"},
    "memory_debug": {"OPENREG_MEMORY_DEBUG": "1"},
    "mprotect": {"OPENREG_ISOLATION": "mprotect"},
    "expandable": {"PYTORCH_ALLOC_CONF": "expandable_segments:True"},
}
# Counting devices uses none here, so a child may use the device.
start = "fork"
known = DIFFERENCES
most = MOST
excluded = spec.EXCLUDED
operators = spec.OPERATORS


def fallbacks() -> list[tuple[str, int, int, float, str, str]]:
    """Operators that the host computed since the last reset: operator, calls, bytes, seconds, reason, cause."""
    rows = _C._fallback_counts()
    return [(op, calls, up + down, time, why, cause) for op, _, calls, up, down, time, _, why, cause in rows]


def reset_fallbacks() -> None:
    _C._reset_fallback_counts()
