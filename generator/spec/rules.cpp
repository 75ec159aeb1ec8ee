#include "spec/rules.h"

#include "base/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <regex>

namespace openreg_gen {
namespace {

constexpr std::size_t kMaxLine = 200;

/// One code point, moving `at` past it. The text is UTF-8 that was checked.
char32_t next(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t c = more == 0 ? lead : lead & (0x3F >> more);
  for (int i = 0; i < more && at < text.size(); ++i) c = (c << 6) | (static_cast<unsigned char>(text[at++]) & 0x3F);
  return c;
}

/// Characters that hide or reorder what a reader sees (the "trojan source" set), or that end a line somewhere.
bool is_invisible(char32_t c) {
  return c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

bool is_unassigned(char32_t c) {
  return (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE || (c >= 0xE000 && c <= 0xF8FF);
}

}  // namespace

namespace rules {

void line(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  auto& diagnostics = context.diagnostics;
  const auto key = last_part(context.path);
  if (text.find_first_not_of(' ') == std::string_view::npos) {
    diagnostics.error("E0133", node.at, fmt::format("'{}' is blank", key),
                      key == "reason" ? "say why in one line, such as `reason: the device pins nothing`"
                                      : "leave the key out for its default");
    return;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    const char32_t c = next(text, i);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      const std::string name =
          c == '\n' || c == '\r' ? "a line break" : fmt::format("the control character U+{:04X}", unsigned(c));
      diagnostics.error("E0131", node.at, fmt::format("'{}' holds {}", key, name), "it becomes a one-line comment");
      return;
    }
    if (is_invisible(c) || is_unassigned(c)) {
      diagnostics.error("E0132", node.at, fmt::format("'{}' holds the invisible character U+{:04X}", key, unsigned(c)),
                        "text must not look different from what it is");
      return;
    }
  }
  if (text.ends_with('\\')) {
    diagnostics.error("E0134", node.at, fmt::format("'{}' ends in a backslash", key),
                      "it would continue a C++ comment on the next line");
  }
  for (const auto mark : {"\?\?/", "*/"}) {
    if (!includes(text, mark)) continue;
    diagnostics.error("E0134", node.at, fmt::format("'{}' holds '{}'", key, mark),
                      "it would end or continue a C comment");
  }
  if (count > kMaxLine) {
    diagnostics.error("E0133", node.at, fmt::format("'{}' is {} characters long", key, count),
                      fmt::format("at most {}", kMaxLine));
  }
}

void version(const Node& node, RuleContext& context) {
  static const std::regex pep440(
      R"((\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+([.][a-z0-9]+)*)?)");
  if (node.text.size() <= 64 && std::regex_match(node.text, pep440)) return;
  context.error("E0135", node, fmt::format("'{}' is not a version", node.text.substr(0, 64)),
                "PEP 440: such as 0.1.0, 1.2.0rc1 or 1.0.post2");
}

void license(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  int depth = 0;
  bool good = !text.empty() && text.size() <= 120 && text.front() != ' ' && text.back() != ' ';
  for (const char c : text) {
    good = good && (is_letter(c) || is_digit(c) || contains(std::string_view(".+- ()"), c));
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    good = good && depth >= 0;
  }
  if (good && depth == 0) return;
  context.error("E0136", node, fmt::format("'{}' is not an SPDX expression", text.substr(0, 120)),
                "such as BSD-3-Clause, or Apache-2.0 OR MIT; LicenseRef-NAME for your own");
}

void torch_version(const Node& node, RuleContext& context) {
  static const std::regex release(R"(0*\d{1,4}\.0*\d{1,4}(\.0*\d{1,4})?)");
  if (std::regex_match(node.text, release)) return;
  context.error("E0137", node, fmt::format("'{}' is not a PyTorch release", node.text.substr(0, 64)),
                "such as \"2.13\"");
}

void folder(const Node& node, RuleContext& context) {
  const std::string& text = node.text;
  std::string why;
  if (std::ranges::any_of(text, is_control) || contains(text, '\\')) why = "it holds a backslash or control character";
  const fs::path path = fs::path(text).lexically_normal();
  if (text.empty() || path == "." || path == "./") why = "it doesn't name a folder below the spec's folder";
  if (path.is_absolute()) why = "it is absolute";
  if (!path.empty() && *path.begin() == "..") why = "it climbs out of the spec's folder";
  if (!path.empty() && *path.begin() == ".openreg-gen") why = "openreg-gen keeps its own state there";
  if (!why.empty())
    context.error("E0614", node, fmt::format("'{}' can't be the folder of templates: {}", text.substr(0, 80), why),
                  "name a folder beside the spec, such as `templates: templates`");
}

void operator_name(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  const auto dot = text.find('.');
  const bool overload = dot != std::string_view::npos;
  if (text.size() <= 120 && is_identifier(text.substr(0, dot)) && (!overload || is_identifier(text.substr(dot + 1))))
    return;
  const auto colons = text.rfind("::");
  const auto colon = text.find(':');
  const std::string hint =
      colons != std::string_view::npos ? fmt::format("write '{}', without a namespace", text.substr(colons + 2))
      : colon != std::string_view::npos
          ? fmt::format("a space comes after the colon: `{}: {}`", text.substr(0, colon), text.substr(colon + 1, 80))
          : "an operator is 'name' or 'name.overload'";
  context.error("E0150", node, fmt::format("'{}' is not the name of an operator", text.substr(0, 120)), hint);
}

void test_name(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  const auto dot = text.find('.');
  const std::string_view method = dot == std::string_view::npos ? "test" : text.substr(dot + 1);
  if (text.size() <= 200 && is_identifier(text.substr(0, dot)) && is_identifier(method) && method.starts_with("test"))
    return;
  context.error("E0239", node, fmt::format("'{}' is not the name of a test", text.substr(0, 120)),
                "such as TestTorchDeviceType, or TestTorchDeviceType.test_add");
}

}  // namespace rules

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 80)); }

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"", 1},
      {"B", 1},
      {"KiB", 1ull << 10},
      {"MiB", 1ull << 20},
      {"GiB", 1ull << 30},
      {"TiB", 1ull << 40},
      {"KB", 1000},
      {"MB", 1000'000},
      {"GB", 1000'000'000},
      {"TB", 1000'000'000'000},
  };
  for (const auto& [name, factor] : kUnits)
    if (unit == name) return number > (1ull << 62) / factor ? std::nullopt : std::optional(number * factor);
  return std::nullopt;
}

}  // namespace openreg_gen
