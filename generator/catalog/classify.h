#pragma once

#include "catalog/catalog.h"

namespace openreg_gen {

/// The op's one class, from its other fields, which must be filled in.
OpClass classify(const Op& op);
/// PyTorch's own rule: it returns an alias of an argument, or changes only its metadata.
bool is_view_op(const Schema& schema, const std::vector<std::string>& tags);

}  // namespace openreg_gen
