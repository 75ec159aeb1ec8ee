// Random lives of a tree: specs and templates that change, owners who edit, take files, delete them and give them back,
// merges with markers and by side, runs that are killed, undone, run again.
// After each step: no line of an owner is lost, a second generate changes nothing, and the tree is a fresh render plus
// the owner's lines.
//
// 200 seeds; OPENREG_GEN_SEEDS=5000 tries more, OPENREG_GEN_SEED=17 only that one.
#include "diag/failure.h"
#include "memory_disk.h"
#include "tree/plan.h"
#include "tree/journal.h"
#include "tree/decide.h"
#include "tree/own.h"
#include "tree/undo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

namespace openreg_gen {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

std::string join(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

bool is_owners(const std::string& line) { return line.starts_with("owner "); }

/// What is left of a text without its owner's lines.
std::string without_owner(const std::string& text) {
  Lines lines = split(text);
  std::erase_if(lines, is_owners);
  return join(lines);
}

/// A three-way merge for owners that only ever add lines: each goes after the line that it followed, if
/// that is still there; else it is a conflict with all of the new render.
MergeResult merge_lines(const std::string& ours, const std::string&, const std::string& theirs, MergeSide side) {
  Lines out = split(theirs), lost;
  std::string anchor;
  for (const std::string& line : split(ours)) {
    if (!is_owners(line)) {
      anchor = line;
      continue;
    }
    auto at = anchor.empty() ? out.begin() : std::find(out.begin(), out.end(), anchor);
    if (at == out.end()) {
      lost.push_back(line);
      continue;
    }
    out.insert(anchor.empty() ? at : at + 1, line);
    anchor = line;
  }
  if (lost.empty() || side == MergeSide::Theirs) return {MergeResult::Kind::Clean, join(out), {}};
  if (side == MergeSide::Ours) return {MergeResult::Kind::Clean, join(lost) + join(out), {}};
  return {MergeResult::Kind::Conflict,
          "<<<<<<< yours\n" + join(lost) + "||||||| last render\n=======\n>>>>>>> new render\n" + join(out),
          {}};
}

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {}

  void live() {
    generate();
    for (int step = 0; step < 25 && !testing::Test::HasFailure(); ++step) {
      history_ += std::to_string(step) + ": ";
      act();
      history_ += "\n";
      check_owner();
    }
    settle();
  }
  const std::string& history() const { return history_; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  // What a renderer makes of the "spec": which operators, two values; and of the "templates": a version.
  std::vector<RenderedFile> renders() const {
    std::vector<RenderedFile> out;
    const auto add = [&](const std::string& path, FileClass file_class, const std::string& id,
                         const std::string& text) {
      Output output;
      output.path = path;
      output.template_name = path + ".j2";
      output.file_class = file_class;
      output.key = "ops";
      output.id = id;
      if (file_class == FileClass::Owned) output.signature = "void " + id + "(int v" + std::to_string(spec_.a) + ")";
      out.push_back({output, text, std::nullopt});
    };
    const std::string a = std::to_string(spec_.a), b = std::to_string(spec_.b), t = std::to_string(spec_.templates);
    add("build.txt", FileClass::Generated, "", "build " + a + "\ntemplates " + t + "\n");
    add("README.md", FileClass::Shared, "", "title\na " + a + "\nmiddle\nb " + b + "\nend " + t + "\n");
    add("conf/setup.py", FileClass::Shared, "", "setup\nb " + b + "\n");
    for (int op = 0; op < 4; ++op) {
      if (!spec_.ops[op]) continue;
      const std::string name = "op" + std::to_string(op);
      add("native/" + name + ".cpp", FileClass::Owned, name, "// [openreg-gen " + name + "]\nkernel " + t + "\n");
      add("native/" + name + ".h", FileClass::Generated, name, "header of " + name + " " + a + "\n");
    }
    return out;
  }

  std::optional<Manifest> manifest() const {
    const auto at = disk_.files.find(std::string(kManifest));
    if (at == disk_.files.end()) return std::nullopt;
    return parse_manifest(at->second);
  }
  struct How {
    bool force = false;
    MergeSide side = MergeSide::Markers;
    std::set<std::string> disown = {};
  };
  Plan plan() const { return plan(How{}); }
  Plan plan(const How& how) const {
    const auto old = manifest();
    PlanOptions options;
    options.merger = merge_lines;
    options.force = how.force;
    options.side = how.side;
    options.disown = how.disown;
    return make_plan(disk_, old ? &*old : nullptr, renders(), {"0.1.0", "torch", "my.yaml", "", {}}, options);
  }

  /// As the verb does it: recover, plan, apply; an owner then resolves conflicts.
  void generate() { generate(How{}); }
  void generate(const How& how) {
    recover(disk_);
    mend();  // what a killed run had marked
    const Plan made = plan(how);
    if (made.refused()) {
      history_ += " refused";
      return;
    }
    apply_plan(disk_, made);
    EXPECT_FALSE(plan().changes()) << "not idempotent";
    if (made.conflicts()) mend();
  }

  void mend() {
    for (auto& [path, text] : disk_.files) {
      if (path.starts_with(".openreg-gen/") || conflict_lines(text).empty()) continue;
      Lines lines = split(text);
      std::erase_if(lines, [](const std::string& line) {
        return line.starts_with("<<<<<<< ") || line.starts_with("||||||| ") || line == "=======\n" ||
               line.starts_with(">>>>>>> ");
      });
      text = join(lines);
      history_ += " mended " + path;
    }
  }

  /// A line of their own, somewhere in a file that may be theirs to edit, or in a generated one all the same.
  void edit() {
    std::vector<std::string> paths;
    for (const auto& [path, text] : disk_.files) {
      if (!path.starts_with(".openreg-gen/")) paths.push_back(path);
    }
    if (paths.empty()) return;
    const std::string& path = paths[static_cast<std::size_t>(pick(static_cast<int>(paths.size())))];
    Lines lines = split(disk_.files[path]);
    const std::string line = "owner " + std::to_string(++edits_) + "\n";
    lines.insert(lines.begin() + pick(static_cast<int>(lines.size()) + 1), line);
    disk_.files[path] = join(lines);
    owners_.push_back(line);
    history_ += "edit " + path + " " + std::to_string(edits_);
  }

  void move_kernel() {
    for (const auto& [path, text] : disk_.files) {
      if (!path.ends_with(".cpp") || path.starts_with(".openreg-gen/") || pick(3) != 0) continue;
      const std::string to = "mine/" + std::to_string(++edits_) + ".cpp";
      history_ += "move " + path + " to " + to;
      const std::string from = path, bytes = text;
      disk_.files.erase(from);
      disk_.files[to] = bytes;
      return;
    }
  }

  void kill_a_run() {
    recover(disk_);
    const Plan made = plan({pick(4) == 0});
    if (made.refused()) return;
    const int at = pick(40);
    disk_.stay_dead = true;
    disk_.fail_at = at;
    try {
      apply_plan(disk_, made);
    } catch (const Failure&) {
      history_ += "killed at " + std::to_string(at);
    }
    disk_.killed = disk_.stay_dead = false;
    disk_.fail_at = -1;
  }

  void undo() {
    recover(disk_);
    const auto last = last_run(disk_);
    if (!last || last->edited()) return;
    undo_last_run(disk_);
    history_ += "undo";
    mend();
  }

  /// Files that were taken with `own`, or those that may be.
  std::vector<std::string> files_of(bool taken) const {
    std::vector<std::string> paths;
    const auto known = manifest();
    if (!known) return paths;
    for (const auto& [path, file] : known->files)
      if (file.taken() == taken) paths.push_back(path);
    return paths;
  }

  void take() {
    recover(disk_);
    const auto paths = files_of(false);
    if (paths.empty()) return;
    const std::string& path = paths[static_cast<std::size_t>(pick(static_cast<int>(paths.size())))];
    history_ += "own " + path;
    apply_plan(disk_, own_plan(disk_, *manifest(), {path}), "own");
  }

  void give_back() {
    recover(disk_);
    const auto paths = files_of(true);
    if (paths.empty()) return;
    const std::string& path = paths[static_cast<std::size_t>(pick(static_cast<int>(paths.size())))];
    history_ += "disown " + path;
    generate({false, MergeSide::Markers, {path}});
  }

  /// A file that is not wanted: gone, and never written again.
  void take_and_delete() {
    take();
    for (const std::string& path : files_of(true)) {
      const auto at = disk_.files.find(path);
      if (at == disk_.files.end() || at->second.find("owner ") != std::string::npos) continue;
      history_ += "; delete " + path;
      disk_.files.erase(at);
    }
    std::vector<std::string> gone;
    for (const std::string& path : files_of(true))
      if (!disk_.files.contains(path)) gone.push_back(path);
    generate();
    for (const std::string& path : gone) EXPECT_FALSE(disk_.files.contains(path)) << path << " was written again";
  }

  void act() {
    switch (pick(14)) {
      case 0:
        spec_.ops[pick(4)] ^= true;
        history_ += "spec: another operator;";
        return generate();
      case 1:
        ++(pick(2) ? spec_.a : spec_.b);
        history_ += "spec: another value;";
        return generate();
      case 2:
        ++spec_.templates;
        history_ += "other templates;";
        return generate();
      case 3:
      case 4:
      case 5:
        return edit();
      case 6:
        ++spec_.b;
        return kill_a_run();
      case 7:
        return undo();
      case 8:
        return move_kernel();
      case 9:
        return take();
      case 10:
        return give_back();
      case 11:
        return take_and_delete();
      case 12:
        ++spec_.a;
        history_ += "a side;";
        return generate({false, pick(2) ? MergeSide::Ours : MergeSide::Theirs});
      default:
        history_ += "force;";
        return generate({true});
    }
  }

  void check_owner() const {
    for (const std::string& line : owners_) {
      const bool there = std::any_of(disk_.files.begin(), disk_.files.end(), [&](const auto& file) {
        const bool can_be_dropped =
            file.first.starts_with(std::string(kUndo)) || file.first.starts_with(std::string(kTemporary));
        return (!can_be_dropped || needs_recovery(disk_)) && file.second.find(line) != std::string::npos;
      });
      EXPECT_TRUE(there) << "lost: " << line;
    }
  }

  /// With all that is in the way forced aside, the tree is a fresh render plus the owner's lines.
  void settle() {
    generate();
    const auto taken = files_of(true);
    generate({true, MergeSide::Markers, {taken.begin(), taken.end()}});
    generate();
    const Plan last = plan();
    EXPECT_TRUE(!last.refused() && !last.changes());
    const auto marks = find_marks(disk_);
    for (const RenderedFile& render : renders()) {
      std::string path = render.output.path;
      if (render.output.file_class == FileClass::Owned) {
        const auto found = marks.find(render.output.id);
        ASSERT_NE(found, marks.end()) << path;
        EXPECT_EQ(found->second.size(), 1u) << path << " was rendered a second time";
        continue;
      }
      ASSERT_TRUE(disk_.files.contains(path)) << path;
      EXPECT_EQ(without_owner(disk_.files[path]), render.text) << path;
    }
    check_owner();
  }

  struct {
    bool ops[4] = {true, true, false, false};
    int a = 0, b = 0, templates = 0;
  } spec_;
  std::mt19937 random_;
  MemoryDisk disk_;
  Lines owners_;
  int edits_ = 0;
  std::string history_;
};

TEST(Property, NoLifeOfATreeLosesALine) {
  const char* one = std::getenv("OPENREG_GEN_SEED");
  const char* many = std::getenv("OPENREG_GEN_SEEDS");
  const unsigned first = one ? static_cast<unsigned>(std::atoi(one)) : 0;
  const unsigned count = one ? 1 : many ? static_cast<unsigned>(std::atoi(many)) : 200;
  for (unsigned seed = first; seed < first + count; ++seed) {
    Life life(seed);
    life.live();
    ASSERT_FALSE(HasFailure()) << "OPENREG_GEN_SEED=" << seed << "\n" << life.history();
  }
}

}  // namespace
}  // namespace openreg_gen
