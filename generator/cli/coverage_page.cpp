// The page of `openreg-gen ops coverage --html`: templates/coverage.html with the numbers in it, as JSON. As in the
// page of the sweep's report, they are all that goes in, so Jinja2, and a Python, are not needed.
#include "base/text.h"
#include "catalog/schema_diff.h"
#include "cli/coverage_view.h"
#include "render/data_dir.h"

namespace openreg_gen {
namespace {

/// JSON inside a script element: no "</script>" and no "<!--" can come about.
std::string for_script(const nlohmann::json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true)) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

}  // namespace

std::string coverage_html(const CoverageTable& table, const CoverageSubject& subject) {
  nlohmann::json data = {{"backend", subject.name},
                         {"torch", subject.torch},
                         {"kinds", nlohmann::json::array()},
                         {"families", nlohmann::json::array()},
                         {"rows", nlohmann::json::array()}};
  for (const auto coverage : kCoverages) data["kinds"].push_back(to_string(coverage));
  std::map<std::string_view, std::size_t> place;
  for (const auto& [family, totals] : table.families) {
    place.emplace(family, place.size());
    data["families"].push_back(family);
  }
  for (const auto& row : table.rows) {
    const auto schema = without_namespace(row.op->schema);
    data["rows"].push_back({row.op->name, static_cast<int>(row.coverage), place.at(row.family), row.how,
                            schema.substr(row.op->name.size())});
  }
  std::string page = read_data(find_data().templates / "coverage.html");
  replace_all(page, "@DATA@", for_script(data));
  return page;
}

}  // namespace openreg_gen
