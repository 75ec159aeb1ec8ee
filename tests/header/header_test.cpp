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
    for (const FileClass was : {kGenerated, kShared}) {
      const std::string before = text({path, was, "ops", {}}), owned = text({path, kOwned, "ops", {}});
      EXPECT_EQ(with_class(before, "ops", was, kOwned), owned);
      EXPECT_EQ(with_class(owned, "ops", kOwned, was), before);
    }
  }
}

TEST(Header, ThatItsOwnerChangedStays) {
  EXPECT_EQ(with_class("// mine\n", "ops", kShared, kOwned), "// mine\n");
  const std::string far = std::string(2000, '\n') + text({"a.cpp", kShared, "ops", {}});
  EXPECT_EQ(with_class(far, "ops", kShared, kOwned), far);
  const std::string above = "// (c) us\r\n" + text({"a.cpp", kShared, "ops", {}});
  EXPECT_EQ(with_class(above, "ops", kShared, kOwned), "// (c) us\r\n" + text({"a.cpp", kOwned, "ops", {}}));
}

TEST(Header, OfAnotherKeyIsNotTouched) {
  const std::string before = text({"a.cpp", kShared, "ops", {}});
  EXPECT_EQ(with_class(before, "device", kShared, kOwned), before);
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
