#include "spec/parse_tests.h"

#include "spec/keys.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace openreg_gen {
namespace {

Located<std::string> text(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  return node == nullptr ? Located<std::string>{} : Located<std::string>{node->text, node->at};
}

Located<double> number(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  return node == nullptr ? Located<double>{} : Located<double>{parse_number(node->text).value_or(0), node->at};
}

/// The items of a list that may not be there.
const std::vector<Node>& items(const Node& map, std::string_view key) {
  static const std::vector<Node> none;
  const Node* list = map.find(key);
  return list == nullptr ? none : list->items;
}

void both_tolerances(const OpTests& tests, Diagnostics& diagnostics) {
  if (tests.rtol.given() == tests.atol.given()) return;
  const bool rtol = tests.rtol.given();
  diagnostics.error("E0235", rtol ? tests.rtol.at : tests.atol.at,
                    fmt::format("'{}' is given without '{}'", rtol ? "rtol" : "atol", rtol ? "atol" : "rtol"),
                    rtol ? "such as `atol: 1.0e-5`" : "such as `rtol: 1.0e-3`");
}

bool is_false(const Node& node) { return node.text[0] == 'f' || node.text[0] == 'F'; }

}  // namespace

OpTests read_op_tests(const Node* map, Diagnostics& diagnostics) {
  OpTests out;
  if (map == nullptr) return out;
  if (const Node* run = map->find("run")) out.run = {!is_false(*run), run->at};
  if (const Node* dtypes = map->find("dtypes")) {
    out.dtypes.at = dtypes->at;
    for (const Node& item : dtypes->items) out.dtypes.value.push_back({item.text, item.at});
  }
  out.rtol = number(*map, "rtol");
  out.atol = number(*map, "atol");
  both_tolerances(out, diagnostics);
  const auto checks = find_key("ops.*.tests.skip[].check")->values;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Node& item : items(*map, "skip")) {
    const auto check = text(item, "check");
    if (!check.given()) continue;  // reported as missing
    TestSkip skip{{static_cast<TestCheck>(std::ranges::find(checks, *check) - checks.begin()), check.at},
                  text(item, "dtype"),
                  text(item, "reason")};
    if (!seen.emplace(*check, *skip.dtype).second)
      diagnostics.error("E0237", check.at, fmt::format("the check '{}' is skipped twice", *check), "keep one");
    out.skip.push_back(std::move(skip));
  }
  return out;
}

TestsSpec read_tests(const Node* map, Diagnostics& diagnostics) {
  TestsSpec out;
  if (map == nullptr) return out;
  if (const Node* samples = map->find("samples")) out.samples = {std::stoi(samples->text), samples->at};
  std::set<std::string> dtypes, tests;
  for (const Node& item : items(*map, "tolerances")) {
    TestsSpec::Tolerance tolerance{text(item, "dtype"), number(item, "rtol"), number(item, "atol")};
    if (!tolerance.dtype.given()) continue;
    if (!dtypes.insert(*tolerance.dtype).second)
      diagnostics.error("E0237", tolerance.dtype.at,
                        fmt::format("the tolerances of '{}' are given twice", *tolerance.dtype), "keep one");
    out.tolerances.push_back(std::move(tolerance));
  }
  for (const Node& item : items(*map, "exclude")) {
    TestsSpec::Exclusion exclusion{text(item, "test"), text(item, "reason")};
    if (!exclusion.test.given()) continue;
    if (!tests.insert(*exclusion.test).second)
      diagnostics.error("E0237", exclusion.test.at, fmt::format("the test '{}' is excluded twice", *exclusion.test),
                        "keep one");
    out.exclude.push_back(std::move(exclusion));
  }
  return out;
}

}  // namespace openreg_gen
