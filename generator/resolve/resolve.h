// What a spec comes to with a PyTorch: each operator that the backend registers, beside the entry that says how.
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

/// What one selection of `ops:` came to: see select.h.
struct SelectionReport {
  struct Left {
    std::string op, reason;
  };
  const OpSpec* entry = nullptr;
  std::vector<std::string> taken;  // sorted
  std::vector<Left> left;          // sorted: matched, but not taken
};

/// A file that the spec names, which a tree takes along.
struct ListFile {
  std::string path;  // relative to the spec, with '/'
  std::string text;
};

/// A spec as it was written, and what it stands for. Moved, never copied: the operators refer to the spec's entries.
struct Resolved {
  Resolved(Spec written, const Catalog& declared) : spec(std::move(written)), catalog(declared) {}
  Resolved(Resolved&&) = default;

  Spec spec;
  const Catalog& catalog;
  std::vector<ResolvedOp> ops;              // in the spec's order; a selection's by name
  std::vector<const OpSpec*> unknown;       // entries that name what this PyTorch does not declare, which is an error
  std::vector<SelectionReport> selections;  // in the spec's order
  std::vector<ListFile> lists;              // of `@model:FILE`, each once
};

/// Puts operators in the place of selections, and checks the spec against what PyTorch declares: op names, strategies
/// that fit each operator, AMP rules, versions. Appends to `diagnostics` and finishes them; what they have errors of is
/// of no use but to look at.
Resolved resolve(Spec spec, const Catalog& catalog, Diagnostics& diagnostics);

/// The first half of that: what the entries stand for, without what becomes of it.
Resolved expand_ops(Spec spec, const Catalog& catalog, Diagnostics& diagnostics);

}  // namespace openreg_gen
