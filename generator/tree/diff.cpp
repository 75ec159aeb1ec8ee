#include "tree/diff.h"

#include "base/text.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::ptrdiff_t kContext = 3;
constexpr std::ptrdiff_t kMostEdits = 4000;  // the search needs the square of it; beyond, the middle is replaced whole

struct Edit {
  char kind;  // ' ', '-' or '+'
  std::string_view line;
};

void replace_whole(const Lines& a, const Lines& b, std::vector<Edit>& out) {
  for (std::string_view line : a) out.push_back({'-', line});
  for (std::string_view line : b) out.push_back({'+', line});
}

/// Myers' greedy shortest edit script: furthest[k] is the furthest x on diagonal k = x - y after d edits.
void myers(const Lines& a, const Lines& b, std::vector<Edit>& out) {
  const auto n = std::ssize(a), m = std::ssize(b);
  const std::ptrdiff_t most = std::min(n + m, kMostEdits);
  std::vector<std::vector<std::ptrdiff_t>> trace;  // furthest[-d..d] before step d
  std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
  const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& { return furthest[static_cast<std::size_t>(k + most + 1)]; };
  const auto goes_down = [](auto&& v, std::ptrdiff_t k, std::ptrdiff_t d) {
    return k == -d || (k != d && v(k - 1) < v(k + 1));
  };
  std::ptrdiff_t d = 0;
  for (bool found = false; !found; ++d) {
    if (d > most) return replace_whole(a, b, out);
    trace.emplace_back(furthest.begin() + (most + 1 - d - 1), furthest.begin() + (most + 1 + d + 2));
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = goes_down(at, k, d) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      at(k) = x;
      if (x >= n && x - k >= m) found = true;
      if (found) break;
    }
  }
  std::vector<Edit> reversed;
  std::ptrdiff_t x = n, y = m;
  while (--d >= 0) {
    const auto& v = trace[static_cast<std::size_t>(d)];
    const auto old = [&](std::ptrdiff_t k) { return v[static_cast<std::size_t>(k + d + 1)]; };
    const std::ptrdiff_t k = x - y;
    const bool down = d > 0 && goes_down(old, k, d);
    const std::ptrdiff_t from_x = d == 0 ? 0 : down ? old(k + 1) : old(k - 1);
    const std::ptrdiff_t from_y = d == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
    while (x > from_x && y > from_y) {
      reversed.push_back({' ', a[static_cast<std::size_t>(--x)]});
      --y;
    }
    if (d > 0)
      reversed.push_back(down ? Edit{'+', b[static_cast<std::size_t>(--y)]}
                              : Edit{'-', a[static_cast<std::size_t>(--x)]});
  }
  out.insert(out.end(), reversed.rbegin(), reversed.rend());
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
  myers(Lines(a.begin() + head, a.end() - tail), Lines(b.begin() + head, b.end() - tail), edits);
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
