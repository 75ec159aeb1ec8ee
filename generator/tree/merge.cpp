#include "tree/merge.h"

#include "base/text.h"
#include "diag/failure.h"
#include "system/child.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace openreg_gen {
namespace {

/// A text as a file in memory that another program may read by its path: a run that is killed leaves nothing behind.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : descriptor_(memfd_create("openreg-gen", MFD_CLOEXEC)) {
    for (std::size_t done = 0; descriptor_ >= 0 && done < text.size();) {
      const ssize_t count = write(descriptor_, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) close(std::exchange(descriptor_, -1));
      done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    if (descriptor_ < 0) throw Failure(Exit::Environment, "E0506", "no memory for a merge", "free some memory");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_); }

 private:
  int descriptor_;
};

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

constexpr std::size_t kMarkerSize = 7;

/// A line that git puts around a part of a conflict: "<<<<<<< yours". All markers of a conflict have one size, and no
/// line of the merged texts begins with that many of these signs.
struct Marker {
  char sign = '\0';  // none: a line of the text
  std::size_t size = 0;
};

Marker marker_of(std::string_view line) {
  constexpr std::pair<char, std::string_view> kLabels[] = {
      {'<', " yours"}, {'|', " last render"}, {'=', ""}, {'>', " new render"}};
  for (const auto& [sign, label] : kLabels) {
    const std::size_t size = std::min(line.find_first_not_of(sign), line.size());
    const std::string_view rest = line.substr(size);
    const bool labelled = label.empty() ? rest == "\n" || rest == "\r\n" : rest.starts_with(label);
    if (size >= kMarkerSize && labelled) return {sign, size};
  }
  return {};
}

/// A size that tells markers from all lines of `text`: underlined headings, and quoted markers.
std::size_t marker_size(std::string_view text) {
  std::size_t size = kMarkerSize;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (includes("<|=>", line.substr(0, 1)))
      size = std::max(size, std::min(line.find_first_not_of(line[0]), line.size()) + 1);
  }
  return size;
}

/// One side of a conflict, whose beginning was read from `text`: it goes on with what follows the conflict. None, and
/// `text` stays, if the conflict has no end, or it isn't certain which line divides the sides.
std::optional<std::string_view> side_of_conflict(std::string_view& text, std::size_t size, MergeSide side) {
  std::string_view left = text;
  std::optional<std::size_t> base, theirs;
  std::size_t divider = 0, dividers = 0;
  while (!left.empty()) {
    const std::size_t at = text.size() - left.size();
    const Marker marker = marker_of(next_line(left));
    if (marker.size != size) continue;
    if (marker.sign == '<') return std::nullopt;
    if (marker.sign == '|' && !base) {
      base = at;
      dividers = 0;  // those before it are lines of the owner
    } else if (marker.sign == '=' && ++dividers == 1) {
      divider = at;
      theirs = text.size() - left.size();
    } else if (marker.sign == '>') {
      const bool certain = dividers == 1 || (side == MergeSide::Ours && base && dividers > 1);
      if (!certain) return std::nullopt;
      const std::string_view whole = std::exchange(text, left);
      return side == MergeSide::Ours ? whole.substr(0, base.value_or(divider)) : whole.substr(*theirs, at - *theirs);
    }
  }
  return std::nullopt;
}

}  // namespace

MergeResult merge_by_git(const std::string& ours, const std::string& base, const std::string& theirs, MergeSide side) {
  if (ours == theirs || base == theirs) return {MergeResult::Kind::Clean, ours, {}};
  if (base == ours) return {MergeResult::Kind::Clean, theirs, {}};
  // An editor that turned all line ends into CRLF didn't change a line.
  if (is_crlf(ours) && !is_crlf(theirs)) return merge_by_git(ours, to_crlf(base), to_crlf(theirs), side);

  const std::string git = find_program("git").string();
  if (git.empty()) return {MergeResult::Kind::Impossible, {}, "merging needs git, which is not on PATH"};
  const std::size_t size = std::max({marker_size(ours), marker_size(base), marker_size(theirs)});
  std::vector<std::string> argv{git, "-C", "/", "merge-file", "-p", "--diff3", fmt::format("--marker-size={}", size)};
  if (side == MergeSide::Ours) argv.push_back("--ours");
  if (side == MergeSide::Theirs) argv.push_back("--theirs");
  for (const char* label : {"yours", "last render", "new render"}) argv.insert(argv.end(), {"-L", label});
  const MemoryFile of_ours(ours), of_base(base), of_theirs(theirs);
  argv.insert(argv.end(), {of_ours.path(), of_base.path(), of_theirs.path()});
  Child::Result result = Child(argv).talk({});
  const int code = WIFEXITED(result.status) ? WEXITSTATUS(result.status) : 255;
  if (code >= 128) {
    std::string why = result.errors.substr(0, result.errors.find('\n'));
    return {MergeResult::Kind::Impossible, {}, "git cannot merge it" + (why.empty() ? "" : " (" + why + ")")};
  }
  // With --ours and --theirs git still counts what it decided.
  const bool conflict = side == MergeSide::Markers && code != 0;
  return {conflict ? MergeResult::Kind::Conflict : MergeResult::Kind::Clean, std::move(result.output), {}};
}

std::vector<int> conflict_lines(std::string_view text) {
  std::vector<int> lines;
  std::size_t open = 0;  // the size of the markers of the conflict that was begun
  for (int number = 1; !text.empty(); ++number) {
    const Marker marker = marker_of(next_line(text));
    if (open != 0 && marker.size != open) continue;
    if (marker.sign == '<') {
      lines.push_back(number);
      open = marker.size;
    } else if (marker.sign == '|' || marker.sign == '>') {
      if (open == 0) lines.push_back(number);
      if (marker.sign == '>') open = 0;
    }
  }
  return lines;
}

std::string resolve_conflicts(std::string_view text, MergeSide side) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const Marker marker = marker_of(line);
    std::optional<std::string_view> taken;
    if (side != MergeSide::Markers && marker.sign == '<') taken = side_of_conflict(text, marker.size, side);
    out += taken.value_or(line);
  }
  return out;
}

bool is_crlf(std::string_view text) {
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') continue;
    if (i == 0 || text[i - 1] != '\r') return false;
    any = true;
  }
  return any;
}

std::string to_crlf(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n' && (out.empty() || out.back() != '\r')) out += '\r';
    out += c;
  }
  return out;
}

}  // namespace openreg_gen
