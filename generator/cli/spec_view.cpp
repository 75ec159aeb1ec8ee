#include "cli/ops_view.h"

#include "cli/answer.h"
#include "cli/terminal_text.h"

#include <fmt/format.h>

namespace openreg_gen {

std::string selections_text(const ResolvedSpec& resolved, bool all) {
  std::string text;
  for (const auto& selection : resolved.selections) {
    const auto taken = selection.taken.size(), left = selection.left.size();
    text += fmt::format(
        "  line {}: '{}' ({}): {} operator{}{}\n", selection.entry->name.at.line, *selection.entry->name,
        *selection.entry->strategy, taken, taken == 1 ? "" : "s",
        left == 0 ? "" : fmt::format(", {} left out{}", left, all ? "" : " (--verbose says which, and why)"));
    if (!all) continue;
    std::vector<std::vector<std::string>> rows;
    for (const auto& op : selection.taken) rows.push_back({"    + " + op, ""});
    for (const auto& [op, reason] : selection.left) rows.push_back({"    - " + op, reason});
    text += layout_table(rows, 0);
  }
  return text;
}

nlohmann::ordered_json selections_json(const ResolvedSpec& resolved) {
  using Json = nlohmann::ordered_json;
  const auto left = [](const auto& op) -> Json { return {{"op", op.op}, {"reason", op.reason}}; };
  return json_list(resolved.selections, [&](const SelectionReport& selection) -> Json {
    return {{"entry", *selection.entry->name},
            {"line", selection.entry->name.at.line},
            {"column", selection.entry->name.at.column},
            {"strategy", *selection.entry->strategy},
            {"ops", selection.taken},
            {"left", json_list(selection.left, left)}};
  });
}

std::string spec_ops_table(const ResolvedSpec& resolved, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "STRATEGY", "LINE", "FROM"}};
  for (const ResolvedOp& each : resolved.ops)
    rows.push_back({each.op.name, *each.entry.strategy, std::to_string(each.at().line), std::string(each.selection())});
  return layout_table(rows, width);
}

nlohmann::ordered_json spec_ops_json(const ResolvedSpec& resolved) {
  return json_list(resolved.ops, [](const ResolvedOp& each) -> nlohmann::ordered_json {
    return {{"op", each.op.name},        {"strategy", *each.entry.strategy}, {"class", to_string(each.op.op_class)},
            {"entry", *each.entry.name}, {"line", each.at().line},           {"column", each.at().column}};
  });
}

}  // namespace openreg_gen
