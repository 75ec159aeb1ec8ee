"""Finds code that works on CUDA only, and says how to write it for each backend.

    openreg-gen lint-cuda [--fix] PATH...

Nothing here imports torch: a program need not run to be read.
"""

from .find import Finding, find

__all__ = ["Finding", "find"]
