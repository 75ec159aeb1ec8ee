#include "tree/ignore.h"

#include "diag/text.h"

#include "diag/failure.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

[[noreturn]] void bad(int line, const std::string& why) {
  throw Failure(Exit::BadInput, "E0520", std::string(kIgnore) + ":" + std::to_string(line) + ": " + why,
                "a pattern is a path in the tree, as `tests/cpp/*` or `**/*.md`");
}

void check_glob(std::string_view glob, int line) {
  if (glob[0] == '!') bad(line, "'!' takes nothing back here: patterns only add");
  if (glob[0] == '/') bad(line, "'" + std::string(glob) + "' is absolute");
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '[') {
      const std::size_t close = glob.find(']', i + 2);
      if (close == std::string_view::npos) bad(line, "'[' without ']'");
      i = close;
    }
  }
  // Without its wildcards it must be a path.
  std::string path(glob.ends_with('/') ? glob.substr(0, glob.size() - 1) : glob);
  try {
    check_path(path);
  } catch (const Failure& failure) {
    bad(line, failure.what());
  }
  if (path == kStateFolder || path.starts_with(std::string(kStateFolder) + "/")) {
    bad(line, "'" + path + "' is openreg-gen's own");
  }
}

/// One character of a name against "[...]" at the start of `glob`; moves `glob` behind it.
bool in_set(std::string_view& glob, char c) {
  const std::size_t close = glob.find(']', 2);
  std::string_view set = glob.substr(1, close - 1);
  glob.remove_prefix(close + 1);
  const bool negated = set.starts_with('!') || set.starts_with('^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found |= set[i] <= c && c <= set[i + 2];
      i += 2;
    } else {
      found |= set[i] == c;
    }
  }
  return found != negated;
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view path) {
  while (!glob.empty()) {
    if (glob.starts_with("**")) {
      std::string_view rest = glob.substr(2);
      if (rest.empty()) return true;
      if (rest[0] == '/') {  // "**/x" also means "x"
        if (glob_matches(rest.substr(1), path)) return true;
      }
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (glob_matches(rest, path.substr(i))) return true;
      }
      return false;
    }
    if (glob[0] == '*') {
      const std::string_view rest = glob.substr(1);
      for (std::size_t i = 0;; ++i) {
        if (glob_matches(rest, path.substr(i))) return true;
        if (i == path.size() || path[i] == '/') return false;
      }
    }
    if (path.empty()) return false;
    const char c = path[0];
    if (glob[0] == '[') {
      if (c == '/' || !in_set(glob, c)) return false;
    } else {
      if (glob[0] == '?' ? c == '/' : glob[0] != c) return false;
      glob.remove_prefix(1);
    }
    path.remove_prefix(1);
  }
  return path.empty();
}

Ignore::Ignore(std::string_view text) {
  int line = 0;
  for (const std::string_view whole : split_lines(text)) {
    ++line;
    const std::string_view glob = trimmed(whole);
    if (glob.empty() || glob[0] == '#') continue;
    check_glob(glob, line);
    patterns_.push_back({glob.ends_with('/') ? std::string(glob) + "**" : std::string(glob), line});
  }
}

bool Ignore::matches(std::string_view path) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [path](const Pattern& pattern) { return glob_matches(pattern.glob, path); });
}

Ignore read_ignore(const Disk& disk) {
  const std::string path(kIgnore);
  check_inside(disk, path);
  if (disk.kind(path) == FileKind::None) return {};
  if (disk.kind(path) != FileKind::File) {
    throw Failure(Exit::BadInput, "E0520", std::string(kIgnore) + " is no file", "make it a text file, or remove it");
  }
  return Ignore(disk.read(path));
}

}  // namespace openreg_gen
