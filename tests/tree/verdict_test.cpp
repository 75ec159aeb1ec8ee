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
refuse blocked: {}
refuse blocked: exists, and openreg-gen did not write it (--force)
refuse edited: edited{} (--force)
keep fine: edited
merge stale: your edits and the new render
merge fine: resolved
conflict conflict: conflict, {}
refuse conflict: conflict markers to resolve first, {}
update fine: yours from now on
update fine: given back
keep fine
keep fine: yours, moved here from {}
keep drifted: yours; its signature changed
keep fine: yours; its signature changed, and openreg-gen can't read yours: compare them
keep fine: yours; openreg-gen would now write a different one: `openreg-gen generate --diff`
update fine: edited, as you asked
keep extra: no longer needed; kept, since {}
keep extra: no longer needed; kept with your kernel of {}
remove extra: no longer needed
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
  for (const char* file : {"decide.cpp", "own.cpp"}) code += read_file(kFolder / file);
  for (const std::string& name : names()) {
    if (name == "Unchanged") continue;  // what a step is until it is judged
    EXPECT_TRUE(std::regex_search(code, std::regex("Verdict::" + name + "\\b"))) << name;
  }
}

TEST(Verdicts, AStepTellsItsDetailAndWhetherItWasForced) {
  Step step;
  step.verdict = Verdict::Edited;
  step.detail = "; no {} here";
  EXPECT_EQ(step.reason(), "edited; no {} here");
  EXPECT_EQ(step.action(), Action::Refuse);
  step.replaced = true;
  EXPECT_EQ(step.reason(), "edited; no {} here; replaced");
  EXPECT_EQ(step.action(), Action::Update);
  EXPECT_EQ(step.finding(), Finding::Edited);
}

TEST(Verdicts, WhatWouldBecomeTheTextThatIsThereIsKept) {
  Step step;
  step.verdict = Verdict::MergeResult;
  step.before = step.after = "a";
  EXPECT_EQ(step.action(), Action::Keep);
  step.after = "b";
  EXPECT_EQ(step.action(), Action::Merge);
}

TEST(Verdicts, ForceReplacesWhatItsRowAllowsAndNothingElse) {
  MemoryDisk disk;
  disk.files = {{"a.cpp", "theirs"}, {"B.cpp", "another"}};
  disk.others["c.cpp"] = FileKind::Folder;
  std::vector<RenderedFile> renders;
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
  EXPECT_EQ(plan.steps[1].reason(), "'B.cpp' differs only in letter case: on some systems they are the same file");
  EXPECT_EQ(plan.steps[1].action(), Action::Refuse);
  EXPECT_EQ(plan.steps[2].reason(), "a folder is in its place");
  EXPECT_TRUE(plan.refused());
}

}  // namespace
}  // namespace openreg_gen
