// How operators differ between two PyTorch releases. Pure; see docs/reference/drift.md.
#pragma once

#include "catalog/catalog.h"

#include <string_view>
#include <vector>

namespace openreg_gen {

enum class OpChange {
  Removed,
  Schema,  // any change of the text: types, names, defaults, order, what is returned
  BecameComposite,
  NoLongerComposite,
  BecameStructured,
  NoLongerStructured,
  DefaultGained,
  DefaultLost,
};
std::string_view to_string(OpChange change);  // "schema changed"

struct OpDrift {
  const Op* before = nullptr;  // null: the operator is new
  const Op* after = nullptr;   // null: it is gone
  std::vector<OpChange> changes;
  bool same_signature = false;      // the schema changed, but the C++ types by which a kernel is called did not
  const Op* replacement = nullptr;  // of a removed one, where a schema shows it: see find_replacement()
};

/// One operator of `before` in `after`. `op` must be in one of them.
OpDrift compare_op(std::string_view op, const Catalog& before, const Catalog& after);

/// The possible replacement of a removed operator: one of the same form and return types that is new under the same
/// base name, or has it with `linalg_`, `special_`, `fft_` or without a leading underscore or `_v2`. Null if there is
/// none.
const Op* find_replacement(const Op& removed, const Catalog& before, const Catalog& after);

/// Overloads in native_functions.yaml, without those that PyTorch's codegen derives; each list sorted
/// by name. `changed`: those whose schemas differ.
struct CatalogDiff {
  std::vector<const Op*> added, removed;
  std::vector<std::pair<const Op*, const Op*>> changed;
};
CatalogDiff diff_catalogs(const Catalog& before, const Catalog& after);

}  // namespace openreg_gen
