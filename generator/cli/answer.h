// Prints the answers of verbs on standard output, and the errors of command lines and runs. check_output() finds failed
// writes at the end.
#pragma once

#include "diag/failure.h"
#include "diag/render.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace openreg_gen {

struct Verb;

void print_text(const std::string& text);

/// The answer of --json, an object, on one line or indented. Bytes that are not UTF-8, as in paths, are replaced.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  Json all = Json::object();
  all["schema_version"] = kJsonVersion;
  all.update(json);
  return all.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class Json>
void print_json(const Json& json, int indent = -1) {
  print_text(json_text(json, indent));
}

/// How --help shows the value of a flag that takes one only behind "=": --json, --json=FILE.
constexpr const char* kOptionalFile = "[=FILE]";

/// Writes a file of --json, --html or --out whole or not at all; "-" is standard output. Throws Failure(BadInput,
/// E0500) for a folder, Failure(Environment, E0506).
void write_file(const std::string& file, const std::string& text);

/// `make` of each element, as a list.
template <class List, class Make>
nlohmann::ordered_json json_list(const List& list, Make make) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& each : list) out.push_back(make(each));
  return out;
}

/// Throws Failure(Environment, E0513) if standard output did not accept everything that was printed (a full disk).
void check_output();

/// How errors are printed: --json, --error-format.
enum class ErrorFormat { Text, Json, Github };

/// Where the verb is in a command line: behind a -C. The size if there is none.
std::size_t place_of_verb(const std::vector<std::string>& words);

/// Prints the requested help or version (0), else the error in the command line's `words`, with did-you-mean for verbs
/// and flags (2). `all`: the verbs.
int usage_error(const CLI::App& app, const CLI::ParseError& error, const Verb& all,
                const std::vector<std::string>& words);

/// `openreg-gen: error[E0501]: ...` and the hint on stderr, or as diagnostics on stdout. Returns the exit code.
int print_failure(const Failure& failure, ErrorFormat format);

/// Diagnostics on stdout, in one of the formats for programs.
void print_diagnostics(const Diagnostics& diagnostics, ErrorFormat format);

/// A message with one of openreg-gen's codes, without ending the run.
void print_error(const std::string& code, const std::string& message, const std::string& hint);

}  // namespace openreg_gen
