#include "audit/document.h"

#include "audit/small.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

/// "E0570 3:7: message", of a document that is wrong.
std::string fault(const std::string& text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_audit(text, "a.json", diagnostics));
  if (diagnostics.empty()) return "";
  const Diagnostic& first = diagnostics.all()[0];
  EXPECT_FALSE(first.hint.empty());
  return first.code + " " + std::to_string(first.at.line) + ":" + std::to_string(first.at.column) + ": " +
         first.message;
}

TEST(AuditDocument, HoldsWhatPythonWrote) {
  Diagnostics diagnostics;
  const auto read = parse_audit(small_audit(), "a.json", diagnostics);
  ASSERT_TRUE(read) << diagnostics.all()[0].message;
  EXPECT_EQ(read->device, "mine");
  EXPECT_EQ(read->ops.find("add.out")->second.at.text(), "/src/Kernels.cpp:10");
  EXPECT_EQ(read->ops.find("_nnz")->second.at.text(), "");
  EXPECT_EQ(read->registrations.size(), 6U);
  EXPECT_FALSE(read->registrations[2].active);
  EXPECT_EQ(read->interfaces.at(0).verdict, "answers");
  EXPECT_THAT(read->dtypes.find("add.Tensor")->second.takes, testing::ElementsAre("float32"));
}

// Longer than the texts that a std::string keeps in itself.
TEST(AuditDocument, ListsOfDtypesMayBeLong) {
  std::string text = small_audit();
  replace_all(text, "\"takes\": \"float32\"", "\"takes\": \"bfloat16 bool float16 float32 float64 int64\"");
  Diagnostics diagnostics;
  const auto read = parse_audit(text, "a.json", diagnostics);
  ASSERT_TRUE(read) << diagnostics.all()[0].message;
  EXPECT_THAT(read->dtypes.find("add.Tensor")->second.takes,
              testing::ElementsAre("bfloat16", "bool", "float16", "float32", "float64", "int64"));
}

TEST(AuditDocument, FaultsHaveTheirPlace) {
  EXPECT_THAT(fault("{\n \"format\": oops}"), testing::StartsWith("E0570 2:12: JSON: "));
  EXPECT_THAT(fault(""), testing::StartsWith("E0570 1:1: JSON: "));
  EXPECT_EQ(fault("{}"), "E0570 1:1: the file is not an audit");
  EXPECT_EQ(fault("[1]"), "E0570 1:1: the file is not an audit");
  std::string newer = small_audit();
  replace_all(newer, "\"schema\": 1", "\"schema\": 2");
  EXPECT_EQ(fault(newer), "E0571 1:1: unknown audit schema 2");
  std::string without = small_audit();
  replace_all(without, "\"ops\"", "\"operators\"");
  EXPECT_THAT(fault(without), testing::HasSubstr("key 'ops' not found"));
  std::string beyond = small_audit();
  replace_all(beyond, "[0, 40]", "[9, 40]");
  EXPECT_THAT(fault(beyond), testing::StartsWith("E0570 1:1: a part of the audit is missing or has the wrong type"));
}

}  // namespace
}  // namespace openreg_gen
