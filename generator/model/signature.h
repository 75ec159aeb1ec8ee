// The C++ signature an owner's kernel must have.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// Of an item of the lists ops.structured, ops.native, ops.stub or custom_ops.declared: the function its owned file
/// defines, as "at::Tensor relu(const at::Tensor& self)". Empty if the item has none.
std::string kernel_signature(const nlohmann::json& item);

}  // namespace openreg_gen
