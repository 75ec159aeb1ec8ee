#include "header/header.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

constexpr auto kGenerated = FileClass::Generated;
constexpr auto kShared = FileClass::Shared;
constexpr auto kOwned = FileClass::Owned;

std::string text(const Header& header) { return header_text(header, "my.yaml") + "\n\nbody\n"; }

TEST(Header, HasTheCommentStyleOfItsFile) {
  EXPECT_EQ(header_text({"a/b.cpp", kGenerated, "device", {}}, "my.yaml"),
            "// Written by openreg-gen from my.yaml.\n"
            "// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.");
  EXPECT_EQ(header_text({"CMakeLists.txt", kShared, "device", {}}, "my.yaml"),
            "# Written by openreg-gen from my.yaml.\n"
            "# Shared: rendered, then yours to edit; `device` in the spec changes what is rendered.");
  EXPECT_EQ(header_text({"README.md", kOwned, "device", {}}, "my.yaml"),
            "<!-- Written by openreg-gen from my.yaml.\n"
            "     Owned: yours to edit; openreg-gen never writes it again. -->");
  EXPECT_EQ(header_text({"relu.cpp", kOwned, "ops", "aten::relu"}, "my.yaml"),
            "// Written by openreg-gen from my.yaml.\n"
            "// Owned: yours to edit; openreg-gen never writes it again.\n"
            "// Move or rename it as you like; it is found by this mark: [openreg-gen aten::relu]");
  EXPECT_EQ(header_text({"a.json", kGenerated, "device", {}}, "my.yaml"), "");
}

TEST(Header, OfATakenFileIsThatOfAnOwnedOneAndGoesBack) {
  for (const char* path : {"a.cpp", "a.py", "a.md"}) {
    for (const FileClass file_class : {kGenerated, kShared}) {
      const Header was{path, file_class, "ops", {}}, owned{path, kOwned, "ops", path};
      EXPECT_EQ(with_class(text(was), was, owned), text(owned));
      EXPECT_EQ(with_class(text(owned), owned, was), text(was));
    }
  }
}

TEST(Header, ThatItsOwnerChangedStays) {
  const Header was{"a.cpp", kShared, "ops", {}}, owned{"a.cpp", kOwned, "ops", "a.cpp"};
  EXPECT_EQ(with_class("// mine\n", was, owned), "// mine\n");
  const std::string far = std::string(2000, '\n') + text(was);
  EXPECT_EQ(with_class(far, was, owned), far);
}

// Older versions named themselves in each file.
TEST(Header, OfAnOlderVersionIsTakenForTodays) {
  const Header was{"a.md", kShared, "ops", {}}, owned{"a.md", kOwned, "ops", "a.md"};
  const auto older = [](std::string now) { return now.insert(now.find("from "), "0.1.0rc1+x "); };
  EXPECT_EQ(without_version("# (c) us\r\n" + older(text(was))), "# (c) us\r\n" + text(was));
  EXPECT_EQ(without_version(text(was)), text(was));
  EXPECT_EQ(with_class(older(text(was)), was, owned), older(text(owned)));
  EXPECT_EQ(with_class(older(text(owned)), owned, was), older(text(was)));
  EXPECT_EQ(without_header(older(text(owned))), without_header(text(owned)));
  for (const char* other : {"", "Written by openreg-gen ", "Written by openreg-gen 1", "Written by openreg-gen 1 of 2"})
    EXPECT_EQ(without_version(other), other);
}

TEST(Header, IsLeftOutOfTheBody) {
  const std::string owned = text({"a.cpp", kOwned, "ops", "aten::relu"});
  EXPECT_EQ(without_header(owned), "// Owned: yours to edit; openreg-gen never writes it again.\n\nbody\n");
  EXPECT_EQ(without_header("no line break"), "no line break");
}

TEST(Header, HasMarks) {
  EXPECT_EQ(marks_in(text({"a.cpp", kOwned, "ops", "aten::relu"}) + "# [openreg-gen b] [openreg-gen c\n]"),
            (std::vector<std::string>{"aten::relu", "b"}));
}

TEST(Header, ClassesAreReadAsTheyAreWritten) {
  for (const FileClass each : {kGenerated, kShared, kOwned}) {
    FileClass read{};
    EXPECT_TRUE(parse_file_class(to_string(each), read));
    EXPECT_EQ(read, each);
  }
  FileClass untouched = kOwned;
  EXPECT_FALSE(parse_file_class("mine", untouched));
  EXPECT_EQ(untouched, kOwned);
}

}  // namespace
}  // namespace openreg_gen
