// Rules for the texts of a spec: names, versions, one-line texts, expressions.
#pragma once

#include "spec/keys.h"

#include <cstdint>
#include <optional>
#include <string>

namespace openreg_gen::rules {

void backend_name(const Node&, RuleContext&);
void package(const Node&, RuleContext&);
void cpp_namespace(const Node&, RuleContext&);
void class_prefix(const Node&, RuleContext&);
void api_prefix(const Node&, RuleContext&);
void distributed_backend(const Node&, RuleContext&);
void line(const Node&, RuleContext&);           // one line of printable text, safe in every comment and literal
void version(const Node&, RuleContext&);        // PEP 440
void license(const Node&, RuleContext&);        // characters of an SPDX expression
void torch_version(const Node&, RuleContext&);  // "2.13" or "2.13.0": see torch_release()
void operator_name(const Node&, RuleContext&);
void test_name(const Node&, RuleContext&);  // "Class" or "Class.test_name"
void folder(const Node&, RuleContext&);     // a path below the spec's own folder

}  // namespace openreg_gen::rules

namespace openreg_gen {

/// A word of the spec as a message quotes it: its first 80 characters.
std::string shown(std::string_view text);
/// "1GiB", "512 MiB", "4096": bytes; no value if malformed or beyond 2^62.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// "0.5", "1e-3", "+2": its value; no value if malformed or not finite.
std::optional<double> parse_number(std::string_view text);
/// Names that a backend can't use, because PyTorch, C, or Python uses them: words, sorted. In
/// reserved_names.cpp.
extern const std::string_view kTorchNames, kCNames, kHeaderNames, kStdlibModules, kPythonKeywords;
/// True for a keyword of C++ or a reserved namespace of a PyTorch extension.
bool is_cpp_keyword(std::string_view word);

}  // namespace openreg_gen
