"""`openreg-gen trace`: how each call of an expression or a script reaches a backend's kernels.

Three sources are combined by nesting: a function mode sees the Python functions that the code calls, a dispatch mode the
operators below autograd with their tensors, and the profiler everything that goes through the dispatcher (also where a
dispatch mode can't look: the out= form behind a structured operator), allocations, and what a device ran.
"""

from .. import python_kernels

python_kernels.watch()  # before a backend is imported
