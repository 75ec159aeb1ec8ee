// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Kernels that were written when host code had its headers here find them: see csrc/host.
#include "host/Kernel.h"
