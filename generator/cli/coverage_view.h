// Coverage as text, as JSON, and as a page.
#pragma once

#include "model/coverage.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// The subject of the table, for titles.
struct CoverageSubject {
  std::string name;   // the backend's, or "a backend without operators of its own"
  std::string torch;  // "2.13.0"
};

/// {"all": 3101, "native": ...}
nlohmann::ordered_json totals_json(const CoverageTotals& totals);
/// One row per family, one column per kind of coverage.
std::string coverage_text(const CoverageTable& table, const CoverageSubject& subject);
/// The operators of one kind, with the reason.
std::string coverage_list(const CoverageTable& table, Coverage coverage);
/// {"backend","torch","totals":{...},"families":[{"family","all",...}],"ops":[{"op","coverage","family","class","how"}]}
nlohmann::ordered_json coverage_json(const CoverageTable& table, const CoverageSubject& subject);
/// See cli/operators_page.h. Throws Failure(Environment, E0608).
std::string coverage_html(const CoverageTable& table, const CoverageSubject& subject);

}  // namespace openreg_gen
