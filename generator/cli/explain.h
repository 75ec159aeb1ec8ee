// The parts of `explain`: pages about operators, and about files and lines of a tree.
#pragma once

#include "catalog/catalog.h"
#include "catalog/decompositions.h"
#include "catalog/derivatives.h"
#include "cli/invocation.h"
#include "cli/terminal_text.h"
#include "diag/failure.h"
#include "resolve/resolve.h"
#include "system/files.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// The tree in question.
struct ExplainedTree {
  fs::path root;
  Manifest manifest;
  Spec spec;
  std::string shown_spec;  // as the user would name it
};
/// A question: the run that it belongs to, and the tree around it, if there is one.
struct Question {
  Invocation& call;
  std::optional<ExplainedTree> tree;
  const Catalog* catalog();  // null without a PyTorch
};
struct Answer {
  std::string text;
  nlohmann::ordered_json json;
};
/// A page of named facts; empty ones are only in the JSON.
Answer answer_of(const std::string& title, const std::vector<std::pair<std::string, std::string>>& facts);

/// A file of the tree, or a line of it (0: the whole file).
Exit explain_path(Question& asked, const std::string& path, int line);
/// Everything that the word names.
Exit explain_word(Question& asked, const std::string& word);

Answer explain_key(Question& asked, const std::string& name);
std::vector<std::string> custom_op_names(Question& asked);
Answer explain_custom_op(Question& asked, const std::string& name);
std::vector<std::string> variable_names(Question& asked);
Answer explain_variable(Question& asked, const std::string& name);
std::vector<std::string> macro_names(Question& asked);
Answer explain_macro(Question& asked, const std::string& name);
std::vector<std::string> op_names(Question& asked);
Answer explain_op(Question& asked, const std::string& name);

/// "my.yaml:29" for a key without "*" and "[]", or that the tree's spec does not have it.
std::string place_of_key(const ExplainedTree& tree, const std::string& path);
/// "a, b and 7 more"
std::string first_of(const std::vector<std::string>& names);
/// "see [compile](compile.md)" -> "see compile (docs/compile.md)", a page that the reader has.
std::string plain_links(const Question& asked, const std::string& text);

/// How a call of the operator reaches a backend: which key it is registered at, or why it is not.
std::string about_registration(const Op& op);
/// Other operators that call this one's kernel, or that this one is composed of.
std::string about_variants(const Op& op, const Catalog& catalog);

/// Where a tree's spec has the operator; `by` is the entry's own name, which may be the form that serves it.
struct InSpec {
  std::string by, strategy, place;  // place: "my.yaml:34"
};
std::optional<InSpec> find_in_spec(const Op& op, const ResolvedSpec& resolved);

/// The operators that it decomposes into, or "not traced" and why; nothing if it is not composite.
std::string about_decomposition(const OpTrace& traced);
/// The operators that decompose into it: the first of them, and how many more there are.
std::string about_callers(const OpTrace& traced);

Answer explain_op(const Op& op, const Catalog& catalog, const std::optional<Derivative>& derivative,
                  const OpTrace& traced, const std::string& spec_file, const std::optional<InSpec>& in_spec,
                  const Spec* spec = nullptr);

/// A file's description of itself: its Note, its docstring, or the comment after its header, without comment marks.
std::string note_of(std::string_view text);

/// The operator that a line of a generated or owned file belongs to, from what is written in it and above it. `ids`:
/// the operators whose plain C++ name (maximum_out) counts. Empty if the line belongs to none.
std::string op_of_line(std::string_view text, int line, const std::vector<std::string>& ids, const Catalog& catalog);

/// The rows of a tree's docs/integration.md that name `path` or the header beside it.
struct Virtual {
  std::string interface, name, status, note;
};
std::vector<Virtual> virtuals_of(std::string_view integration, std::string_view path);

/// Empty if there is no such file.
std::string read_if_there(const fs::path& path);

}  // namespace openreg_gen
