#include "diag/render.h"

#include "base/environment.h"
#include "base/text.h"

#include <fmt/format.h>

#include <unistd.h>

namespace openreg_gen {
namespace {

constexpr std::size_t kWidth = 160;  // characters of a source line that are shown

std::string_view to_string(Severity severity) { return word_of("error warning note", severity); }

struct Style {
  std::string_view bold, severity, caret, off;
};

Style style_of(Severity severity, bool colour) {
  if (!colour) return {"", "", "", ""};
  const std::string_view tint = severity == Severity::Error     ? "\033[1;31m"
                                : severity == Severity::Warning ? "\033[1;35m"
                                                                : "\033[1;36m";
  return {"\033[1m", tint, "\033[1;32m", "\033[0m"};
}

/// The user's text must not control the terminal that shows it.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\t' ? ' ' : is_control(c) ? '?' : c;
  return result;
}

/// The part of the line that is shown: long lines are cut around the column.
std::string excerpt(const Diagnostic& d, std::size_t& column) {
  std::vector<std::string_view> characters;
  const std::string_view line = d.source_line;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i + 1;
    while (end < line.size() && continues(line[end])) ++end;
    characters.push_back(line.substr(i, end - i));
    i = end;
  }
  std::size_t first = 0;
  if (characters.size() > kWidth && column > kWidth / 2) first = column - kWidth / 2;
  std::string shown = first > 0 ? "..." : "";
  for (std::size_t i = first; i < characters.size() && i < first + kWidth; ++i) shown += characters[i];
  if (first + kWidth < characters.size()) shown += "...";
  if (first > 0) column = column - first + 3;
  return printable(shown);
}

void render_one(const Diagnostic& d, bool colour, std::string& out) {
  const Style style = style_of(d.severity, colour);
  std::string place = printable(d.at.file);
  if (d.at.line > 0) place += fmt::format(":{}", d.at.line);
  if (d.at.line > 0 && d.at.column > 0) place += fmt::format(":{}", d.at.column);
  if (!d.at.file.empty()) place += ": ";
  out += fmt::format("{0}{4}{2}{1}{5}{6}{2}: {0}{3}{2}\n", style.bold, style.severity, style.off, printable(d.message),
                     place, to_string(d.severity), d.code.empty() ? "" : '[' + d.code + ']');
  if (d.at.line > 0 && d.at.column > 0 && !d.source_line.empty()) {
    auto column = static_cast<std::size_t>(d.at.column);
    const std::string number = std::to_string(d.at.line);
    out += fmt::format("  {} | {}\n", number, excerpt(d, column));
    out += fmt::format("  {:{}} | {:{}}{}^{}\n", "", number.size(), "", column - 1, style.caret, style.off);
  }
  if (!d.hint.empty()) out += "  hint: " + printable(d.hint) + '\n';
}

}  // namespace

std::string render_text(const Diagnostics& diagnostics, bool colour) {
  std::string out;
  for (const auto& d : diagnostics.all()) {
    if (!out.empty()) out += '\n';
    render_one(d, colour, out);
  }
  return out;
}

nlohmann::ordered_json diagnostics_json(const Diagnostics& diagnostics) {
  using Json = nlohmann::ordered_json;
  const auto number = [](int counted) { return counted > 0 ? Json(counted) : Json(); };
  auto list = Json::array();
  for (const auto& d : diagnostics.all()) {
    list.push_back({{"code", d.code},
                    {"severity", to_string(d.severity)},
                    {"message", d.message},
                    {"file", d.at.file.empty() ? Json() : Json(d.at.file)},
                    {"line", number(d.at.line)},
                    {"column", number(d.at.column)},
                    {"hint", d.hint}});
  }
  return list;
}

std::string github_annotation(Severity severity, const Location& at, std::string_view title, std::string_view message) {
  const auto escaped = [](std::string_view text, std::string_view more = "") {
    std::string out;
    for (const char c : text)
      out += contains("%\r\n" + std::string(more), c) ? fmt::format("%{:02X}", c) : std::string(1, c);
    return out;
  };
  std::string out = fmt::format("::{} ", severity == Severity::Note ? "notice" : to_string(severity));
  if (!at.file.empty()) out += "file=" + escaped(at.file, ":,") + ",";
  if (at.line > 0) out += fmt::format("line={},", at.line);
  if (at.column > 0) out += fmt::format("col={},", at.column);
  return out + "title=" + escaped(title, ":,") + "::" + escaped(message) + "\n";
}

bool colour_wanted(int descriptor) {
  const std::string term = environment("TERM");
  const bool refused = !environment("NO_COLOR").empty() || term.empty() || term == "dumb";
  return !refused && isatty(descriptor) == 1;
}

}  // namespace openreg_gen
