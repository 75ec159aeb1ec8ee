// What the rendered tests know of the spec: `ops.*.tests` and `tests`.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"

#include <nlohmann/json.hpp>

namespace openreg_gen {

/// One operator that is tested: its name, strategy, dtypes, tolerances and skips, as Python texts.
nlohmann::json tested_item(const Op& op, const OpSpec& written, const Catalog& catalog);
/// `tests`: samples, tolerances by dtype, excluded tests of PyTorch's own files (a class a row).
nlohmann::json tests_model(const Spec& spec);

}  // namespace openreg_gen
