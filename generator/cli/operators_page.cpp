#include "cli/operators_page.h"

#include "base/text.h"
#include "catalog/schema_diff.h"
#include "cli/answer.h"
#include "diag/failure.h"
#include "render/data_dir.h"
#include "tree/disk.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

/// JSON inside a script element, which can't contain "</script>" or "<!--".
std::string for_script(const nlohmann::json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

/// The number of a value in a list that grows.
template <typename Text>
std::size_t number_of(const Text& value, nlohmann::json& list, std::map<std::string, std::size_t, std::less<>>& known) {
  const auto [at, added] = known.emplace(value, list.size());
  if (added) list.push_back(value);
  return at->second;
}

}  // namespace

std::string page_of(std::string_view name, const nlohmann::json& data) {
  std::string html = read_data(find_data().templates / "pages" / name);
  replace_all(html, "@DATA@", for_script(data));
  return html;
}

std::string operators_html(const OperatorsPage& page) {
  nlohmann::json data = {{"title", page.title},
                         {"about", page.about},
                         {"command", page.command},
                         {"kinds", nlohmann::json::array()},
                         {"families", nlohmann::json::array()},
                         {"needs", mapped(kNeeds, [](Need need) { return to_string(need); })},
                         {"places", nlohmann::json::array()},
                         {"rows", nlohmann::json::array()},
                         {"interfaces", page.interfaces},
                         {"findings", page.findings},
                         {"changes", page.changes},
                         {"unlocks", page.unlocks}};
  for (const auto coverage : kCoverages) data["kinds"].push_back(to_string(coverage));
  std::map<std::string, std::size_t, std::less<>> families, places;
  for (const auto family : all_families()) {
    const auto of_family = [&](const PageRow& row) { return row.coverage->family == family; };
    if (std::ranges::any_of(page.rows, of_family)) number_of(family, data["families"], families);
  }
  std::vector<PageRow> rows = page.rows;
  std::ranges::stable_sort(rows, {}, [](const PageRow& row) { return order_of(*row.coverage, row.need, row.calls); });
  for (const PageRow& row : rows) {
    const Op& op = *row.coverage->op;
    data["rows"].push_back(
        {op.name, static_cast<int>(row.coverage->coverage), families.at(std::string(row.coverage->family)),
         row.coverage->how, without_namespace(op.schema).substr(op.name.size()), static_cast<int>(row.need),
         row.at.empty() ? -1 : static_cast<int>(number_of(row.at, data["places"], places)), row.add, row.calls});
  }
  return page_of("operators.html", data);
}

}  // namespace openreg_gen
