// The autocast rules of the model: PyTorch's own lists, read from the installed header, with the spec's changes.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// A registration at AutocastPrivateUse1.
struct AmpRule {
  std::string op;    // "pow.Tensor_Scalar"
  std::string line;  // the macro call, without a final semicolon
};

struct AmpPolicy {
  std::string name;  // "lower_precision_fp"
  std::vector<AmpRule> rules;
};

/// The policies that a spec may add operators to, in the order in which they are shown.
const std::vector<std::string>& amp_policy_names();

/// The lists of ATen/autocast_mode.h. Throws Failure(Environment, E0403) if `header` has none.
std::vector<AmpPolicy> read_amp_policies(std::string_view header);

/// globals["amp"]: `dtypes`, `policies`, and whether one of these `bans` something. Throws Failure(Environment) if the
/// header can't be read.
nlohmann::json amp_model(const Spec& spec, const Catalog& catalog);

}  // namespace openreg_gen
