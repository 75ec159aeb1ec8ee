# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Under which settings the workers run."""

from . import PREFIX

# What the environment's variable calls each kind of fallback.
FALLBACK = {"copy": "copy", "alias": "alias"}

MODES: dict[str, dict[str, str]] = {
    "default": {},
    "copy": {f"{PREFIX}_FALLBACK": FALLBACK["copy"]},
    "alias": {f"{PREFIX}_FALLBACK": FALLBACK["alias"]},
    "jitter": {f"{PREFIX}_STREAM_JITTER": "300"},
    "memory_debug": {f"{PREFIX}_MEMORY_DEBUG": "1"},
    "mprotect": {f"{PREFIX}_ISOLATION": "mprotect"},
    "deterministic": {f"{PREFIX}_SWEEP_DETERMINISTIC": "1"},
    "expandable": {"PYTORCH_ALLOC_CONF": "expandable_segments:True"},
}
