"""Finds streams that use the same memory without order, and memory that is reused while a stream still works with it.

    openreg-gen sanitize [--device NAME] script.py [-- arguments]

    from openreg_gen.sanitize import Sanitizer
    with Sanitizer("mybackend") as races: ...

The backend has to call PyTorch's trace hooks (c10::impl::GPUTrace) and provide their callbacks as torch.NAME._gpu_trace; see
`hooks`. Trees of openreg-gen do so with component `sanitizer`.

Note [Clocks]
Each stream counts the operators that were queued on it, and remembers how far it has waited for each other stream. Recording an
event keeps what the stream knows; waiting for the event adds that to what the waiting stream knows. The host has such a
clock, too: it learns by synchronizing, and whatever is queued later knows what the host knew. Two operators are in order if
the stream of the second has waited for the first. Otherwise they may overlap, even if they didn't in this run.
"""

from .findings import Race, RaceError, Races
from .hooks import HooksError
from .mode import Sanitizer

__all__ = ["HooksError", "Race", "RaceError", "Races", "Sanitizer"]
