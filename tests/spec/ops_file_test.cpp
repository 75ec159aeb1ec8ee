#include "spec/ops_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace openreg_gen {
namespace {

std::vector<std::string> names(const std::optional<OpsFile>& file) {
  std::vector<std::string> result;
  if (file) {
    for (const auto& op : file->ops) result.push_back(*op.name);
  }
  return result;
}

OpsFile good(std::string_view text) {
  Diagnostics diagnostics;
  const auto file = parse_ops_file(text, "model.json", diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << (diagnostics.empty() ? "" : diagnostics.all()[0].message);
  return file.value_or(OpsFile{});
}

std::string first_fault(std::string_view text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_ops_file(text, "model.json", diagnostics));
  if (diagnostics.empty()) return "none";
  const auto& d = diagnostics.all()[0];
  EXPECT_EQ(d.at.file, "model.json");
  return fmt::format("{} {}:{} {}", d.code, d.at.line, d.at.column, d.source_line);
}

TEST(OpsFile, TheRecordersObject) {
  const auto file = good(R"({"format": "openreg-gen ops", "version": 1, "torch": "2.13.0", "ops": [
    {"op": "mm", "calls": 2},
    {"op": "add.Tensor", "calls": 12, "fallback": 11, "bytes": 4096, "seconds": 0.25, "new": [1]}]})");
  EXPECT_EQ(file.torch, "2.13.0");
  ASSERT_EQ(names(file), (std::vector<std::string>{"add.Tensor", "mm"}));
  EXPECT_EQ(file.ops[0].calls, 12u);
  EXPECT_EQ(file.ops[0].fallback, 11u);
  EXPECT_EQ(file.ops[0].bytes, 4096u);
  EXPECT_EQ(file.ops[0].seconds, 0.25);
  EXPECT_EQ(file.ops[0].name.at.line, 3);
  EXPECT_EQ(file.ops[0].name.at.column, 12);
  EXPECT_EQ(file.ops[1].bytes, 0u);
}

TEST(OpsFile, ShapesAreSkipped) {  // `record --shapes` writes them for `try`
  const auto file = good(R"({"format": "openreg-gen ops", "version": 1, "ops": [
    {"op": "add.out", "calls": 3, "shapes": [
     {"calls": 3, "args": [{"tensor": "float32", "shape": [8, 3], "strides": [1, 8], "offset": 4}, null, 1e-05, [true]]}
    ]}]})");
  ASSERT_EQ(names(file), (std::vector<std::string>{"add.out"}));
  EXPECT_EQ(file.ops[0].calls, 3u);
}

TEST(OpsFile, AListOfNames) {
  EXPECT_EQ(names(good(R"(["relu", "aten::add.Tensor", "aten.mm.default"])")),
            (std::vector<std::string>{"add.Tensor", "mm", "relu"}));
  EXPECT_TRUE(good("[]").ops.empty());
}

TEST(OpsFile, ALineAName) {
  const auto file = good("\xEF\xBB\xBF# what the model calls\r\n  relu  # often\r\n\r\nadd.Tensor\nrelu");
  EXPECT_EQ(names(file), (std::vector<std::string>{"add.Tensor", "relu"}));
  EXPECT_EQ(file.ops[0].name.at.line, 4);
  EXPECT_EQ(file.ops[1].name.at.line, 2);
  EXPECT_EQ(file.ops[1].name.at.column, 3);
  EXPECT_TRUE(good("").ops.empty());
}

TEST(OpsFile, RepeatedOperatorsAreAddedUp) {
  const auto file = good(R"({"format": "openreg-gen ops", "version": 1, "ops": [
    {"op": "mm", "calls": 2, "bytes": 8, "seconds": 1}, {"op": "mm.default", "calls": 3, "bytes": 1, "seconds": 0.5}]})");
  ASSERT_EQ(file.ops.size(), 1u);
  EXPECT_EQ(file.ops[0].calls, 5u);
  EXPECT_EQ(file.ops[0].bytes, 9u);
  EXPECT_EQ(file.ops[0].seconds, 1.5);
}

TEST(OpsFile, OtherNamespacesAreLeftOutAloud) {
  Diagnostics diagnostics;
  const auto file = parse_ops_file("torchvision::nms\nrelu\n", "model.txt", diagnostics);
  EXPECT_EQ(names(file), (std::vector<std::string>{"relu"}));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, "E0173");
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::Warning);
}

TEST(OpsFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(first_fault("relu\nadd Tensor\n"), "E0150 2:1 add Tensor");
  EXPECT_EQ(first_fault("[\"relu\",\n 3]"), "E0171 2:2  3]");
  EXPECT_EQ(first_fault("[\"relu\""), "E0107 1:8 [\"relu\"");
  EXPECT_EQ(first_fault("{\"ops\": []}"), "E0171 1:1 {\"ops\": []}");
  EXPECT_EQ(first_fault("{\"format\": \"onnx\"}"), "E0171 1:12 {\"format\": \"onnx\"}");
  EXPECT_TRUE(first_fault(R"({"format": "openreg-gen ops", "version": 2, "ops": []})").starts_with("E0172 1:42"));
  EXPECT_TRUE(first_fault(R"({"format": "openreg-gen ops", "version": 1, "ops": {}})").starts_with("E0171 1:52"));
  EXPECT_TRUE(
      first_fault(R"({"format": "openreg-gen ops", "version": 1, "ops": [{"name": "mm"}]})").starts_with("E0171 1:53"));
  EXPECT_TRUE(first_fault(R"({"format": "openreg-gen ops", "version": 1, "ops": [{"op": "mm", "calls": -1}]})")
                  .starts_with("E0171 1:75"));
}

TEST(OpsFile, AFileThatIsNotThere) {
  Diagnostics diagnostics;
  EXPECT_FALSE(read_ops_file("/nowhere/model.json", diagnostics));
  EXPECT_EQ(diagnostics.all().at(0).code, "E0101");
}

TEST(OpsFile, ReadsAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "ops_file_test.txt";
  std::ofstream(path) << "relu\n";
  Diagnostics diagnostics;
  EXPECT_EQ(names(read_ops_file(path, diagnostics)), (std::vector<std::string>{"relu"}));
  std::ofstream(path, std::ios::binary) << std::string("re\0lu", 5);
  EXPECT_FALSE(read_ops_file(path, diagnostics));
  EXPECT_EQ(diagnostics.all().at(0).code, "E0106");
}

}  // namespace
}  // namespace openreg_gen
