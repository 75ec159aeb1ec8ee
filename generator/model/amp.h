// The autocast rules of the model: PyTorch's own, with the spec's changes.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"
#include "texts/fields.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// A registration at AutocastPrivateUse1.
struct AmpRule {
  std::string op;    // "pow.Tensor_Scalar"
  std::string line;  // the macro call, without a final semicolon
  void print(Fields out) const { PRINT_FIELDS(out, op, line); }
};

struct AmpPolicy {
  std::string name;  // "lower_precision_fp"
  std::vector<AmpRule> rules;
  void print(Fields out) const { PRINT_FIELDS(out, name, rules); }
};

/// What templates see as `amp`.
struct AmpContext {
  struct Dtype {
    std::string name;
    void print(Fields out) const;
  };
  std::vector<Dtype> dtypes;
  std::vector<AmpPolicy> policies;  // those with rules
  void print(Fields out) const;
};

/// Throws Failure(Environment, E0403) if the catalogue has no rules and the spec wants them.
AmpContext amp_context(const Spec& spec, const Catalog& catalog);

}  // namespace openreg_gen
