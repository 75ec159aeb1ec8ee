// Drift as text and as JSON. Pure.
#pragma once

#include "resolve/spec_drift.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// {"added":[{"op"}],"removed":[{"op"}],"changed":[{"op","old","new"}]}; schemas as native_functions.yaml has them.
nlohmann::ordered_json catalog_diff_json(const CatalogDiff& diff);
std::string catalog_diff_text(const CatalogDiff& diff, const Catalog& before, const Catalog& after);

/// See docs/drift.md.
nlohmann::ordered_json spec_drift_json(const SpecDrift& drift, const Spec& spec, const Catalog& before,
                                       const Catalog& after);
std::string spec_drift_text(const SpecDrift& drift, const Spec& spec, const Catalog& before, const Catalog& after);

}  // namespace openreg_gen
