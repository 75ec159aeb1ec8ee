#include "tree/merge.h"

#include "diag/failure.h"
#include "system/child.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sys/wait.h>

namespace openreg_gen {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    std::string pattern = (parent / "openreg-gen-XXXXXX").string();
    if (error || mkdtemp(pattern.data()) == nullptr) {
      throw Failure(Exit::Environment, "E0506",
                    "cannot make a temporary directory" + (error ? "" : " in " + parent.string()), "set TMPDIR");
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string write(const char* name, const std::string& text) const {
    const fs::path file = path_ / name;
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw Failure(Exit::Environment, "E0506", "cannot write " + file.string());
    return file.string();
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

bool begins(std::string_view line) { return line.starts_with("<<<<<<< yours"); }
bool has_base(std::string_view line) { return line.starts_with("||||||| last render"); }
bool divides(std::string_view line) { return line == "=======\n" || line == "=======\r\n"; }
bool ends(std::string_view line) { return line.starts_with(">>>>>>> new render"); }

}  // namespace

MergeResult merge_by_git(const std::string& ours, const std::string& base, const std::string& theirs, MergeSide side) {
  if (ours == theirs || base == theirs) return {MergeResult::Kind::Clean, ours, {}};
  if (base == ours) return {MergeResult::Kind::Clean, theirs, {}};
  // An editor that turned all line ends into CRLF didn't change a line.
  if (is_crlf(ours) && !is_crlf(theirs)) return merge_by_git(ours, to_crlf(base), to_crlf(theirs), side);

  const std::string git = find_program("git").string();
  if (git.empty()) return {MergeResult::Kind::Impossible, {}, "merging needs git, which is not on PATH"};
  const TemporaryFolder folder;
  std::vector<std::string> argv{git, "-C", folder.path().string(), "merge-file", "-p", "--diff3"};
  if (side == MergeSide::Ours) argv.push_back("--ours");
  if (side == MergeSide::Theirs) argv.push_back("--theirs");
  for (const char* label : {"yours", "last render", "new render"}) argv.insert(argv.end(), {"-L", label});
  argv.insert(argv.end(), {folder.write("yours", ours), folder.write("base", base), folder.write("theirs", theirs)});
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
  bool open = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (begins(line)) {
      lines.push_back(number);
      open = true;
    } else if (has_base(line) || ends(line)) {
      if (!open) lines.push_back(number);
      if (ends(line)) open = false;
    }
  }
  return lines;
}

std::string resolve_conflicts(std::string_view text, MergeSide side) {
  std::string out;
  while (!text.empty()) {
    const std::string_view whole = text;
    std::string_view line = next_line(text);
    if (side == MergeSide::Markers || !begins(line)) {
      out += line;
      continue;
    }
    enum { Ours, Base, Theirs } part = Ours;
    std::string ours, theirs;
    bool closed = false;
    while (!closed && !text.empty()) {
      line = next_line(text);
      if (ends(line)) {
        closed = true;
      } else if (part == Ours && has_base(line)) {
        part = Base;
      } else if (part != Theirs && divides(line)) {
        part = Theirs;
      } else if (part == Ours) {
        ours += line;
      } else if (part == Theirs) {
        theirs += line;
      }
    }
    if (closed) {
      out += side == MergeSide::Ours ? ours : theirs;
    } else {
      out += whole;
    }
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
