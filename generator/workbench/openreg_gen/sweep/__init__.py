"""All that PyTorch has samples of, on a device and on the CPU: values, dtypes, devices, shapes, strides, aliasing, errors.

A subject is an OpInfo (`add`), a module (`nn.Linear`), an optimizer (`optim.SGD`) or `once`: calls that were once wrong.
A task is a subject with a dtype; a case is one call: subject/variant/dtype/index. docs/reference/sweep.md is the guide.
"""
