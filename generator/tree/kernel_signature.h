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
  std::vector<std::string> generic;  // names of a template's parameters
};

/// The function of a signature: "at::Tensor relu(const at::Tensor& self)". None if the text has no '('.
std::optional<KernelFunction> read_signature(std::string_view signature);

/// C++ text with blanks for comments, literals and directives of the preprocessor; each character keeps its place.
std::string code_of(std::string_view text);

/// The functions, declarations and calls of a name, in order. `code` is of code_of.
std::vector<KernelFunction> functions_of(std::string_view code, std::string_view name);

/// The definition of the function that `signature` names, whatever its parameters; none if the text has none or
/// several.
std::optional<KernelFunction> find_definition(std::string_view text, std::string_view signature);

/// The places of parameters of `now` that have a name of another place of their type in `was`: types don't tell them
/// apart.
std::vector<std::size_t> moved_parameters(const KernelFunction& was, const KernelFunction& now);

struct FoundKernel {
  int line = 0;       // of the definition, from 1; without a definition of the registration; 0 if there is neither
  bool fits = false;  // parameter and return types are those of the signature
  bool read = true;   // false if the text doesn't show the parameters
};

/// Looks for the function of `signature` ("at::Tensor relu(const at::Tensor& self)") in C++ text, or for the lambda or
/// function that NAME_KERNEL registers. Defaults, comments and namespaces don't matter, nor whether a SymInt is taken
/// as int64_t: PyTorch takes both. Of `#if` with `#else`, one branch has to fit. Names of parameters matter only where
/// `was` had them in other places.
FoundKernel find_kernel(std::string_view text, std::string_view signature, std::string_view was = {});

}  // namespace openreg_gen
