// Checks whether an owner's kernel still has the signature that the registration uses.
#pragma once

#include <string_view>

namespace openreg_gen {

struct KernelPlace {
  int line = 0;       // of the definition, from 1; 0 if the text has no function of that name
  bool fits = false;  // parameter and return types are those of the signature
};

/// Looks for the function of `signature` ("at::Tensor relu(const at::Tensor& self)") in C++ text. Names of parameters,
/// defaults, comments and namespaces don't matter, nor whether a SymInt is taken as int64_t: PyTorch takes both.
KernelPlace find_kernel(std::string_view text, std::string_view signature);

}  // namespace openreg_gen
