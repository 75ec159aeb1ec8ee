#include "model/model.h"

#include "diag/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Outputs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "openreg_gen_model_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    templates = pattern;
    std::ofstream(templates / "a.h.j2") << "x";
  }
  void TearDown() override { fs::remove_all(templates); }

  std::vector<Output> expand(const std::string& rows) {
    std::ofstream(templates / "templates.yaml") << rows;
    return expand_outputs(templates, globals, {});
  }

  void expect_failure(const std::string& rows, const std::string& code, const std::string& text) {
    try {
      expand(rows);
      ADD_FAILURE() << "accepted: " << rows;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), code);
      EXPECT_THAT(failure.what(), HasSubstr(text));
      EXPECT_THAT(failure.what(), HasSubstr("templates.yaml:"));
    }
  }

  fs::path templates;
  json globals{{"b", {{"name", "my"}, {"package", "torch_my"}}},
               {"device", {{"emulator", true}, {"external", false}}},
               {"families", {{{"name", "copy"}}, {{"name", "unary"}}}},
               {"none", json::array()}};
};

TEST_F(Outputs, NamesAreFilledIn) {
  const auto outputs =
      expand("- {template: a.h.j2, path: '{package}/{name}.h', class: shared, key: backend, about: x}\n");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].path, "torch_my/my.h");
  EXPECT_EQ(outputs[0].file_class, FileClass::Shared);
  EXPECT_EQ(outputs[0].key, "backend");
}

TEST_F(Outputs, EachGivesOneFileAnItemInOrder) {
  const auto outputs = expand(
      "- {template: a.h.j2, path: 'csrc/{item.name}.h', class: owned, key: ops, about: x, each: families}\n"
      "- {template: a.h.j2, path: '{item.name}', class: owned, key: ops, about: x, each: none}\n");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].path, "csrc/copy.h");
  EXPECT_EQ(outputs[1].path, "csrc/unary.h");
  EXPECT_EQ(globals.at(outputs[1].each).at(outputs[1].index)["name"], "unary");
}

TEST_F(Outputs, WhenDecides) {
  const auto outputs = expand(
      "- {template: a.h.j2, path: a, class: owned, key: k, about: x, when: device.emulator}\n"
      "- {template: a.h.j2, path: b, class: owned, key: k, about: x, when: device.external}\n"
      "- {template: a.h.j2, path: c, class: owned, key: k, about: x, when: none}\n"
      "- {template: a.h.j2, path: d, class: owned, key: k, about: x, when: device.emulator families}\n"
      "- {template: a.h.j2, path: e, class: owned, key: k, about: x, when: device.emulator none}\n");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].path, "a");
  EXPECT_EQ(outputs[1].path, "d");
}

// A slot that nothing fills is empty, and not undefined.
TEST_F(Outputs, SlotsHaveTheWordsOfTheFilesThatAreThere) {
  const auto outputs = expand(
      "- {template: a.h.j2, path: x/b.h, class: owned, key: k, about: x, slots: {names: 'one {name}_two', other: "
      "three}}\n"
      "- {template: a.h.j2, path: a.h, class: owned, key: k, about: x, slots: {names: four}}\n"
      "- {template: a.h.j2, path: c.h, class: owned, key: k, about: x, when: none, slots: {names: five, absent: "
      "six}}\n");
  EXPECT_EQ(slots_of(templates, outputs),
            json::parse(R"({"names": [{"file": "a", "words": ["four"]}, {"file": "b", "words": ["one", "my_two"]}],
                            "other": [{"file": "b", "words": ["three"]}], "absent": []})"));
}

TEST_F(Outputs, GroupsSayWhatTheirFilesHaveInCommon) {
  fs::create_directory(templates / "sub");
  for (const char* name : {"b.h.j2", "b.cpp.j2", "one.py.j2"}) std::ofstream(templates / "sub" / name) << "x";
  const auto outputs = expand(R"(
- folder: sub
  into: "{package}/deep"
  when: device.emulator
  key: device
  files:
    b.{h,cpp}: both
    one.py: {as: "{item.name}.py", class: shared, key: ops, each: families, about: one each}
- folder: .
  when: device.external
  key: device
  files: {a.h: not rendered}
- {template: a.h.j2, path: a, class: owned, key: k, about: x}
)");
  std::vector<std::string> paths;
  for (const Output& output : outputs) paths.push_back(output.path);
  EXPECT_THAT(paths, testing::ElementsAre("torch_my/deep/b.h", "torch_my/deep/b.cpp", "torch_my/deep/copy.py",
                                          "torch_my/deep/unary.py", "a"));
  EXPECT_EQ(outputs[1].template_name, "sub/b.cpp.j2");
  EXPECT_EQ(outputs[1].file_class, FileClass::Generated);
  EXPECT_EQ(outputs[1].about, "both");
  EXPECT_EQ(outputs[2].file_class, FileClass::Shared);
  EXPECT_EQ(outputs[2].key, "ops");
}

TEST_F(Outputs, AGroupThatIsWrongIsNamed) {
  expect_failure("- {folder: ., key: k, files: {gone.h: x}}\n", "E0601", "gone.h.j2");
  expect_failure("- {folder: ., files: {a.h: x}}\n", "E0604", "no 'key'");
  expect_failure("- {folder: ., key: k, files: {a.h: {as: b}}}\n", "E0604", "no 'about'");
  expect_failure("- {folder: ., key: k, files: {a.h: {path: b, about: x}}}\n", "E0604", "'path'");
  expect_failure("- {folder: ., key: k, file: x, files: {a.h: x}}\n", "E0604", "'file'");
}

TEST_F(Outputs, ARowThatIsWrongIsNamed) {
  expect_failure("- {template: gone.j2, path: a, class: owned, key: k, about: x}\n", "E0601", "gone.j2");
  expect_failure("- {path: a, class: owned, key: k, about: x}\n", "E0604", "'template'");
  expect_failure("- {template: a.h.j2, path: a, class: mine, key: k, about: x}\n", "E0604", "'mine'");
  expect_failure("- {template: a.h.j2, path: '{nothing}', class: owned, key: k, about: x}\n", "E0604", "{nothing}");
  expect_failure("- {template: a.h.j2, path: a, class: owned, key: k, about: x, wen: y}\n", "E0604", "'wen'");
  expect_failure("- {template: a.h.j2, path: a, class: owned, key: k, about: x, when: no.such}\n", "E0604", "no.such");
  expect_failure("- {template: a.h.j2, path: a, class: owned, key: k, about: x, each: device}\n", "E0604", "'device'");
  expect_failure("- just text\n", "E0604", "a map");
  expect_failure("- {template: [}\n", "E0604", "templates.yaml:1");
}

}  // namespace
}  // namespace openreg_gen
