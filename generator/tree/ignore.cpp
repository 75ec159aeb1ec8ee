#include "tree/ignore.h"

#include "base/text.h"

#include "diag/failure.h"
#include "tree/paths.h"

#include <fnmatch.h>

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
  if (path == kStateFolder || path.starts_with(std::string(kStateFolder) + "/"))
    bad(line, "'" + path + "' is openreg-gen's own");
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view path) {
  std::size_t stars = 0;  // where "**" is, outside of sets
  while (stars < glob.size() && !glob.substr(stars).starts_with("**"))
    stars = (glob[stars] == '[' ? std::min(glob.find(']', stars + 2), glob.size() - 1) : stars) + 1;
  const auto fits = [](std::string_view piece, std::string_view text) {
    return ::fnmatch(std::string(piece).c_str(), std::string(text).c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
  };
  if (stars >= glob.size()) return fits(glob, path);
  const std::string_view before = glob.substr(0, stars), rest = glob.substr(stars + 2);
  for (std::size_t begin = 0; begin <= path.size(); ++begin) {
    if (!fits(before, path.substr(0, begin))) continue;
    if (rest.starts_with('/') && glob_matches(rest.substr(1), path.substr(begin)))
      return true;  // "**/x" also means "x"
    for (std::size_t end = begin; end <= path.size(); ++end)
      if (glob_matches(rest, path.substr(end))) return true;
  }
  return false;
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
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) { return glob_matches(pattern.glob, path); });
}

Ignore read_ignore(const Disk& disk) {
  const std::string path(kIgnore);
  check_inside(disk, path);
  if (disk.kind(path) == FileKind::None) return {};
  if (disk.kind(path) != FileKind::File)
    throw Failure(Exit::BadInput, "E0520", std::string(kIgnore) + " is no file", "make it a text file, or remove it");
  return Ignore(disk.read(path));
}

}  // namespace openreg_gen
