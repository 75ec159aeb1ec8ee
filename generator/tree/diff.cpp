#include "tree/diff.h"

#include "base/text.h"

#include <fmt/format.h>

#include <cstdint>

namespace openreg_gen {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::ptrdiff_t kContext = 3;
constexpr std::size_t kMostPairs = 1 << 24;  // of lines that are compared; beyond, the middle is replaced whole

struct Edit {
  char kind;  // ' ', '-' or '+'
  std::string_view line;
};

/// What a longest common subsequence leaves.
void align(const Lines& a, const Lines& b, std::vector<Edit>& out) {
  const std::size_t n = a.size(), m = b.size() <= kMostPairs / (n + 1) ? b.size() : 0;
  std::vector<std::uint16_t> table((n + 1) * (m + 1));
  const auto common = [&](std::size_t i, std::size_t j) -> std::uint16_t& { return table[i * (m + 1) + j]; };
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      common(i, j) = a[i] == b[j] ? common(i + 1, j + 1) + 1 : std::max(common(i + 1, j), common(i, j + 1));
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[i] == b[j]) {
      out.push_back({' ', a[i++]});
      ++j;
    } else if (i < n && (j == m || common(i + 1, j) >= common(i, j + 1))) {
      out.push_back({'-', a[i++]});
    } else {
      out.push_back({'+', b[j++]});
    }
  }
  for (; j < b.size(); ++j) out.push_back({'+', b[j]});
}

std::vector<Edit> compare(Lines a, Lines b) {
  const auto head = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto most_tail = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())) - head;
  std::ptrdiff_t tail = 0;
  while (tail < most_tail &&
         a[a.size() - 1 - static_cast<std::size_t>(tail)] == b[b.size() - 1 - static_cast<std::size_t>(tail)])
    ++tail;
  std::vector<Edit> edits;
  for (auto it = a.begin(); it != a.begin() + head; ++it) edits.push_back({' ', *it});
  align(Lines(a.begin() + head, a.end() - tail), Lines(b.begin() + head, b.end() - tail), edits);
  for (auto it = a.end() - tail; it != a.end(); ++it) edits.push_back({' ', *it});
  return edits;
}

std::string range(std::ptrdiff_t line, std::ptrdiff_t count) {
  return count == 1 ? fmt::format("{}", line) : fmt::format("{},{}", count == 0 ? line - 1 : line, count);
}

class Writer {
 public:
  explicit Writer(bool colour) : colour_(colour) {}
  void line(std::string_view paint, std::string text) {
    if (!text.empty() && text.back() == '\n') text.pop_back();
    if (colour_) {
      for (char& c : text)
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) c = '?';
    }
    out_ += colour_ && !paint.empty() ? fmt::format("\x1b[{}m{}\x1b[0m\n", paint, text) : text + "\n";
  }
  void edit(const Edit& edit) {
    line(edit.kind == '-' ? "31" : edit.kind == '+' ? "32" : "", edit.kind + std::string(edit.line));
    if (!edit.line.ends_with('\n')) line("", "\\ No newline at end of file");
  }
  std::string take() { return std::move(out_); }

 private:
  bool colour_;
  std::string out_;
};

}  // namespace

std::vector<int> lines_before(std::string_view before, std::string_view after) {
  std::vector<int> lines;
  int line = 1;
  for (const Edit& edit : compare(lines_with_ends(before), lines_with_ends(after))) {
    if (edit.kind != '-') lines.push_back(edit.kind == ' ' ? line : 0);
    if (edit.kind != '+') ++line;
  }
  return lines;
}

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name, bool colour) {
  if (before == after) return {};
  const std::vector<Edit> edits = compare(lines_with_ends(before), lines_with_ends(after));
  const auto size = std::ssize(edits);
  Writer out(colour);
  out.line("1", fmt::format("--- {}", before_name));
  out.line("1", fmt::format("+++ {}", after_name));
  std::ptrdiff_t a_line = 1, b_line = 1;  // of edits[i]
  for (std::ptrdiff_t i = 0; i < size;) {
    if (edits[static_cast<std::size_t>(i)].kind == ' ') {
      ++i, ++a_line, ++b_line;
      continue;
    }
    // A hunk goes on while the next change is within two contexts.
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, i - kContext);
    std::ptrdiff_t last = i;
    for (std::ptrdiff_t j = i; j < size && j - last <= 2 * kContext; ++j)
      if (edits[static_cast<std::size_t>(j)].kind != ' ') last = j;
    const std::ptrdiff_t end = std::min(size, last + kContext + 1);
    const std::ptrdiff_t a_begin = a_line - (i - begin), b_begin = b_line - (i - begin);
    std::ptrdiff_t a_count = 0, b_count = 0;
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      a_count += edits[static_cast<std::size_t>(j)].kind != '+';
      b_count += edits[static_cast<std::size_t>(j)].kind != '-';
    }
    out.line("36", fmt::format("@@ -{} +{} @@", range(a_begin, a_count), range(b_begin, b_count)));
    for (std::ptrdiff_t j = begin; j < end; ++j) out.edit(edits[static_cast<std::size_t>(j)]);
    a_line = a_begin + a_count, b_line = b_begin + b_count;
    i = end;
  }
  return out.take();
}

}  // namespace openreg_gen
