"""Run one operator on a device, with many arguments, and say whether this backend's own kernel computed it, right, and how fast."""

from .. import python_kernels

python_kernels.watch()  # before a backend is imported
