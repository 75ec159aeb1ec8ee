#include "cli/spec_view.h"

#include "cli/terminal_text.h"
#include "spec/keys.h"

#include <fmt/format.h>

namespace openreg_gen {

std::string_view to_string(Strategy strategy) {
  return find_key("ops.*.strategy")->values[static_cast<std::size_t>(strategy)];
}

std::string selections_text(const Spec& spec, bool all) {
  std::string text;
  for (const auto& selection : spec.selections) {
    const auto taken = selection.taken.size(), left = selection.left.size();
    text += fmt::format(
        "  line {}: '{}' ({}): {} operator{}{}\n", selection.entry.at.line, *selection.entry,
        to_string(selection.strategy), taken, taken == 1 ? "" : "s",
        left == 0 ? "" : fmt::format(", {} left out{}", left, all ? "" : " (--verbose says which, and why)"));
    if (!all) continue;
    std::vector<std::vector<std::string>> rows;
    for (const auto& op : selection.taken) rows.push_back({"    + " + op, ""});
    for (const auto& [op, reason] : selection.left) rows.push_back({"    - " + op, reason});
    text += layout_table(rows, 0);
  }
  return text;
}

nlohmann::ordered_json selections_json(const Spec& spec) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& selection : spec.selections) {
    auto left = nlohmann::ordered_json::array();
    for (const auto& [op, reason] : selection.left) left.push_back({{"op", op}, {"reason", reason}});
    list.push_back({{"entry", *selection.entry},
                    {"line", selection.entry.at.line},
                    {"column", selection.entry.at.column},
                    {"strategy", to_string(selection.strategy)},
                    {"ops", selection.taken},
                    {"left", std::move(left)}});
  }
  return list;
}

std::string spec_ops_table(const Spec& spec, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "STRATEGY", "LINE", "FROM"}};
  for (const OpSpec& op : spec.ops)
    rows.push_back({*op.name, std::string(to_string(*op.strategy)), std::to_string(op.name.at.line), op.selection});
  return layout_table(rows, width);
}

nlohmann::ordered_json spec_ops_json(const Spec& spec, const Catalog& catalog) {
  auto list = nlohmann::ordered_json::array();
  for (const OpSpec& op : spec.ops) {
    list.push_back({{"op", *op.name},
                    {"strategy", to_string(*op.strategy)},
                    {"class", to_string(catalog.find(*op.name)->op_class)},
                    {"entry", op.selection.empty() ? *op.name : op.selection},
                    {"line", op.name.at.line},
                    {"column", op.name.at.column}});
  }
  return list;
}

}  // namespace openreg_gen
