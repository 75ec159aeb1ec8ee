// From a schema to the C++ signature by which the dispatcher calls a kernel.
//
// Used without PyTorch's own RegistrationDeclarations.h, and for the backend's own operators. Pure functions; a type
// that the dispatcher doesn't know throws std::invalid_argument.
#pragma once

#include "schema/schema.h"

#include <string>
#include <vector>

namespace openreg_gen {

struct CppTypeOptions {
  bool ilistref = false;           // structured groups take Tensor[] as at::ITensorListRef
  bool const_ref_mutable = false;  // use_const_ref_for_mutable_tensors: Tensor(a!) is const at::Tensor &
};

std::string cpp_argument_type(const ArgumentSchema& argument, const CppTypeOptions& options = {});
std::string cpp_return_type(const std::vector<ReturnSchema>& returns, const CppTypeOptions& options = {});

}  // namespace openreg_gen
