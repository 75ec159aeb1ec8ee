#include "cli/ops_view.h"

#include "catalog/schema_diff.h"
#include "cli/answer.h"
#include "base/text.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

std::string schema_of(const Op& op) { return std::string(without_namespace(op.schema)); }

bool has(const OpDrift& drift, OpChange change) { return contains(drift.changes, change); }

/// Both schemas, each behind its release, with what differs marked.
std::string beside(const Op& before, const Op& after, const std::string& old_name, const std::string& new_name) {
  const auto a = schema_of(before), b = schema_of(after);
  const auto diff = diff_schemas(a, b);
  const auto width = std::max(old_name.size(), new_name.size());
  std::string text = fmt::format("      {:<{}}  {}\n", old_name, width, a);
  if (!diff.before_marks.empty()) text += fmt::format("      {:<{}}  {}\n", "", width, mark_line(diff.before_marks));
  text += fmt::format("      {:<{}}  {}\n", new_name, width, b);
  if (!diff.after_marks.empty()) text += fmt::format("      {:<{}}  {}\n", "", width, mark_line(diff.after_marks));
  return text;
}

Json arguments_json(const Op& before, const Op& after) {
  return json_list(diff_schemas(schema_of(before), schema_of(after)).changes, [](const ArgumentChange& change) -> Json {
    return {{"name", change.name}, {"old", change.before}, {"new", change.after}};
  });
}

Json names_json(const std::vector<const Op*>& ops) {
  return json_list(ops, [](const Op* op) -> Json { return {{"op", op->name}}; });
}

bool uneventful(const EntryDrift& entry) {
  return entry.drift.changes.empty() && !entry.breaks() && entry.left.empty();
}

/// Two folders of one release, or of none, are distinguished by their paths.
std::pair<std::string, std::string> release_names(const Catalog& before, const Catalog& after) {
  const auto &a = before.torch_version(), &b = after.torch_version();
  if (a != b) return {a, b};
  return {before.torch_dir().string(), after.torch_dir().string()};
}

std::string entry_text(const EntryDrift& entry, const std::string& old_name, const std::string& new_name) {
  const OpDrift& drift = entry.drift;
  std::vector<std::string> words;
  for (const auto change : drift.changes) words.emplace_back(to_string(change));
  if (has(drift, OpChange::Schema) && drift.same_signature) words.back() += ", with the same C++ types";
  if (!entry.left.empty()) words.push_back("left out: " + entry.left);
  std::string text =
      fmt::format("  {} line {}: '{}' ({}{}): {}\n", entry.breaks() ? "BREAK" : "note ", entry.at.line, entry.op,
                  entry.strategy, entry.selection.empty() ? "" : fmt::format(", by '{}'", entry.selection),
                  fmt::format("{}", fmt::join(words, "; ")));
  if (has(drift, OpChange::Schema)) text += beside(*drift.before, *drift.after, old_name, new_name);
  for (const auto& reason : entry.broken) text += fmt::format("      {}\n", reason);
  if (drift.replacement != nullptr)
    text += fmt::format("      possible replacement: {}\n", schema_of(*drift.replacement));
  return text;
}

Json entry_json(const EntryDrift& entry) {
  const OpDrift& drift = entry.drift;
  auto changes = json_list(drift.changes, [](OpChange change) { return to_string(change); });
  auto reasons = Json::array();
  if (entry.schema_broke) reasons.push_back("its schema changed");
  for (const auto& reason : entry.broken) reasons.push_back(reason);
  const char* status = !entry.left.empty() && drift.after != nullptr ? "left out"
                       : drift.after == nullptr                      ? "removed"
                       : drift.before == nullptr                     ? "new"
                       : drift.changes.empty()                       ? "same"
                                                                     : "changed";
  Json json = {{"op", entry.op},
               {"strategy", entry.strategy},
               {"line", entry.at.line},
               {"column", entry.at.column},
               {"selection", entry.selection},
               {"status", status},
               {"changes", std::move(changes)},
               {"breaks", entry.breaks()},
               {"reasons", std::move(reasons)}};
  if (!entry.left.empty()) json["left"] = entry.left;
  if (drift.before != nullptr && !drift.changes.empty()) json["old"] = schema_of(*drift.before);
  if (drift.after != nullptr && !drift.changes.empty()) json["new"] = schema_of(*drift.after);
  if (has(drift, OpChange::Schema)) {
    json["arguments"] = arguments_json(*drift.before, *drift.after);
    json["same_signature"] = drift.same_signature;
  }
  if (drift.replacement != nullptr)
    json["replaced_by"] = {{"op", drift.replacement->name}, {"schema", schema_of(*drift.replacement)}};
  return json;
}

}  // namespace

