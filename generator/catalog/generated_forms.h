// The out and functional forms that PyTorch's codegen adds to native_functions.yaml ("autogen", tag "generated").
#pragma once

#include "catalog/declarations.h"

#include <vector>

namespace openreg_gen {

/// Appends the forms that the entries' `autogen` lines announce: schema, kernel name and tags as PyTorch derives them.
/// Throws Failure(Environment, "E0402") where an entry announces a form that cannot be derived from its group.
void add_generated_forms(std::vector<NativeFunction>& functions);

}  // namespace openreg_gen
