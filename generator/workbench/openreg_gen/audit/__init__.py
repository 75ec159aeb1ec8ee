"""Audit: what an installed backend registers, what serves every operator, and which of PyTorch's interfaces answer.

`python -m openreg_gen.audit --device NAME --json FILE` reads the dispatcher and calls the interfaces, each call in a child
process, since foreign code may crash or hang. It writes facts only. Which operators are missing, which are not meant for
a backend, and what the next release changes is found by the command `openreg-gen audit`, which reads this JSON.

    dispatcher   registrations and dispatch tables
    probe        one call of an interface, and its verdict
    probes       the calls, by subject
    dtypes       PyTorch's samples, for the dtypes that each kernel takes
    children     runs probes and samples in child processes
    document     the JSON document
"""

from .. import python_kernels

python_kernels.watch()  # before a backend is imported
