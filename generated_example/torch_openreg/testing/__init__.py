# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Tests that follow from the spec: each operator against the CPU.

    python -m torch_openreg.testing.support             a table: operator x dtype x check, as JSON and Markdown

`ops.*.tests` and `tests` of the spec say what is tested, how exactly, and what is left out: see `openreg-gen explain tests`.
Samples come from torch.testing._internal, which PyTorch ships without promising that it stays as it is: nothing else
of this package imports it.
"""
