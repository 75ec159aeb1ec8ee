#include "tree/verdict.h"

#include "files.h"
#include "memory_disk.h"

#include <gtest/gtest.h>

#include <regex>
#include <vector>

namespace openreg_gen {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(OPENREG_GEN_SOURCE_DIR) / "generator/tree";

/// The enumerators, as verdict.h has them.
std::vector<std::string> names() {
  const std::string header = read_file(kFolder / "verdict.h");
  const std::size_t begin = header.find("enum class Verdict {");
  std::string body = header.substr(begin, header.find("};", begin) - begin);
  static const std::regex name("\n  ([A-Z][A-Za-z]*),");
  std::vector<std::string> out;
  for (std::sregex_iterator i(body.begin(), body.end(), name), end; i != end; ++i) out.push_back((*i)[1]);
  return out;
}

TEST(Verdicts, SayThis) {
  std::string said;
  for (const VerdictRow& row : all_verdicts()) {
    said += std::string(to_string(row.action)) + " " + std::string(to_string(row.finding));
    said += (row.text.empty() ? "" : ": ") + std::string(row.text) + (row.forcible ? " (--force)" : "") + "\n";
  }
  EXPECT_EQ(said, R"(unchanged fine
create missing: new
create missing: missing
update stale: stale
refuse blocked: '{}' is a file where a folder has to be
refuse blocked: a folder is in its place
refuse blocked: a symlink is in its place
refuse blocked: no plain file is in its place
refuse blocked: '{}' differs in letter case only: on some systems they are one file
refuse blocked: exists, and openreg-gen did not write it (--force)
refuse edited: edited (--force)
refuse edited: edited: its lines end in CRLF (--force)
refuse blocked: yours, but the spec now has it generated (--force)
keep fine: edited
merge stale: your edits and the new render
keep stale: your edits and the new render
merge fine: resolved
update stale: resolved
conflict conflict: conflict, {}
conflict conflict: conflict markers, {}
refuse conflict: conflict markers to mend first, {}
refuse edited: edited, and the last render, which a merge needs, is not in .openreg-gen/pristine (--force)
refuse edited: edited; {} (--force)
update fine: yours from now on
keep fine: yours from now on
update edited: given back
merge fine: given back
keep fine: given back
keep fine
keep fine: yours, moved here from {}
keep drifted: yours; its signature changed
keep fine: yours; openreg-gen would now write it differently
refuse blocked: gone, and its mark is in {}: leave it in one
update fine: edited, as you asked
refuse blocked: was edited just now
keep fine: ignored from now on: neither written nor removed
keep extra: yours, since you edited it; the spec no longer asks for it
keep extra: stays with your kernel of {}
remove extra: no longer asked for
remove extra: has another path now
keep extra: no longer asked for, but edited: yours from now on
)");
}

// What --check counts, what ends a run and what is said of it hang together.
TEST(Verdicts, AreConsistent) {
  for (const VerdictRow& row : all_verdicts()) {
    const bool refused = row.action == Action::Refuse;
    EXPECT_TRUE(!refused || row.finding != Finding::Fine) << row.text;
    EXPECT_TRUE(refused || !row.forcible) << row.text;
    EXPECT_TRUE(row.finding != Finding::Blocked || refused) << row.text;
    EXPECT_EQ(row.action == Action::Create, row.finding == Finding::Missing) << row.text;
    EXPECT_TRUE(row.action != Action::Conflict || row.finding == Finding::Conflict) << row.text;
    EXPECT_TRUE(!row.text.empty() || row.finding == Finding::Fine) << "a finding that says nothing";
  }
}

TEST(Verdicts, EachHasARowAndIsReached) {
  EXPECT_EQ(names().size(), all_verdicts().size());
  std::string code;
  for (const char* file : {"decide.cpp", "decide_rendered.cpp", "own.cpp"}) code += read_file(kFolder / file);
  for (const std::string& name : names()) {
    if (name == "Unchanged") continue;  // what a step is until it is judged
    EXPECT_TRUE(std::regex_search(code, std::regex("Verdict::" + name + "\\b"))) << name;
  }
}

TEST(Verdicts, AStepTellsItsDetailAndWhetherItWasForced) {
  Step step;
  step.verdict = Verdict::Unmergeable;
  step.detail = "no {} here";
  EXPECT_EQ(step.reason(), "edited; no {} here");
  EXPECT_EQ(step.action(), Action::Refuse);
  step.replaced = true;
  EXPECT_EQ(step.reason(), "edited; no {} here; replaced");
  EXPECT_EQ(step.action(), Action::Update);
  EXPECT_EQ(step.finding(), Finding::Edited);
}

TEST(Verdicts, ForceReplacesWhatItsRowAllowsAndNothingElse) {
  MemoryDisk disk;
  disk.files = {{"a.cpp", "theirs"}, {"B.cpp", "another"}};
  disk.others["c.cpp"] = FileKind::Folder;
  std::vector<Rendered> renders;
  for (const char* path : {"a.cpp", "b.cpp", "c.cpp"}) {
    Output output;
    output.path = path;
    renders.push_back({output, "render", std::nullopt});
  }
  PlanOptions options;
  options.force = true;
  const Plan plan = make_plan(disk, nullptr, renders, {}, options);
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0].verdict, Verdict::Foreign);
  EXPECT_EQ(plan.steps[0].action(), Action::Update);
  EXPECT_EQ(plan.steps[0].reason(), "exists, and openreg-gen did not write it; replaced");
  EXPECT_EQ(plan.steps[0].backup, ".openreg-gen/backup/1/a.cpp");
  EXPECT_EQ(plan.steps[1].reason(), "'B.cpp' differs in letter case only: on some systems they are one file");
  EXPECT_EQ(plan.steps[1].action(), Action::Refuse);
  EXPECT_EQ(plan.steps[2].verdict, Verdict::FolderThere);
  EXPECT_TRUE(plan.refused());
}

}  // namespace
}  // namespace openreg_gen
