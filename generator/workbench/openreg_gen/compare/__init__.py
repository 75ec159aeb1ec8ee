"""Checks each operator's result on a device against the CPU's, and reports what differs by the module that called it.

    openreg-gen compare [--device NAME] script.py [-- arguments]

    from openreg_gen.compare import compare
    with compare("mybackend") as comparison: ...

Each operator that has a tensor of the device runs a second time, on the CPU, on copies of the arguments as they were
before; results and arguments that it writes are compared. Backward is checked too: its threads run with the modes of the
thread that called it. Other threads are not; open a comparison there as well.

Operators are seen below autograd: `x @ w + b` is `mm` and `add`. Operators are not compared if their arguments don't
decide their values: random ones, `empty`, those whose result has several right answers, and those that the CPU doesn't
have.

Note [The run goes on with the device's values]
After a difference the script goes on with the device's result. So it computes what it computes without the comparison, and
each call is judged alone: the CPU gets the same inputs, right or wrong.
"""

from .findings import CompareError, Comparison, Difference, NonFinite
from .mode import compare

__all__ = ["CompareError", "Comparison", "Difference", "NonFinite", "compare"]
