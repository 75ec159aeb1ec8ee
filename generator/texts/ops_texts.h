// C++ texts of an operator's signature, as the templates show them. Pure functions.
#pragma once

#include "catalog/catalog.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// A C++ type in the emitted style, with int64_t for SymInt: "const at::Tensor &" -> "const at::Tensor&".
std::string cpp_type(std::string_view type);
/// The same for a returned type, where SymInt stays: PyTorch takes int64_t for it in arguments only.
std::string cpp_return(std::string_view type);

struct Parameter {
  std::string type;  // in the emitted style
  std::string name;
  bool out = false;
  bool tensor() const;           // a single tensor that is always there
  bool optional_tensor() const;  // std::optional<at::Tensor>
  bool optional_scalar() const;  // std::optional<at::Scalar>
  bool any_tensor() const;       // these, or a list that c10::impl::check_and_update_common_device takes
};

std::vector<Parameter> parameters(const Op& op);
/// "const at::Tensor& self, int64_t dim"
std::string declaration(const std::vector<Parameter>& parameters);
/// "self, dim"
std::string names(const std::vector<Parameter>& parameters);
std::string join(const std::vector<std::string>& pieces, std::string_view separator = ", ");

/// True if it draws random numbers: it takes a generator.
bool draws_from_generator(const Op& op);

/// "maximum_out": a C++ identifier and a file name, unique among operators.
std::string op_id(const Op& op);
/// The name of its kernel's file, without extension: op_id(), distinguished from files like Copy.cpp on disks that
/// don't distinguish case.
std::string op_file(const Op& op);
/// "maximum": the operators' headers are ATen/ops/<root>_ops.h and so on.
std::string header_root(const Op& op);
/// The statement that makes the device of the arguments current; empty if no argument has one.
std::string device_guard(const std::vector<Parameter>& parameters);

/// The arguments as a pointwise expression sees them.
struct Pointwise {
  std::string lambda_params;  // "[[maybe_unused]] compute_t<scalar_t> self, ..."
  std::string captures;       // "alpha = alpha.to<compute_t<scalar_t>>()"
  std::string inputs;         // "self, other": the tensors
  std::vector<Parameter> scalars;
};
Pointwise pointwise_texts(const std::vector<Parameter>& parameters);
/// Arguments of AT_DISPATCH_V2 after the body. Empty `dtypes`: all real numbers.
std::string dispatch_types(const std::vector<std::string>& dtypes);
/// The same as a list of at::ScalarType.
std::string enumerators(const std::vector<std::string>& dtypes);
/// Whether all of `dtypes` (not none) are floating or complex, so that integers must be converted first.
bool only_floating(const std::vector<std::string>& dtypes);

}  // namespace openreg_gen
