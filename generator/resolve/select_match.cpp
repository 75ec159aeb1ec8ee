#include "resolve/select.h"

#include "base/suggest.h"
#include "base/text.h"
#include "resolve/validate.h"
#include "spec/document.h"
#include "spec/minimal_ops.h"
#include "spec/ops_file.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <set>

namespace openreg_gen {
namespace {

using Kind = Selector::Kind;
using Ops = std::vector<const Op*>;

template <typename Predicate>
Ops where(const Catalog& catalog, Predicate predicate) {
  Ops found;
  for (const Op& op : catalog.all())
    if (predicate(op)) found.push_back(&op);
  return found;
}

Ops matching(const Catalog& catalog, const std::string& glob) {
  return where(catalog, [&](const Op& op) { return matches_glob(op, glob); });
}

/// What to try instead of a glob that matches nothing.
std::string glob_hint(const Catalog& catalog, const std::string& glob) {
  for (const auto& other : {"_" + glob, glob + "*", "*" + glob}) {
    if (const auto found = matching(catalog, other); !found.empty())
      return fmt::format("did you mean '{}'? It matches {}", other, found.size());
  }
  std::string literal = glob.substr(0, glob.find('.'));
  std::erase_if(literal, [](char c) { return contains(std::string_view("*?[]"), c); });
  const auto near = closest(literal, mapped(catalog.all(), [](const Op& op) -> std::string_view { return op.base; }));
  return near.empty() ? "`openreg-gen ops PATTERN` lists what PyTorch has"
                      : fmt::format("there is an operator '{}'", near);
}

std::string tag_hint(const Catalog& catalog, const std::string& tag) {
  std::set<std::string_view> tags;
  for (const Op& op : catalog.all()) tags.insert(op.tags.begin(), op.tags.end());
  const std::vector<std::string_view> names(tags.begin(), tags.end());
  const auto hint = did_you_mean(tag, names);
  return hint.empty() ? fmt::format("PyTorch's tags: {}", fmt::join(names, ", ")) : hint;
}

/// The operators of the spec's autocast rules, each with all overloads where the rule names none.
Ops amp_ops(const Spec& spec, const Catalog& catalog) {
  std::set<std::string> names;
  if (*spec.amp.preset == "cuda") {
    for (const auto& rule : catalog.autocast)
      if (rule.policy != kAutocastBanned) names.insert(rule.op);
  }
  for (const auto& name : spec.amp.remove) names.erase(*name);
  for (const auto& [policy, added] : spec.amp.add)
    for (const auto& name : added) names.insert(*name);
  Ops found;
  for (const auto& name : names) {
    if (const Op* op = catalog.find(name)) {
      found.push_back(op);
      continue;
    }
    const auto overloads = catalog.overloads(name);
    found.insert(found.end(), overloads.begin(), overloads.end());
  }
  return found;
}

std::optional<Ops> listed_ops(const std::string& file, const Location& at, ResolvedSpec& resolved,
                              Diagnostics& diagnostics) {
  const Catalog& catalog = resolved.catalog;
  const auto path = resolved.spec.path.parent_path() / file;
  Diagnostics reading;
  const auto text = read_spec_file(path, reading);
  const auto list = text ? parse_ops_file(*text, path, reading) : std::nullopt;
  const bool missing = !text && reading.all()[0].code == "E0101";
  if (!missing) {
    for (const auto& diagnostic : reading.all()) diagnostics.add(diagnostic);
  }
  if (!list)
    return diagnostics.fail("E0244", at,
                            missing ? fmt::format("no file '{}'", file) : fmt::format("'{}' cannot be used", file),
                            missing ? "`openreg-gen record --device NAME script.py` writes one" : "");
  if (std::ranges::none_of(resolved.lists, [&](const ListFile& other) { return other.path == file; }))
    resolved.lists.push_back({file, *text});
  Ops found;
  for (const auto& recorded : list->ops) {
    if (const Op* op = catalog.find(*recorded.name)) {
      found.push_back(op);
      continue;
    }
    diagnostics.warning(
        "E0245", recorded.name.at,
        fmt::format("PyTorch {} has no operator '{}'", catalog.torch_version(), *recorded.name),
        list->torch.empty() ? "it is left out" : fmt::format("it is left out; the list is of {}", list->torch));
  }
  return found;
}

}  // namespace

bool matches_glob(const Op& op, const std::string& glob) {
  if (!contains(glob, '.')) return ::fnmatch(glob.c_str(), op.base.c_str(), 0) == 0;
  const std::string name = op.overload.empty() ? op.name + "." : op.name;
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

std::optional<Ops> match_selector(const Selector& selector, const Location& at, ResolvedSpec& resolved,
                                  Diagnostics& diagnostics) {
  const Catalog& catalog = resolved.catalog;
  const auto tagged = [&](const std::string& tag) {
    return where(catalog, [&](const Op& op) { return op.has_tag(tag); });
  };
  Ops found;
  std::string hint;
  switch (selector.kind) {
    case Kind::Name: {
      const Op* op = catalog.find(selector.text);
      found = selector.is_overload() ? Ops{} : catalog.overloads(selector.text);
      if (found.empty() && op != nullptr) found = {op};
      if (found.empty()) {
        find_op({selector.text, at}, catalog, "E0201", "E0202", diagnostics);
        return std::nullopt;
      }
      break;
    }
    case Kind::Glob:
      found = matching(catalog, selector.text);
      if (found.empty()) hint = glob_hint(catalog, selector.text);
      break;
    case Kind::Tag:
      found = tagged(selector.text);
      if (found.empty()) hint = tag_hint(catalog, selector.text);
      break;
    case Kind::Core:
      found = tagged("core");
      break;
    case Kind::Pointwise:
      found = tagged("pointwise");
      break;
    case Kind::Amp:
      found = amp_ops(resolved.spec, catalog);
      if (catalog.autocast.empty()) hint = "only an installed PyTorch has the list of its autocast rules";
      break;
    case Kind::Minimal:
      found = where(catalog, [](const Op& op) { return is_minimal_op(op.name); });
      break;
    case Kind::Model:
      return listed_ops(selector.text, at, resolved, diagnostics);
  }
  if (!found.empty()) return found;
  return diagnostics.fail(
      "E0240", at,
      selector.kind == Kind::Tag
          ? fmt::format("no operator of PyTorch {} has the tag '{}'", catalog.torch_version(), selector.text)
          : fmt::format("no operator of PyTorch {} matches '{}'", catalog.torch_version(), selector.text),
      hint);
}

}  // namespace openreg_gen
