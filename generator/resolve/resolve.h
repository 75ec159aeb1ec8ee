// A spec combined with a PyTorch: each operator that the backend registers, with its entry.
#pragma once

#include "catalog/catalog.h"
#include "strategy/strategy.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// An operator that the backend registers.
struct ResolvedOp {
  const OpSpec& entry;  // what is written of it, in `ops:`
  const Op& op;         // what PyTorch declares
  bool selected;        // the entry is a selection, which brought it; else it names the operator

  const Location& at() const { return entry.name.at; }
  /// The entry that brought it, "@core"; empty if it is named.
  std::string_view selection() const { return selected ? std::string_view(*entry.name) : std::string_view(); }
};

/// The operators of one selection of `ops:`, see select.h.
struct SelectionReport {
  struct Left {
    std::string op, reason;
  };
  const OpSpec* entry = nullptr;
  std::vector<std::string> taken;  // sorted
  std::vector<Left> left;          // sorted: matched, but not taken
};

/// A file that the spec names, which is copied into the tree.
struct ListFile {
  std::string path;  // relative to the spec, with '/'
  std::string text;
};

/// A spec as written, and the operators that it registers. Move-only: the operators refer to the spec's entries.
struct ResolvedSpec {
  ResolvedSpec(Spec written, const Catalog& declared) : spec(std::move(written)), catalog(declared) {}
  ResolvedSpec(ResolvedSpec&&) = default;

  Spec spec;
  const Catalog& catalog;
  std::vector<ResolvedOp> ops;              // in the spec's order; a selection's by name
  std::vector<const OpSpec*> unknown;       // entries that name what this PyTorch does not declare, which is an error
  std::vector<SelectionReport> selections;  // in the spec's order
  std::vector<ListFile> lists;              // of `@model:FILE`, each once
};

/// Replaces selections by operators, and checks the spec against PyTorch's declarations: op names, strategies that fit
/// each operator, AMP rules, versions. Appends to `diagnostics` and finishes them. After errors the result is only for
/// display.
ResolvedSpec resolve(Spec spec, const Catalog& catalog, Diagnostics& diagnostics);

/// The first half of that: replaces selections, without the checks.
ResolvedSpec expand_ops(Spec spec, const Catalog& catalog, Diagnostics& diagnostics);

}  // namespace openreg_gen
