// The part of the spec for the rendered tests: `ops.*.tests` and `tests`.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"
#include "strategy/item.h"

namespace openreg_gen {

/// One operator that is tested: its name, strategy, dtypes, tolerances and skips, as Python texts.
struct TestedItem {
  struct Skip {
    std::string check, dtype, reason;
    void print(Fields out) const { PRINT_FIELDS(out, check, dtype, reason); }
  };
  std::string op, strategy, tolerance;
  std::vector<std::string> forms, serves, dtypes;
  bool toleranced = false;
  std::vector<Skip> skips;
  std::optional<ReleaseGuard> releases;
  void print(Fields out) const;
};
TestedItem tested_item(const Op& op, const OpSpec& written, const Catalog& catalog);

/// `tests`: samples, tolerances by dtype, excluded tests of PyTorch's own files (one row per class).
struct TestsContext {
  struct Tolerance {
    std::string dtype, rtol, atol;
    void print(Fields out) const { PRINT_FIELDS(out, dtype, rtol, atol); }
  };
  struct Exclusion {
    std::string of_class, test, reason;
    void print(Fields out) const { PRINT_FIELDS(out, test, reason)("class", of_class); }
  };
  int samples = 0;
  std::vector<Tolerance> tolerances;
  std::vector<Exclusion> excluded;
  explicit TestsContext(const TestsSpec& spec);
  void print(Fields out) const { PRINT_FIELDS(out, samples, tolerances, excluded); }
};

}  // namespace openreg_gen
