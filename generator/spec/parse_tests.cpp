#include "spec/parse_tests.h"

#include "spec/read_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace openreg_gen {
namespace {

/// The value of a key, nothing if it is not there.
template <typename T>
Located<T> value(const Node& map, std::string_view key) {
  Located<T> out;
  read(out, &map, key);
  return out;
}
constexpr auto text_of = value<std::string>;
constexpr auto number_of = value<double>;

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

OpTests read_op_tests(const Node* map, Diagnostics& diagnostics) {
  OpTests out;
  if (map == nullptr) return out;
  read(out.run, map, "run");
  out.dtypes.value = read_list(map, "dtypes", &out.dtypes.at);
  read(out.rtol, map, "rtol");
  read(out.atol, map, "atol");
  both_tolerances(out, diagnostics);
  std::set<std::pair<std::string, std::string>> seen;
  for (const Node& item : items(*map, "skip")) {
    const auto check = text_of(item, "check");
    if (!check.given()) continue;  // reported as missing
    TestSkip skip;
    read_word(skip.check, &item, "check", "ops.*.tests.skip[].check");
    read(skip.dtype, &item, "dtype");
    read(skip.reason, &item, "reason");
    if (!seen.emplace(*check, *skip.dtype).second)
      diagnostics.error("E0237", check.at, fmt::format("the check '{}' is skipped twice", *check), "keep one");
    out.skip.push_back(std::move(skip));
  }
  return out;
}

TestsSpec read_tests(const Node* map, Diagnostics& diagnostics) {
  TestsSpec out;
  if (map == nullptr) return out;
  read(out.samples, map, "samples");
  std::set<std::string> dtypes, tests;
  for (const Node& item : items(*map, "tolerances")) {
    TestsSpec::Tolerance tolerance{text_of(item, "dtype"), number_of(item, "rtol"), number_of(item, "atol")};
    if (!tolerance.dtype.given()) continue;
    if (!dtypes.insert(*tolerance.dtype).second)
      diagnostics.error("E0237", tolerance.dtype.at,
                        fmt::format("the tolerances of '{}' are given twice", *tolerance.dtype), "keep one");
    out.tolerances.push_back(std::move(tolerance));
  }
  for (const Node& item : items(*map, "exclude")) {
    TestsSpec::Exclusion exclusion{text_of(item, "test"), text_of(item, "reason")};
    if (!exclusion.test.given()) continue;
    if (!tests.insert(*exclusion.test).second)
      diagnostics.error("E0237", exclusion.test.at, fmt::format("the test '{}' is excluded twice", *exclusion.test),
                        "keep one");
    out.exclude.push_back(std::move(exclusion));
  }
  return out;
}

}  // namespace openreg_gen
