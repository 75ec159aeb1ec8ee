#include "texts/escape.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

TEST(Escape, Cpp) {
  EXPECT_EQ(cpp_literal("plain é"), "\"plain é\"");
  EXPECT_EQ(cpp_literal("a\"b\\c\nd\te"), R"("a\"b\\c\nd\te")");
  EXPECT_EQ(cpp_literal("\x01"
                        "7"),
            R"("\0017")");
}

TEST(Escape, Python) {
  EXPECT_EQ(python_literal("plain"), R"("plain")");
  EXPECT_EQ(python_literal("a \"b\""), R"('a "b"')");  // as `ruff format` has it: fewer backslashes
  EXPECT_EQ(python_literal("it's \"b\" \\"), R"('it\'s "b" \\')");
  EXPECT_EQ(python_literal("it's"), R"("it's")");
  EXPECT_EQ(python_literal("\x1b"), R"("\x1b")");
}

TEST(Escape, Toml) {
  EXPECT_EQ(toml_literal("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(toml_literal("\x7f"), R"("\u007F")");
}

TEST(Escape, CMake) {
  EXPECT_EQ(cmake_literal("a;b"), R"("a;b")");
  EXPECT_EQ(cmake_literal("${HOME} \"x\" \\"), R"("\${HOME} \"x\" \\")");
}

TEST(Escape, Markdown) {
  EXPECT_EQ(markdown_text("The OpenReg reference backend, a simulated accelerator for PyTorch."),
            "The OpenReg reference backend, a simulated accelerator for PyTorch.");
  EXPECT_EQ(markdown_text("*a* [b](c) <script> & x_y | `z`"), R"(\*a\* \[b\](c) &lt;script&gt; &amp; x\_y \| \`z\`)");
  EXPECT_EQ(markdown_text("# no heading"), R"(\# no heading)");
  EXPECT_EQ(markdown_text("12. no list"), R"(12\. no list)");
  EXPECT_EQ(markdown_text("C# 2.5"), "C# 2.5");
}

TEST(Escape, CommentsEndNowhere) {
  EXPECT_EQ(comment_text("plain"), "plain");
  for (const char* bad :
       {"*/ int x;", "--> <script>", "a\nb", "ends in \\", "\"\"\"", "quote\"", "/* */ \"\"\"\" \\\\"}) {
    const std::string text = comment_text(bad);
    EXPECT_EQ(text.find("*/"), std::string::npos) << text;
    EXPECT_EQ(text.find("-->"), std::string::npos) << text;
    EXPECT_EQ(text.find("\"\"\""), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.find('\\'), std::string::npos) << text;
    EXPECT_FALSE(text.ends_with('"')) << text;
  }
}

}  // namespace
}  // namespace openreg_gen
