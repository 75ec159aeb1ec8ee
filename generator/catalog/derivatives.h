// How PyTorch's autograd handles an operator, from torchgen/packaged/autograd/derivatives.yaml of the installed
// PyTorch.
#pragma once

#include "catalog/catalog.h"
#include "system/files.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace openreg_gen {

struct Derivative {
  std::string op;                                             // whose entry it is: "relu" for "relu_"
  std::vector<std::pair<std::string, std::string>> formulas;  // "self" -> "grad * ...", as in the file
};

/// derivatives.yaml of a PyTorch as find_torch gives it; empty if it has none.
fs::path find_derivatives(const fs::path& torch);
/// The entry of `op`, or of the functional form that an in-place form shares it with. None if there is none. The text
/// is searched, not parsed as a whole: some 0.1 ms.
std::optional<Derivative> find_derivative(const std::string& yaml, const Op& op, const Catalog& catalog);

/// For users: where the gradient comes from, in a sentence. `derivative`: from find_derivative.
std::string about_autograd(const Op& op, const std::optional<Derivative>& derivative);

}  // namespace openreg_gen
