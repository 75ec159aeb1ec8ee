# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""What the workbench takes from this backend as torch.openreg._workbench: `openreg-gen sweep --device openreg` and its like.

`openreg_gen.protocol` says what each member means. Nothing else imports this module.
"""

from .backend.fallback import _fallbacks as fallbacks, reset_fallback_report as reset_fallbacks  # noqa: F401
from .known import DIFFERENCES as known, MOST as most  # noqa: F401
from .testing.spec import EXCLUDED as excluded, OPERATORS as operators  # noqa: F401

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
