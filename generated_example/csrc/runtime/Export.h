// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Note [What libtorch_openreg.so exports]
// The library is built with hidden visibility: only what carries this macro can be linked against, by the Python
// bindings and by the C++ tests. Kernels and registrations reach PyTorch through the dispatcher, so they stay
// hidden and can't clash with another library in the process.
#define OPENREG_RUNTIME_API __attribute__((visibility("default")))
