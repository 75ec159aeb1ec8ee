// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.

// Note [The stub]
// `import torch_openreg._C` loads this file and calls PyInit__C. All it does is to pull in libopenreg_bindings.so and, with
// it, libtorch_openreg.so, whose static registrations make the device known to PyTorch. It is C and a few hundred bytes, so it
// is the only file that depends on the Python version by its name.

#include <Python.h>

PyObject* openreg_init_module(void);

PyMODINIT_FUNC PyInit__C(void);

PyMODINIT_FUNC PyInit__C(void) { return openreg_init_module(); }
