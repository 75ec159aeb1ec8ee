# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `amp` in the spec changes it, then `openreg-gen generate`.
"""Automatic mixed precision: `with torch.autocast("openreg"):` picks each operator's dtype by csrc/amp's rules."""

from typing import Any

import torch


class autocast(torch.amp.autocast):
    """torch.autocast("openreg", ...)."""

    def __init__(
        self,
        dtype: torch.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        super().__init__(
            "openreg",
            dtype=dtype,
            enabled=enabled,
            cache_enabled=cache_enabled,
        )


class GradScaler(torch.amp.GradScaler):
    """torch.amp.GradScaler("openreg", ...): keeps float16 gradients from becoming 0."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("openreg", **kwargs)
