#include "cli/coverage_view.h"

#include "cli/answer.h"
#include "cli/operators_page.h"
#include "cli/terminal_text.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

std::size_t width_of(Coverage coverage) { return std::max(to_string(coverage).size(), std::size_t{9}); }

std::vector<std::string> cells(std::string name, const CoverageTotals& totals) {
  std::vector<std::string> row = {std::move(name), fmt::format("{:>5}", totals.all())};
  for (const auto coverage : kCoverages) row.push_back(fmt::format("{:>{}}", totals.of(coverage), width_of(coverage)));
  return row;
}

}  // namespace

Json totals_json(const CoverageTotals& totals) {
  Json json = {{"all", totals.all()}};
  for (const auto coverage : kCoverages) json[std::string(to_string(coverage))] = totals.of(coverage);
  return json;
}

std::string coverage_text(const CoverageTable& table, const CoverageSubject& subject) {
  std::vector<std::vector<std::string>> rows = {{"FAMILY", "  ALL"}};
  for (const auto coverage : kCoverages)
    rows[0].push_back(fmt::format("{:>{}}", to_string(coverage), width_of(coverage)));
  for (const auto& [family, totals] : table.families) rows.push_back(cells(std::string(family), totals));
  rows.push_back(cells("total", table.totals));
  return fmt::format("{}, PyTorch {}\n\n{}", subject.name, subject.torch, layout_table(rows, 0));
}

std::string coverage_list(const CoverageTable& table, Coverage coverage) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "FAMILY", "HOW"}};
  for (const auto& row : table.rows)
    if (row.coverage == coverage) rows.push_back({row.op->name, std::string(row.family), row.how});
  return layout_table(rows, terminal_width());
}

Json coverage_json(const CoverageTable& table, const CoverageSubject& subject) {
  auto families = json_list(table.families, [](const auto& each) {
    Json row = {{"family", each.first}};
    row.update(totals_json(each.second));
    return row;
  });
  auto ops = json_list(table.rows, [](const CoverageRow& row) -> Json {
    return {{"op", row.op->name},
            {"coverage", to_string(row.coverage)},
            {"family", row.family},
            {"class", to_string(row.op->op_class)},
            {"how", row.how}};
  });
  return {{"backend", subject.name},
          {"torch", subject.torch},
          {"totals", totals_json(table.totals)},
          {"families", std::move(families)},
          {"ops", std::move(ops)}};
}

std::string coverage_html(const CoverageTable& table, const CoverageSubject& subject) {
  OperatorsPage page{.title = "Operator coverage",
                     .about = fmt::format("{}, PyTorch {}", subject.name, subject.torch),
                     .command = "openreg-gen ops coverage",
                     .rows = {}};
  for (const CoverageRow& row : table.rows) {
    const bool add = row.coverage == Coverage::Missing || row.coverage == Coverage::Fallback;
    const std::string& kernel = row.op->structured_delegate.empty() ? row.op->name : row.op->structured_delegate;
    page.rows.push_back({&row, need_of(*row.op, false), {}, add ? kernel : ""});
  }
  return operators_html(page);
}

}  // namespace openreg_gen
