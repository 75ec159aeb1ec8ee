#include "model/tests.h"

#include "spec/keys.h"
#include "texts/escape.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

std::string_view word(std::string_view key, std::size_t index) { return find_key(key)->values[index]; }

/// A dtype as Python text: "float32" in quotes, or None for all.
std::string python_dtype(const SpecValue<std::string>& dtype) {
  return dtype.given() ? python_literal(*dtype) : std::string("None");
}

/// As Python writes it: 0.001, 1e-05, 1.0.
std::string python_number(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void TestedItem::print(Fields out) const {
  PRINT_FIELDS(out, op, forms, serves, toleranced, strategy, tolerance, dtypes, skips);
  if (releases) releases->print(out);
}

TestedItem tested_item(const Op& op, const OpSpec& written, const Catalog& catalog) {
  const OpTests& tests = written.tests;
  TestedItem item;
  item.op = op.name;
  item.strategy = *written.strategy;
  item.forms = op.variants;
  item.serves = served_forms(op, catalog);
  item.toleranced = tests.rtol.given();
  item.tolerance =
      item.toleranced ? fmt::format("({}, {})", python_number(*tests.rtol), python_number(*tests.atol)) : "None";
  for (const auto& dtype : tests.dtypes.given() ? *tests.dtypes : *written.dtypes)
    item.dtypes.push_back(python_literal(*dtype));
  for (const TestSkip& skip : tests.skip) {
    item.skips.push_back({std::string(word("ops.*.tests.skip[].check", static_cast<std::size_t>(*skip.check))),
                          python_dtype(skip.dtype), python_literal(*skip.reason)});
  }
  return item;
}

TestsContext::TestsContext(const TestsSpec& spec) : samples(*spec.samples) {
  for (const auto& row : spec.tolerances)
    tolerances.push_back({*row.dtype, python_number(*row.rtol), python_number(*row.atol)});
  for (const auto& row : spec.exclude) {
    const auto dot = row.test->find('.');
    excluded.push_back({row.test->substr(0, dot), dot == std::string::npos ? "*" : row.test->substr(dot + 1),
                        python_literal(*row.reason)});
  }
}

}  // namespace openreg_gen
