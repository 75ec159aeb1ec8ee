# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Everything PyTorch has samples of, on openreg and on the CPU: values, dtypes, devices, shapes, strides, aliasing, errors.

    python -m torch_openreg.testing.sweep                         all of it, in torch_openreg's own mode
    python -m torch_openreg.testing.sweep 'linalg.*' --mode copy  some subjects, with copying fallback
    python -m torch_openreg.testing.sweep --sample                what CI runs: a few minutes
    python -m torch_openreg.testing.sweep --case add/out/float32/3

A subject is an OpInfo of op_db (`add`), a module (`nn.Linear`), an optimizer (`optim.SGD`) or `once`, calls that were once
wrong. A task is a subject with a dtype, a case is one call: subject/variant/dtype/index.
"""

NAME = "openreg"
PACKAGE = "torch_openreg"
PREFIX = "OPENREG"  # of the environment's variables
