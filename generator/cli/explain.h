// What `explain` is made of: the pages of operators, and what files and lines of a tree are.
#pragma once

#include "catalog/catalog.h"
#include "catalog/decompositions.h"
#include "catalog/derivatives.h"
#include "cli/invocation.h"
#include "diag/failure.h"
#include "resolve/resolve.h"
#include "system/files.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// How a call of the operator reaches a backend: which key it is registered at, or why it is not.
std::string about_registration(const Op& op);
/// Other operators that end in this one's kernel, or of which this one is made.
std::string about_variants(const Op& op, const Catalog& catalog);

/// Where a tree's spec has the operator; `by` is the entry's own name, which may be the form that serves it.
struct InSpec {
  std::string by, strategy, place;  // place: "my.yaml:34"
};
std::optional<InSpec> find_in_spec(const Op& op, const Resolved& resolved);

/// The operators it decomposes into, "not traced" and why, or nothing if it is no composite.
std::string about_decomposition(const Traced& traced);
/// The operators that decompose into it: the first of them, and how many more there are.
std::string about_callers(const Traced& traced);

std::string explain_op(const Op& op, const Catalog& catalog, const std::optional<Derivative>& derivative,
                       const Traced& traced, const std::string& spec_file, const std::optional<InSpec>& in_spec,
                       std::size_t width);
nlohmann::ordered_json explain_op_json(const Op& op, const Catalog& catalog,
                                       const std::optional<Derivative>& derivative, const Traced& traced,
                                       const std::optional<InSpec>& in_spec);

/// What a file says of itself: its Note, its docstring, or the comment after its header. Without comment marks.
std::string note_of(std::string_view text);

/// The operator that a line of a generated or owned file belongs to, from what is written in it and above it. `ids`:
/// the operators whose plain C++ name (maximum_out) counts. Empty if the line belongs to none.
std::string op_of_line(std::string_view text, int line, const std::vector<std::string>& ids, const Catalog& catalog);

/// The rows of a tree's docs/integration.json that name `path` or the header beside it.
struct Virtual {
  std::string interface, name, status, note;
};
std::vector<Virtual> virtuals_of(std::string_view integration, std::string_view path);

/// The tree that is asked about.
struct ExplainedTree {
  fs::path root;
  Manifest manifest;
  Spec spec;
  std::string shown_spec;  // as the user would name it
};

/// A file of the tree, or what is in a line of it (0: none is asked for).
Exit explain_path(Invocation& call, const ExplainedTree& tree, const std::string& path, int line);
/// The spec, or the keys around a line of it.
Exit explain_spec(const Invocation& call, const ExplainedTree& tree, int line);

/// "owned: yours; written once, never again"
std::string class_meaning(FileClass file_class);
/// Empty if there is no such file.
std::string read_if_there(const fs::path& path);

}  // namespace openreg_gen
