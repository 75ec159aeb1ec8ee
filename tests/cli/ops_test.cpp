#include "catalog/build.h"
#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "strategy/fit.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names(const std::string& pattern) {
  std::vector<std::string> result;
  for (const auto* op : match_ops(installed(), pattern)) result.push_back(op->name);
  return result;
}

TEST(Ops, MatchesPartsAndGlobs) {
  EXPECT_THAT(names("hypot"), ElementsAre("hypot", "hypot.out", "hypot_"));
  EXPECT_THAT(names("aten::HYPOT"), ElementsAre("hypot", "hypot.out", "hypot_"));
  EXPECT_THAT(names("hypo?*t"), ElementsAre("hypot.out"));
  EXPECT_THAT(names("relu[._]*"), ElementsAre("relu.out", "relu_"));
  EXPECT_EQ(names("").size(), 3101U);
  EXPECT_TRUE(names("nonsense").empty());
}

TEST(Ops, Suggests) {
  EXPECT_EQ(suggest_op(installed(), "add.Tensro"), "did you mean 'add.Tensor'?");
  EXPECT_EQ(suggest_op(installed(), "aten::rleu"), "did you mean 'relu'?");
  EXPECT_EQ(suggest_op(installed(), "qqqqqqqqqq"), "");
}

TEST(Ops, TableIsAlignedAndCut) {
  const auto text = ops_table(match_ops(installed(), "hypot"), 60);
  EXPECT_EQ(text,
            "NAME       CLASS       DEFAULT  SCHEMA\n"
            "hypot      structured  yes      (Tensor self, Tensor othe...\n"
            "hypot.out  structured  no       (Tensor self, Tensor othe...\n"
            "hypot_     structured  yes      (Tensor(a!) self, Tensor ...\n");
  EXPECT_THAT(ops_table(match_ops(installed(), "hypot"), 0), HasSubstr("Tensor(a!) out) -> Tensor(a!)\n"));
}

TEST(Ops, LongNamesMoveOnlyTheirRow) {
  EXPECT_EQ(layout_table({{"a", "b"}, {"longer-than-four", "c"}}, 0, 4), "a     b\nlonger-than-four  c\n");
  EXPECT_EQ(layout_table({{"a", ""}}, 0), "a\n");
}

TEST(Ops, WrapsAtWords) {
  EXPECT_EQ(wrap_words("one two three", 2, 10), "one two\n  three");
  EXPECT_EQ(wrap_words("one two three", 2, 0), "one two three");
  EXPECT_EQ(wrap_words("unbreakable", 2, 5), "unbreakable");
}

TEST(Ops, PageSaysAll) {
  const auto page = op_page(*installed().find("sub.Tensor"), 0);
  EXPECT_THAT(page, HasSubstr("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"));
  EXPECT_THAT(page, HasSubstr("  at::Tensor sub(\n      const at::Tensor & self,\n      const at::Tensor & other,\n"
                              "      const at::Scalar & alpha)\n"));
  EXPECT_THAT(page, HasSubstr("structured: served by the kernel of 'sub.out'"));
  EXPECT_THAT(page, HasSubstr("at::meta::structured_sub_Tensor\n"));
  EXPECT_THAT(page, HasSubstr("sub.out, sub_.Tensor"));
  EXPECT_THAT(page, HasSubstr("sub_sparse for SparseCPU"));
  EXPECT_THAT(page, HasSubstr("    cpu_fallback  yes\n"));
  EXPECT_THAT(page, Not(HasSubstr(" \n"))) << "no trailing blanks";
}

TEST(Ops, ThePageMarksTheBestStrategyAsExplainDoes) {
  for (const char* name : {"add.out", "relu", "nonzero", "mm.out", "eye"}) {
    const Op& op = *installed().find(name);
    std::string why;
    const auto best = fmt::format("    {:<13} best", best_strategy(op, why).word);
    EXPECT_THAT(op_page(op, 0), HasSubstr(best)) << name;
    EXPECT_THAT(op_page(op, 0), HasSubstr(why)) << name;
    EXPECT_EQ(op_details(op)["best_strategy"], best_strategy(op, why).word) << name;
  }
  for (const char* name : {"add.Tensor", "matmul"}) {  // another operator's kernel serves these
    EXPECT_THAT(op_page(*installed().find(name), 0), Not(HasSubstr(" best "))) << name;
    EXPECT_FALSE(op_details(*installed().find(name)).contains("best_strategy")) << name;
  }
}

TEST(Ops, PagesFitTheTerminal) {
  for (const auto* op : match_ops(installed(), "add*")) {
    std::istringstream lines(op_page(*op, 100));
    std::string line;
    std::getline(lines, line);  // the schema stays whole, to be copied
    while (std::getline(lines, line)) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Ops, JsonHasTheKeysToolsRead) {
  const auto* op = installed().find("add.out");
  const auto summary = op_summary(*op);
  for (const char* key : {"op", "schema", "signature", "class", "tags"}) EXPECT_TRUE(summary.contains(key)) << key;
  const auto details = op_details(*op);
  EXPECT_EQ(details["arguments"][2]["default"], "1");
  EXPECT_EQ(details["arguments"][3]["out"], true);
  EXPECT_EQ(details["strategies"][0]["strategy"], "structured");
  EXPECT_EQ(details["strategies"][0]["fits"], true);
}

Exit run(std::vector<std::string> words, std::string& out, std::string& err) {
  CLI::App app;
  Invocation call;
  const Run run_chosen = set_up(command(), app, call);
  std::ranges::reverse(words);
  app.parse(words);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto exit = run_chosen(call);
  std::fflush(stdout);
  out = testing::internal::GetCapturedStdout();
  err = testing::internal::GetCapturedStderr();
  return exit;
}

TEST(Ops, CommandLine) {
  std::string out, err;
  EXPECT_EQ(run({"ops", "hypot*"}, out, err), Exit::Done);
  EXPECT_THAT(out, HasSubstr("hypot_ "));
  EXPECT_EQ(run({"ops", "hypot", "--json"}, out, err), Exit::Done);
  EXPECT_EQ(nlohmann::json::parse(out)["ops"].size(), 3U);
  EXPECT_EQ(run({"ops", "show", "add"}, out, err), Exit::Done);
  EXPECT_THAT(out, HasSubstr("'add' has 4 overloads"));
  EXPECT_EQ(run({"ops", "show", "relu", "--json"}, out, err), Exit::Done);
  EXPECT_EQ(nlohmann::json::parse(out)["ops"][0]["op"], "relu");
  EXPECT_EQ(run({"ops", "show", "add.Tensro"}, out, err), Exit::No);
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "no operator of PyTorch 2.13.0 matches 'add.Tensro'; did you mean 'add.Tensor'?\n");
  EXPECT_EQ(run({"ops", "nonsense", "--json"}, out, err), Exit::No);
  EXPECT_EQ(nlohmann::json::parse(out)["ops"].size(), 0U);
}

}  // namespace
}  // namespace openreg_gen
