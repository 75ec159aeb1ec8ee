// Checks whether an owner's kernel still has the signature that the registration uses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct KernelParameter {
  std::string type;                // without namespaces and attributes: "const Tensor &"
  std::string name;                // empty if it has none
  std::size_t begin = 0, end = 0;  // of its text, with comments and blanks
};

/// A function in C++ text; places are offsets.
struct KernelFunction {
  std::size_t at = 0, open = 0, close = 0;  // of its name, its '(' and its ')'
  std::size_t body = 0, end = 0;            // of its '{' and its '}'; 0 if it is a declaration or a call
  std::vector<KernelParameter> parameters;
  std::string returns;
};

/// The function of a signature: "at::Tensor relu(const at::Tensor& self)". None if the text has no '('.
std::optional<KernelFunction> read_signature(std::string_view signature);

/// The definition of the function that `signature` names, whatever its parameters; none if the text has none or
/// several.
std::optional<KernelFunction> find_definition(std::string_view text, std::string_view signature);

struct KernelPlace {
  int line = 0;       // of the definition, from 1; 0 if the text has no function of that name
  bool fits = false;  // parameter and return types are those of the signature
};

/// Looks for the function of `signature` ("at::Tensor relu(const at::Tensor& self)") in C++ text. Names of parameters,
/// defaults, comments and namespaces don't matter, nor whether a SymInt is taken as int64_t: PyTorch takes both.
KernelPlace find_kernel(std::string_view text, std::string_view signature);

}  // namespace openreg_gen
