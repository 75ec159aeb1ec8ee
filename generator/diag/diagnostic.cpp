#include "diag/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace openreg_gen {
namespace {

auto key(const Diagnostic& d) { return std::tie(d.at.file, d.at.line, d.at.column, d.code, d.message); }

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t end = text.find_first_of("\r\n", start);
    if (end == std::string_view::npos) end = text.size();
    lines.push_back(text.substr(start, end - start));
    const bool crlf = end + 1 < text.size() && text[end] == '\r' && text[end + 1] == '\n';
    start = end + (crlf ? 2 : 1);
  }
  return lines;
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }

void Diagnostics::error(std::string code, Location at, std::string message, std::string hint) {
  add({Severity::Error, std::move(code), std::move(message), std::move(at), std::move(hint), {}});
}

void Diagnostics::warning(std::string code, Location at, std::string message, std::string hint) {
  add({Severity::Warning, std::move(code), std::move(message), std::move(at), std::move(hint), {}});
}

bool Diagnostics::has_errors() const {
  return std::ranges::any_of(list_, [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

void Diagnostics::finish(std::string_view text) {
  std::ranges::stable_sort(list_, [](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  const auto repeats =
      std::ranges::unique(list_, [](const Diagnostic& a, const Diagnostic& b) { return key(a) == key(b); });
  list_.erase(repeats.begin(), repeats.end());
  if (text.empty()) return;
  const auto lines = split_lines(text);
  for (auto& d : list_) {
    const auto line = static_cast<std::size_t>(d.at.line);
    if (line >= 1 && line <= lines.size() && d.source_line.empty()) d.source_line = lines[line - 1];
  }
}

}  // namespace openreg_gen
