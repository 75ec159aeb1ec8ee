// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include "openreg.h"

// Note [Products of matrices]
// Where the process has a BLAS, as one with PyTorch does, its functions compute on the stream's thread. What it has no
// function for (16 bits, sizes beyond an int), and processes without one, are served by a blocked loop.
namespace openreg::driver {

// Whether the sizes and distances make sense; pointers are not looked at.
bool valid(const orGemmProblem& problem) noexcept;

// Computes it. Throws std::bad_alloc. To be called where device memory can be touched.
void run_gemm(const orGemmProblem& problem);

}  // namespace openreg::driver
