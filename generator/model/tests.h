// What the rendered tests know of the spec: `ops.*.tests` and `tests`.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"
#include "strategy/item.h"

#include <nlohmann/json.hpp>

namespace openreg_gen {

/// One operator that is tested: its name, strategy, dtypes, tolerances and skips, as Python texts.
struct TestedItem {
  struct Skip {
    std::string check, dtype, reason;
    void print(Fields out) const { out("check", check)("dtype", dtype)("reason", reason); }
  };
  std::string op, strategy, tolerance;
  std::vector<std::string> forms, serves, dtypes;
  bool toleranced = false;
  std::vector<Skip> skips;
  std::optional<ReleaseGuard> releases;
  void print(Fields out) const;
};
TestedItem tested_item(const Op& op, const OpSpec& written, const Catalog& catalog);
/// `tests`: samples, tolerances by dtype, excluded tests of PyTorch's own files (a class a row).
nlohmann::json tests_model(const Spec& spec);

}  // namespace openreg_gen
