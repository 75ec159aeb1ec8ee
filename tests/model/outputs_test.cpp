#include "model/model.h"

#include "diag/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Outputs : public testing::Test {
 protected:
  std::vector<Output> expand(const std::string& rows, const UserTemplates& user = {}) {
    templates.rows = parse_template_rows(rows, "templates.yaml", false);
    return expand_outputs(templates, globals, {}, user);
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

  Templates templates{.names = {"a.h.j2", "sub/b.cpp.j2", "sub/b.h.j2", "sub/one.py.j2"}, .rows = {}};
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

TEST_F(Outputs, ARowOfSeveralComponentsNeedsAllOfThem) {
  const std::string row = "- {template: a.h.j2, path: a, class: owned, key: k, about: x, component: pools caching}\n";
  globals["has"] = {{"pools", true}, {"caching", true}};
  ASSERT_EQ(expand(row).size(), 1u);
  EXPECT_EQ(expand(row)[0].component, "pools");
  globals["has"]["caching"] = false;
  EXPECT_TRUE(expand(row).empty());
  expect_failure("- {template: a.h.j2, path: a, class: owned, key: k, about: x, component: pools nothing}\n", "E0604",
                 "no component 'nothing'");
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
      "- {template: a.h.j2, path: a.h, class: owned, key: k, about: x, slots: {names: four, defines: f g}}\n"
      "- {template: a.h.j2, path: c.h, class: owned, key: k, about: x, when: none, slots: {names: five, unfilled: "
      "six}}\n");
  EXPECT_EQ(slots_of(templates, outputs, globals), json::parse(R"({
    "names": [{"file": "a", "path": "a.h", "about": "x", "words": ["four"], "text": "four"},
              {"file": "b", "path": "x/b.h", "about": "x", "words": ["one", "my_two"], "text": "one my_two"}],
    "other": [{"file": "b", "path": "x/b.h", "about": "x", "words": ["three"], "text": "three"}],
    "defines": [{"file": "a", "path": "a.h", "about": "x", "words": ["f", "g"], "text": "f g"}],
    "unfilled": [], "absent": [], "defined": ["f", "g"]})"));
}

TEST_F(Outputs, GroupsSayWhatTheirFilesHaveInCommon) {
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

TEST_F(Outputs, TemplatesOfASpecTakeThePlaceOfOursAndAddTheirOwn) {
  const std::string ours = "- {template: a.h.j2, path: a.h, class: generated, key: k, about: x}\n";
  const auto outputs =
      expand(ours, {"my",
                    {{"a.h.j2", ""},
                     {"more.j2", ""},
                     {"_part.j2", ""},
                     {"templates.yaml", "- {template: more.j2, path: more, class: owned, about: y}\n"}}});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(outputs[0].user && outputs[1].user);
  EXPECT_EQ(outputs[1].key, "templates");
  EXPECT_EQ(outputs[1].id, "more");
  const auto fails_with = [&](const UserTemplates& user, const std::string& text) {
    try {
      expand(ours, user);
      ADD_FAILURE() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), "E0613");
      EXPECT_THAT(std::string(failure.what()) + failure.hint(), HasSubstr(text));
    }
  };
  fails_with({"my", {{"sub/b.hh.j2", ""}}}, "did you mean 'sub/b.h.j2'?");
  fails_with({"my", {{"templates.yaml", "- {template: a.h.j2, path: b, class: owned, about: y}\n"}}}, "no template");
}

}  // namespace
}  // namespace openreg_gen
