#include "diag/diagnostic.h"

#include "base/text.h"

#include <tuple>

namespace openreg_gen {
namespace {

auto key(const Diagnostic& d) { return std::tie(d.at.file, d.at.line, d.at.column, d.code, d.message); }

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }

void Diagnostics::error(std::string code, Location at, std::string message, std::string hint) {
  add({Severity::Error, std::move(code), std::move(message), std::move(at), std::move(hint), {}});
}

std::nullopt_t Diagnostics::fail(std::string code, Location at, std::string message, std::string hint) {
  error(std::move(code), std::move(at), std::move(message), std::move(hint));
  return std::nullopt;
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
  const auto starts = line_starts(text);
  for (auto& d : list_) {
    const auto line = static_cast<std::size_t>(d.at.line);
    if (line < 1 || line > starts.size() || !d.source_line.empty()) continue;
    const std::string_view rest = text.substr(starts[line - 1]);
    d.source_line = rest.substr(0, rest.find_first_of("\r\n"));
  }
}

}  // namespace openreg_gen
