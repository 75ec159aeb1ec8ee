#include "tree/manifest.h"

#include "diag/failure.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

Manifest example() {
  Manifest manifest{"0.1.0", "torch-2.13.0-abc", "my.yaml", "1234", {}};
  ManifestFile& spec = manifest.files["my.yaml"];
  spec.file_class = FileClass::Owned;
  spec.sha256 = "00";
  ManifestFile& file = manifest.files["csrc/a.cpp"];
  file.sha256 = "11";
  file.template_name = "csrc/a.cpp.j2";
  file.key = "ops";
  return manifest;
}

void expect_broken(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    parse_manifest(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "E0507");
    EXPECT_EQ(failure.exit(), Exit::BadInput);
  }
}

TEST(Manifest, ReadsWhatItWrites) { EXPECT_EQ(parse_manifest(manifest_text(example())), example()); }

TEST(Manifest, HasOneFileALine) {
  EXPECT_EQ(manifest_text(example()), R"({
  "format": 1,
  "tool": "0.1.0",
  "torch": "torch-2.13.0-abc",
  "spec": "my.yaml",
  "inputs": "1234",
  "sources": "9599db38e9ff4aac",
  "files": {
    "csrc/a.cpp": {"class":"generated","key":"ops","sha256":"11","template":"csrc/a.cpp.j2"},
    "my.yaml": {"class":"owned","key":"","sha256":"00","template":""}
  }
}
)");
}

TEST(Manifest, ItsSourcesAreTheCppAndWhichKernelsAreTheOwners) {
  const auto sources = [](const Manifest& manifest) {
    const std::string text = manifest_text(manifest);
    return text.substr(text.find("\"sources\""), 30);
  };
  const Manifest before = example();
  Manifest after = before;
  for (const char* path : {"tests/cpp/a.cpp", "README.md", "torch_my/a.py"})
    after.files[path] = {FileClass::Generated, "1", "x.j2", "ops"};
  EXPECT_EQ(sources(after), sources(before));
  after.files["csrc/mine.cpp"] = {FileClass::Owned, "1", "x.j2", "ops"};
  const std::string with_mine = sources(after);
  EXPECT_NE(with_mine, sources(before));
  after.files["csrc/mine.cpp"].sha256 = "2";
  EXPECT_EQ(sources(after), with_mine);
  after.files["csrc/b.h"] = {FileClass::Shared, "1", "x.j2", "ops"};
  EXPECT_NE(sources(after), with_mine);
}

TEST(Manifest, RemembersWhatIsKnownOfAFile) {
  Manifest manifest = example();
  ManifestFile& file = manifest.files["csrc/k.cpp"];
  file = {FileClass::Owned, "22", "k.j2", "ops", "aten::relu", "mine/k.cpp", "void relu()", "int relu()", "33"};
  const std::string text = manifest_text(manifest);
  EXPECT_EQ(parse_manifest(text), manifest);
  expect_broken(text, "mine/k.cpp", "../k.cpp");
  std::string rendered_as;
  EXPECT_EQ(find_file(manifest, "mine/k.cpp", &rendered_as), &file);
  EXPECT_EQ(rendered_as, "csrc/k.cpp");
  EXPECT_EQ(find_file(manifest, "csrc/a.cpp"), &manifest.files["csrc/a.cpp"]);
  EXPECT_EQ(find_file(manifest, "csrc/none.cpp"), nullptr);
}

TEST(Manifest, KnowsATakenFileByItsMissingIdAndOneThatLeftByItsMissingKey) {
  Manifest manifest = example();
  EXPECT_TRUE(manifest.files["my.yaml"].taken());
  EXPECT_FALSE(manifest.is_left("my.yaml"));  // no key governs the spec
  ManifestFile& file = manifest.files["csrc/a.cpp"];
  EXPECT_FALSE(file.taken());
  file.file_class = FileClass::Owned;
  EXPECT_TRUE(file.taken());
  file.id = "aten::relu";
  EXPECT_FALSE(file.taken());
  EXPECT_FALSE(manifest.is_left("csrc/a.cpp"));
  file.key.clear();
  EXPECT_TRUE(manifest.is_left("csrc/a.cpp"));
}

TEST(Manifest, ThatIsBrokenIsAClearError) {
  const std::string text = manifest_text(example());
  expect_broken(text, text, "");
  expect_broken(text, text, "[]");
  expect_broken(text, "{\n", "<<<<<<< HEAD\n");
  expect_broken(text, "\"format\": 1", "\"format\": 2");
  expect_broken(text, "generated", "somebody's");
  expect_broken(text, "csrc/a.cpp", "../../a.cpp");
  expect_broken(text, "\"spec\": \"my.yaml\"", "\"spec\": \"/etc/passwd\"");
  expect_broken(text, "\"sha256\":\"11\"", "\"sha256\":11");
}

}  // namespace
}  // namespace openreg_gen
