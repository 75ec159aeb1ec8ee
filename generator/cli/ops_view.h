// Shows operators, also those of a spec and those that another PyTorch changes: as rows, as a page, as JSON. Pure.
#pragma once

#include "catalog/catalog.h"
#include "resolve/resolve.h"
#include "resolve/spec_drift.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// Ops whose name holds `pattern` (letter case aside), or matches it as a glob where it holds one of * ? [; sorted.
/// An empty pattern matches all.
std::vector<const Op*> match_ops(const Catalog& catalog, const std::string& pattern);
/// "did you mean 'add.Tensor'?", or empty.
std::string suggest_op(const Catalog& catalog, std::string_view word);

std::string ops_table(const std::vector<const Op*>& ops, std::size_t width);
/// Asks for an overload, if a base name has several.
std::string overloads_table(const std::string& name, const std::vector<const Op*>& overloads, std::size_t width);
/// `spec`: of the tree in which it is asked; null: none.
std::string op_page(const Op& op, std::size_t width, const Spec* spec = nullptr);
/// Which strategies fit, why others do not or are refused in the tree, and which one `add` would choose.
std::string strategies_table(const Op& op, std::size_t width, const Spec* spec = nullptr);
nlohmann::ordered_json op_summary(const Op& op);                              // an element of `ops --json`
nlohmann::ordered_json op_details(const Op& op, const Spec* spec = nullptr);  // what `ops show --json` prints
/// "structured: one kernel serves all forms of the group".
std::string about_class(const Op& op);

// For a spec without errors: its operators, and those of its selections.

/// One line per selection: "  12: '@core' (native): 96 operators, 43 left out"; with `all`, each operator, and why one
/// is left. Empty if the spec has no selection.
std::string selections_text(const ResolvedSpec& resolved, bool all);
/// [{"entry","line","column","strategy","ops":[...],"left":[{"op","reason"}]}]
nlohmann::ordered_json selections_json(const ResolvedSpec& resolved);

/// Operator, strategy, place and the entry that brought it.
std::string spec_ops_table(const ResolvedSpec& resolved, std::size_t width);
/// [{"op","strategy","class","entry","line","column"}]: "entry" is the operator's own name or the selection.
nlohmann::ordered_json spec_ops_json(const ResolvedSpec& resolved);

// Drift.

/// {"added":[{"op"}],"removed":[{"op"}],"changed":[{"op","old","new"}]}; schemas as native_functions.yaml has them.
nlohmann::ordered_json catalog_diff_json(const CatalogDiff& diff);
std::string catalog_diff_text(const CatalogDiff& diff, const Catalog& before, const Catalog& after);

/// See docs/reference/drift.md.
nlohmann::ordered_json spec_drift_json(const SpecDrift& drift, const Spec& spec, const Catalog& before,
                                       const Catalog& after);
std::string spec_drift_text(const SpecDrift& drift, const Spec& spec, const Catalog& before, const Catalog& after);

}  // namespace openreg_gen
