// The operators part of the model: how each operator of the spec is registered, in finished C++ texts.
//
// Input is a spec without errors: names exist and strategies fit. Pure functions; same input, same model.
#pragma once

#include "resolve/resolve.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// The subject of the file of one item in a list of the model.
struct Subject {
  std::string id;         // "aten::relu", "mybackend::custom_abs"
  std::string signature;  // the function that an owned file of it defines: "at::Tensor relu(const at::Tensor& self)"
};
/// By the name of the list, "ops.native", in its order. Only lists of operators have subjects.
using Subjects = std::map<std::string, std::vector<Subject>, std::less<>>;

/// Fills in globals["ops"], ["custom_ops"] and ["amp"]. Throws Failure(Environment) if the installed PyTorch lacks the
/// header that lists the autocast rules.
void add_operators(nlohmann::json& globals, const ResolvedSpec& resolved, const DeviceKernels& kernels,
                   Subjects& subjects);

/// globals["ops"]: lists `minimal`, `random`, and one per strategy, in the spec's order, for the templates in
/// templates/csrc/aten.
nlohmann::json operators_model(const ResolvedSpec& resolved, const DeviceKernels& kernels, Subjects& subjects);

/// globals["custom_ops"].
nlohmann::json custom_operators_model(const Spec& spec, Subjects& subjects);

}  // namespace openreg_gen
