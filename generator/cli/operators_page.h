// The page of all operators: templates/pages/operators.html with the numbers in it, as JSON. `audit --html` and
// `ops coverage --html` write it.
#pragma once

#include "audit/need.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct PageRow {
  const CoverageRow* coverage;
  Need need;
  std::string at = {};      // "Kernels.cpp:12"
  std::string add = {};     // what `openreg-gen add` takes; empty: nothing is to be added
  std::uint64_t calls = 0;  // in a recorded model
};

struct OperatorsPage {
  std::string title, about;
  std::string command;                                  // that prints the same as text
  std::vector<PageRow> rows;                            // shown by need: see audit/need.h
  nlohmann::json interfaces = nlohmann::json::array();  // [group, name, verdict, message, needs, provide]
  nlohmann::json findings = nlohmann::json::array();    // [kind, operator, text, place]
  nlohmann::json changes = nlohmann::json::array();     // [operator, changes, schema now, schema then]
  nlohmann::json unlocks = nlohmann::json::array();     // [operator, how many wait for it, which]
};

/// templates/pages/NAME with JSON in it. Throws Failure(Environment, E0608).
std::string page_of(std::string_view name, const nlohmann::json& data);

/// A self-contained page: no network, no other file. Throws Failure(Environment, E0608).
std::string operators_html(const OperatorsPage& page);

}  // namespace openreg_gen
