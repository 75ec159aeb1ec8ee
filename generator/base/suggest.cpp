#include "base/suggest.h"

#include "base/text.h"

#include <fmt/ranges.h>

namespace openreg_gen {

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const int rows = static_cast<int>(a.size()), columns = static_cast<int>(b.size());
  if (std::abs(rows - columns) > limit) return limit + 1;
  std::vector<int> before(columns + 1), last(columns + 1), now(columns + 1);
  for (int j = 0; j <= columns; ++j) last[j] = j;
  for (int i = 1; i <= rows; ++i) {
    now[0] = i;
    int best = now[0];
    for (int j = 1; j <= columns; ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
      best = std::min(best, now[j]);
    }
    if (best > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, now);
  }
  return std::min(last[columns], limit + 1);
}

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 200) return {};
  const std::string wanted = lower_case(word);
  int best = std::clamp(static_cast<int>(word.size()) / 3, 1, 4) + 1;
  std::string_view found;
  for (const auto candidate : candidates) {
    const int distance = edit_distance(wanted, lower_case(candidate), best - 1);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
    if (best == 0) break;
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  if (const auto found = closest(word, candidates); !found.empty()) return "did you mean '" + std::string(found) + "'?";
  if (candidates.empty() || candidates.size() > 12) return {};
  return fmt::format("{}{}", candidates.size() == 1 ? "the only choice is " : "one of: ", fmt::join(candidates, ", "));
}

std::string one_of(std::string_view word, std::span<const std::string_view> words) {
  const auto near = closest(word, words);
  return fmt::format("{} of: {}", near.empty() ? "one" : fmt::format("did you mean '{}'? One", near),
                     fmt::join(words, ", "));
}

}  // namespace openreg_gen
