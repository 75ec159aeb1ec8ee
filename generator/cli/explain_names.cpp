// openreg-gen explain MYBACKEND_FALLBACK, MYBACKEND_CHECK_LAUNCH: the variables of the environment, from the pages that
// list them, and the macros of a tree, from its headers.
#include "cli/explain.h"

#include "base/text.h"
#include "render/data_dir.h"

#include <fmt/ranges.h>

#include <regex>
#include <set>

namespace openreg_gen {
namespace {

/// The beginning of a tree's variables and macros; outside of trees, as pages write it of their example.
std::string prefix(const Question& asked) {
  return (asked.tree ? upper_case(*asked.tree->spec.backend.name) : "MYBACKEND") + "_";
}

struct Variable {
  std::string name, about, page;  // name: "NAME_FALLBACK", or with another beginning
};

/// The rows "| `NAME_FALLBACK` | what it does |", and of OpenCL's "| key | `MYCL_MEMORY` | values |".
std::vector<Variable> variables() {
  static const std::regex row(R"(\n\|(?: `([^`|]*)` \|| \|)? ?`([A-Z_]{4,})` \| ([^\n]*) \|(?=\n))");
  std::vector<Variable> found;
  for (const std::string name : {"environment.md", "opencl.md"}) {
    const std::string page = read_if_there(find_data().docs / name);
    for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
      const std::string key = (*match)[1], about = (*match)[3];
      std::string variable = (*match)[2];
      if (variable.starts_with("MYCL_")) variable.replace(0, 4, "NAME");
      if (find_by(found, variable, &Variable::name)) continue;
      found.push_back(
          {variable, key.empty() ? about : fmt::format("{}; goes before the spec's `{}`", about, key), name});
    }
  }
  return found;
}

/// Files with code of the tree, without the spec's own and those that were left behind.
std::vector<std::string> code_files(const ExplainedTree& tree, std::initializer_list<std::string_view> ends) {
  std::vector<std::string> paths;
  for (const auto& [path, file] : tree.manifest.files)
    if (std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); })) paths.push_back(path);
  return paths;
}

/// "#define NAME_CHECK(CALL) ..." of one of a tree's headers.
struct Macro {
  std::string name, declaration, path;
  std::size_t line;  // from 0
};

std::vector<Macro> macros(const Question& asked) {
  if (!asked.tree) return {};
  const std::regex define("#define (" + prefix(asked) + R"(\w+)(\([^)]*\))?.*)");
  std::vector<Macro> found;
  for (const std::string& path : code_files(*asked.tree, {".h"})) {
    const std::string text = read_if_there(asked.tree->root / path);
    const auto lines = split_lines(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::cmatch match;
      if (std::regex_match(lines[i].data(), lines[i].data() + lines[i].size(), match, define) &&
          !find_by(found, match[1].str(), &Macro::name))
        found.push_back({match[1], match[1].str() + match[2].str(), path, i});
    }
  }
  return found;
}

std::string_view uncommented(std::string_view line) {
  line = trimmed(line);
  while (line.starts_with('/')) line.remove_prefix(1);
  return trimmed(line);
}

/// The comment above the definition; or the sentences of the file's comments that begin with the macro's name.
std::string about(const std::string& text, const Macro& macro) {
  const auto lines = split_lines(text);
  const auto is_comment = [&](std::size_t i) { return i < lines.size() && trimmed(lines[i]).starts_with("//"); };
  std::size_t first = macro.line;
  while (first > 0 && is_comment(first - 1)) --first;
  std::size_t last = macro.line;
  const auto names = [&](std::size_t i) {
    const std::string_view said = uncommented(lines[i]);
    return said.starts_with(macro.name) && !said.substr(macro.name.size()).starts_with('_');
  };
  if (first == macro.line) {
    first = 0;
    while (first < lines.size() && !(is_comment(first) && names(first))) ++first;
    const std::string family = macro.name.substr(0, macro.name.find('_') + 1);
    for (last = first; is_comment(last); ++last)
      if (last > first && uncommented(lines[last]).starts_with(family) && trimmed(lines[last - 1]).ends_with('.'))
        break;
  }
  return fmt::format("{}", fmt::join(mapped(std::vector(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                                        lines.begin() + static_cast<std::ptrdiff_t>(last)),
                                            uncommented),
                                     " "));
}

}  // namespace

std::vector<std::string> variable_names(Question& asked) {
  std::vector<std::string> names;
  for (const Variable& each : variables()) {
    if (each.name.starts_with("NAME_")) names.push_back(prefix(asked) + each.name.substr(5));
    names.push_back(each.name);
  }
  return names;
}

Answer explain_variable(Question& asked, const std::string& name) {
  const std::string beginning = prefix(asked);
  const std::string known = name.starts_with(beginning) ? "NAME_" + name.substr(beginning.size()) : name;
  const auto all = variables();
  const Variable& variable = *find_by(all, known, &Variable::name);
  const std::string own = known.starts_with("NAME_") ? beginning + known.substr(5) : known;
  std::vector<std::string> readers;
  if (asked.tree)
    for (const std::string& path : code_files(*asked.tree, {".cpp", ".h", ".py"}))
      if (includes(read_if_there(asked.tree->root / path), "\"" + own + "\"")) readers.push_back(path);
  const bool openreg_gens = !known.starts_with("NAME_") && !known.starts_with("TORCH_");
  return answer_of(own + ": a variable of the environment",
                   {{"for", plain_links(asked, variable.about)},
                    {"this tree", !asked.tree || openreg_gens ? ""
                                  : readers.empty()           ? "nothing in it reads the variable"
                                                              : fmt::format("read by {}", first_of(readers))},
                    {"read", (find_data().docs / variable.page).lexically_normal().string()}});
}

std::vector<std::string> macro_names(Question& asked) { return mapped(macros(asked), &Macro::name); }

Answer explain_macro(Question& asked, const std::string& name) {
  const auto all = macros(asked);
  const Macro& macro = *find_by(all, name, &Macro::name);
  return answer_of(name + ": a macro of the tree",
                   {{"place", fmt::format("{}:{}", macro.path, macro.line + 1)},
                    {"declaration", macro.declaration},
                    {"for", about(read_if_there(asked.tree->root / macro.path), macro)}});
}

}  // namespace openreg_gen
