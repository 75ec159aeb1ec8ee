// How a verb answers, on standard output. What could not be printed is found at the end, by check_output().
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

void print_text(const std::string& text);

/// The answer of --json, on one line, or indented. What is not UTF-8, as in paths, is replaced.
template <class Json>
void print_json(const Json& json, int indent = -1) {
  print_text(json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// Throws Failure(Environment, E0513) if standard output did not take all that was printed (a full disk).
void check_output();

}  // namespace openreg_gen
