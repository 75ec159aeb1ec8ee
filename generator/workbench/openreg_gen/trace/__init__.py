"""`openreg-gen trace`: how each call of an expression or a script reaches a backend's kernels.

Three sources are combined by nesting: a function mode sees the Python functions that the code calls, a dispatch mode the
operators below autograd with their tensors, and the profiler everything that goes through the dispatcher (also where a
dispatch mode can't look: the out= form behind a structured operator), allocations, and what a device ran.
"""

import os

# Kineto and the allocator read these when torch is loaded, so they are set before any module here imports it.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else it prints "USDT:" lines on standard error
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # else it warns about memory that was allocated before the trace
