#include "system/child.h"

#include "diag/failure.h"
#include "files.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <functional>
#include <string>

namespace openreg_gen {
namespace {

TEST(ChildTest, TakesAndGivesMoreThanAPipeHolds) {
  Child child({"/bin/sh", "-c", "cat; echo said >&2; exit 3"});
  const std::string text(3'000'000, 'x');
  const Child::Result result = child.talk(text);
  EXPECT_EQ(result.output, text);
  EXPECT_EQ(result.errors, "said\n");
  EXPECT_EQ(WEXITSTATUS(result.status), 3);
}

TEST(ChildTest, MuchOnBothOutputsBeforeTheInputIsRead) {
  Child child({"/bin/sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; cat >/dev/null"});
  const Child::Result result = child.talk(std::string(300'000, 'x'));
  EXPECT_EQ(result.output.size(), 300'000u);
  EXPECT_EQ(result.errors.size(), 300'000u);
}

TEST(ChildTest, OneThatReadsNothingDoesNotEndUs) {
  Child child({"/bin/sh", "-c", "exit 5"});
  EXPECT_EQ(WEXITSTATUS(child.talk(std::string(3'000'000, 'x')).status), 5);
}

TEST(ChildTest, OneThatIsNotWaitedForIsKilled) { const Child child({"/bin/sh", "-c", "exec sleep 1000"}); }

TEST(ChildTest, OneThatHangsIsKilledAndNamed) {
  const ScopedEnv limit("OPENREG_GEN_CHILD_SECONDS", "1");
  const std::vector<std::string> command = {"/bin/sh", "-c", "exec 2>&-; sleep 120; echo"};
  for (const auto& talk :
       {std::function([&] { Child(command).talk({}); }), std::function([&] { output_of(command); })}) {
    try {
      talk();
      FAIL() << "it ended";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), kHung);
      EXPECT_NE(std::string(failure.what()).find("/bin/sh -c exec 2>&-; sleep"), std::string::npos) << failure.what();
    }
  }
}

TEST(ChildTest, NoSuchProgram) {
  try {
    Child child({"/no/such/program"});
    FAIL() << "it was started";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::Environment);
    EXPECT_EQ(failure.code(), "E0605");
  }
}

}  // namespace
}  // namespace openreg_gen