Json catalog_diff_json(const CatalogDiff& diff) {
  auto changed = Json::array();
  for (const auto& [before, after] : diff.changed)
    changed.push_back({{"op", before->name}, {"old", schema_of(*before)}, {"new", schema_of(*after)}});
  return {{"added", names_json(diff.added)}, {"removed", names_json(diff.removed)}, {"changed", std::move(changed)}};
}

std::string catalog_diff_text(const CatalogDiff& diff, const Catalog& before, const Catalog& after) {
  const auto [a, b] = release_names(before, after);
  std::string text = fmt::format("PyTorch {} -> {}: {} added, {} removed, {} changed\n", a, b, diff.added.size(),
                                 diff.removed.size(), diff.changed.size());
  for (const Op* op : diff.added) text += fmt::format("  added    {}\n", schema_of(*op));
  for (const Op* op : diff.removed) {
    text += fmt::format("  removed  {}\n", schema_of(*op));
    if (const Op* other = find_replacement(*op, before, after))
      text += fmt::format("           possible replacement: {}\n", schema_of(*other));
  }
  for (const auto& [old_op, new_op] : diff.changed)
    text += fmt::format("  changed  {}\n{}", old_op->name, beside(*old_op, *new_op, a, b));
  return text;
}

Json spec_drift_json(const SpecDrift& drift, const Spec& spec, const Catalog& before, const Catalog& after) {
  auto ops = Json::array(), added = Json::array(), selections = Json::array();
  for (const auto& entry : drift.ops) ops.push_back(entry_json(entry));
  for (const auto& set : drift.added)
    added.push_back({{"entry", *set.entry}, {"line", set.entry.at.line}, {"ops", set.ops}});
  for (const auto& wrong : drift.selections)
    selections.push_back({{"code", wrong.code}, {"message", wrong.message}, {"line", wrong.at.line}});
  return {{"spec", spec.path.string()},         {"torch", before.torch_version()}, {"against", after.torch_version()},
          {"breaks", drift.breaks()},           {"ops", std::move(ops)},           {"new_in_sets", std::move(added)},
          {"selections", std::move(selections)}};
}

std::string spec_drift_text(const SpecDrift& drift, const Spec& spec, const Catalog& before, const Catalog& after) {
  const auto [a, b] = release_names(before, after);
  std::string text = fmt::format("{}: from PyTorch {} to {}\n", spec.path.string(), a, b);
  std::size_t same = 0;
  for (const auto& entry : drift.ops) {
    if (uneventful(entry))
      ++same;
    else
      text += entry_text(entry, a, b);
  }
  for (const auto& wrong : drift.selections) text += fmt::format("  BREAK line {}: {}\n", wrong.at.line, wrong.message);
  for (const auto& set : drift.added)
    text +=
        fmt::format("  new   line {}: '{}' would bring {}\n", set.entry.at.line, *set.entry, fmt::join(set.ops, ", "));
  const auto breaks = drift.breaks();
  return text + fmt::format("{} of {} operators unchanged; {}\n", same, drift.ops.size(),
                            breaks == 0 ? "nothing of the spec breaks" : fmt::format("{} break", breaks));
}

}  // namespace openreg_gen
