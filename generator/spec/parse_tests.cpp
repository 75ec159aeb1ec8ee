// The parts of a spec that say how operators are tested: `ops.*.tests` and `tests`.
#include "spec/read_keys.h"

#include <fmt/format.h>

#include <set>

namespace openreg_gen {
namespace {

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

}  // namespace

void read_skips(OpTests& tests, const Node* map, Diagnostics& diagnostics) {
  if (map == nullptr) return;
  both_tolerances(tests, diagnostics);
  std::set<std::pair<std::string, std::string>> seen;
  for (const Node& item : items(*map, "skip")) {
    const Node* check = item.find("check");
    if (check == nullptr) continue;  // reported as missing
    TestSkip skip;
    read_keys(skip, "ops.*.tests.skip[]", &item);
    if (!seen.emplace(check->text, *skip.dtype).second)
      diagnostics.error("E0237", check->at, fmt::format("the check '{}' is skipped twice", check->text), "keep one");
    tests.skip.push_back(std::move(skip));
  }
}

void read_tests(TestsSpec& out, const Node* map, Diagnostics& diagnostics) {
  if (map == nullptr) return;
  std::set<std::string> dtypes, tests;
  for (const Node& item : items(*map, "tolerances")) {
    TestsSpec::Tolerance tolerance;
    read_keys(tolerance, "tests.tolerances[]", &item);
    if (!tolerance.dtype.given()) continue;
    if (!dtypes.insert(*tolerance.dtype).second)
      diagnostics.error("E0237", tolerance.dtype.at,
                        fmt::format("the tolerances of '{}' are given twice", *tolerance.dtype), "keep one");
    out.tolerances.push_back(std::move(tolerance));
  }
  for (const Node& item : items(*map, "exclude")) {
    TestsSpec::Exclusion exclusion;
    read_keys(exclusion, "tests.exclude[]", &item);
    if (!exclusion.test.given()) continue;
    if (!tests.insert(*exclusion.test).second)
      diagnostics.error("E0237", exclusion.test.at, fmt::format("the test '{}' is excluded twice", *exclusion.test),
                        "keep one");
    out.exclude.push_back(std::move(exclusion));
  }
}

}  // namespace openreg_gen
