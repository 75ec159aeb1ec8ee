// How operators are shown: as rows, as a page, as JSON. Pure.
#pragma once

#include "catalog/catalog.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct Strategy;

/// Ops whose name holds `pattern` (letter case aside), or matches it as a glob where it holds one of * ? [; sorted.
/// An empty pattern matches all.
std::vector<const Op*> match_ops(const Catalog& catalog, const std::string& pattern);
/// "did you mean 'add.Tensor'?", or empty.
std::string suggest_op(const Catalog& catalog, std::string_view word);

std::string ops_table(const std::vector<const Op*>& ops, std::size_t width);
/// What is printed where a base name has several overloads, and one of them has to be named.
std::string overloads_table(const std::string& name, const std::vector<const Op*>& overloads, std::size_t width);
std::string op_page(const Op& op, std::size_t width);
/// Which strategies fit, and why others don't; `best` (may be null): the one that is chosen, and `why`.
std::string strategies_table(const Op& op, const Strategy* best, const std::string& why, std::size_t width);
nlohmann::ordered_json op_summary(const Op& op);  // an element of `ops --json`
nlohmann::ordered_json op_details(const Op& op);  // what `ops show --json` prints
/// "structured: one kernel serves all forms of the group".
std::string about_class(const Op& op);
/// "at::Tensor & add_out(" and one argument a line.
std::string op_declaration(const Op& op);

}  // namespace openreg_gen
