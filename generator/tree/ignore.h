// .openreg-gen/ignore: outputs that are never to be rendered.
//
// One pattern a line, relative to the tree: `*` and `?` stay within a name, `**` crosses folders, `[a-z]` is a set, a
// `/` at the end means all that is in the folder; `#` begins a comment line.
#pragma once

#include "tree/disk.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

inline constexpr std::string_view kIgnore = ".openreg-gen/ignore";

/// True if `path` is meant by `glob`. Both as in the file; a trailing '/' was turned into "/**".
bool glob_matches(std::string_view glob, std::string_view path);

class Ignore {
 public:
  Ignore() = default;
  /// Throws Failure(BadInput, E0520) with file:line for a pattern that no path can match: absolute, climbing, negated,
  /// an unclosed set, a backslash.
  explicit Ignore(std::string_view text);
  bool matches(std::string_view path) const;

  struct Pattern {
    std::string glob;
    int line = 0;
  };
  const std::vector<Pattern>& patterns() const { return patterns_; }

 private:
  std::vector<Pattern> patterns_;
};

/// The tree's patterns; none if there is no such file.
Ignore read_ignore(const Disk& disk);

}  // namespace openreg_gen
