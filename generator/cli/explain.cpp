// openreg-gen explain WHAT: finds what the word names, in one table of lookups; files and lines are in
// explain_tree.cpp.
#include "cli/explain.h"

#include "base/text.h"
#include "cli/verb.h"
#include "spec/document.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

struct ExplainOptions {
  std::string what;
};

void declare(CLI::App& app, Invocation& call, ExplainOptions& options) {
  app.add_option(
         "WHAT", options.what,
         "PATH or PATH:LINE in a tree; an operator, add.Tensor; a code, E0203; a component, a strategy, a key of "
         "the spec, a function of the device API, a variable of the environment, a macro, or a term")
      ->required();
  call.add_tree(app, "The tree, or a folder in it; default: the tree that contains the file or the current directory");
  call.add_torch(app);
  call.add_json(app);
}

std::optional<ExplainedTree> tree_around(const Invocation& call, const fs::path& near) {
  ExplainedTree tree;
  std::error_code error;
  try {
    const fs::path start = !call.folder.empty()      ? fs::path(call.folder)
                           : fs::exists(near, error) ? (fs::is_directory(near) ? near : near.parent_path())
                                                     : fs::path();
    tree.root = find_tree(start);
  } catch (const Failure&) {
    if (!call.folder.empty()) throw;
    return std::nullopt;
  }
  tree.manifest = parse_manifest(read_if_there(tree.root / kManifest));
  tree.shown_spec = fs::proximate(tree.root / tree.manifest.spec).string();
  Diagnostics ignored;  // a spec with faults still says what it says; `check` reports the faults
  if (auto text = read_spec_file(tree.root / tree.manifest.spec, ignored))
    tree.spec = parse_spec_text(std::move(*text), tree.shown_spec, ignored);
  return tree;
}

/// "a.cpp:12" -> "a.cpp", 12.
int split_line(std::string& path) {
  const std::size_t colon = path.rfind(':');
  if (colon == std::string::npos || colon + 1 == path.size() || path.size() - colon > 9) return 0;
  if (!std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(), is_digit)) return 0;
  const int line = std::stoi(path.substr(colon + 1));
  path.resize(colon);
  return line;
}

std::vector<std::string> files_called(const ExplainedTree& tree, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& [path, entry] : tree.manifest.files)
    if (fs::path(path).filename() == name) found.push_back(path);
  return found;
}

Exit run(Invocation& call, const ExplainOptions& options) {
  std::string path = options.what;
  const int line = split_line(path);
  std::error_code error;
  Question asked{call, tree_around(call, path)};
  if (asked.tree) {
    const ExplainedTree& tree = *asked.tree;
    const fs::path here = fs::weakly_canonical(path, error).lexically_relative(fs::canonical(tree.root, error));
    const bool inside = !here.empty() && *here.begin() != "..";
    if (inside && (fs::is_regular_file(path, error) || tree.manifest.files.contains(here.generic_string())))
      return explain_path(asked, here.generic_string(), line);
    const std::string plain = fs::path(path).lexically_normal().generic_string();
    if (tree.manifest.files.contains(plain) || contains(plain, '/')) return explain_path(asked, plain, line);
  } else if (contains(path, '/') || line > 0) {
    throw Failure(Exit::BadInput, "E0502", "'" + path + "' is not in a generated backend",
                  "to explain a file, name its tree with -C");
  }
  if (asked.tree && contains(path, '.')) {  // a file's name without its folder, which no operator has
    const std::vector<std::string> found = files_called(*asked.tree, path);
    if (found.size() == 1 || (found.empty() && line > 0))
      return explain_path(asked, found.empty() ? path : found[0], line);
    if (found.size() > 1)
      throw Failure(Exit::BadInput, "E0555", fmt::format("the tree has {} files called '{}'", found.size(), path),
                    fmt::format("name one: {}", fmt::join(found, ", ")));
  }
  return explain_word(asked, options.what);
}

}  // namespace

std::string read_if_there(const fs::path& path) { return try_read_file(path).value_or(""); }

Verb explain_verb() {
  return {"explain",
          "Explain a file or line of a backend, an operator, a diagnostic, a key of the spec or a term",
          with_options<ExplainOptions>(declare, run),
          {"explain csrc/runtime/Guard.cpp", "explain csrc/aten/RegisterMinimal.cpp:42", "explain add.out",
           "explain E0203", "explain allocator.device", "explain guard"}};
}

}  // namespace openreg_gen
