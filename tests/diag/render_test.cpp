#include "diag/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <unistd.h>

namespace openreg_gen {
namespace {

using testing::HasSubstr;
using testing::Not;

Diagnostics sample() {
  Diagnostics diagnostics;
  diagnostics.error("E0112", {"spec.yaml", 2, 3}, "unknown key 'packge'", "did you mean 'package'?");
  diagnostics.finish("backend:\n  packge: x\n");
  return diagnostics;
}

TEST(RenderText, ShowsPlaceLineCaretAndHint) {
  EXPECT_EQ(render_text(sample(), false),
            "spec.yaml:2:3: error[E0112]: unknown key 'packge'\n"
            "  2 |   packge: x\n"
            "    |   ^\n"
            "  hint: did you mean 'package'?\n");
}

TEST(RenderText, ColoursOnlyWhenAsked) {
  EXPECT_THAT(render_text(sample(), true), HasSubstr("\033[1;31merror[E0112]\033[0m"));
  EXPECT_THAT(render_text(sample(), false), Not(HasSubstr("\033")));
}

TEST(RenderText, AWholeFileHasNoLine) {
  Diagnostics diagnostics;
  diagnostics.error("E0101", {"spec.yaml", 0, 0}, "there is no such file");
  diagnostics.finish("");
  EXPECT_EQ(render_text(diagnostics, false), "spec.yaml: error[E0101]: there is no such file\n");
}

TEST(RenderText, TheSourceCannotSteerTheTerminal) {
  Diagnostics diagnostics;
  diagnostics.error("E0112", {"spec.yaml", 1, 1}, "unknown key '\033[2J'");
  diagnostics.finish("\033[2J\tx: 1\n");
  const auto text = render_text(diagnostics, false);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("  1 | ?[2J x: 1\n"));
}

TEST(RenderText, CutsLongLinesAroundTheColumn) {
  Diagnostics diagnostics;
  diagnostics.error("E0107", {"spec.yaml", 1, 5001}, "here");
  diagnostics.finish(std::string(5000, 'a') + "X" + std::string(5000, 'b'));
  const auto text = render_text(diagnostics, false);
  EXPECT_LT(text.size(), 500u);
  const auto caret = text.find('^'), line = text.find("  1 | ");
  const auto below = text.rfind('\n', caret);
  EXPECT_EQ(text[line + (caret - below - 1)], 'X');
}

TEST(RenderText, CaretsCountCharacters) {
  Diagnostics diagnostics;
  diagnostics.error("E0107", {"spec.yaml", 1, 3}, "here");
  diagnostics.finish("\u00e9\u00e9X");
  EXPECT_THAT(render_text(diagnostics, false), HasSubstr("  1 | \u00e9\u00e9X\n    |   ^\n"));
}

TEST(DiagnosticsJson, HasTheDocumentedShape) {
  EXPECT_EQ(diagnostics_json(sample()).dump(),
            R"([{"code":"E0112","severity":"error","message":"unknown key 'packge'","file":"spec.yaml","line":2,)"
            R"("column":3,"hint":"did you mean 'package'?"}])");
}

TEST(DiagnosticsJson, APlaceThatIsNotKnownIsNull) {
  Diagnostics diagnostics;
  diagnostics.error("E0101", {"spec.yaml", 0, 0}, "there is no such file");
  diagnostics.error("E0500", {}, "unknown flag");
  const auto json = diagnostics_json(diagnostics);
  EXPECT_EQ(json[0]["file"], "spec.yaml");
  EXPECT_TRUE(json[0]["line"].is_null() && json[0]["column"].is_null());
  EXPECT_TRUE(json[1]["file"].is_null());
}

TEST(GithubAnnotation, NamesThePlaceAndEscapesWhatWouldEndIt) {
  const Diagnostic first = sample().all().front();
  EXPECT_EQ(github_annotation(first.severity, first.at, first.code, first.message),
            "::error file=spec.yaml,line=2,col=3,title=E0112::unknown key 'packge'\n");
  EXPECT_EQ(github_annotation(Severity::Warning, {"a,b:c%.yaml", 4, 0}, "E1", "50%, a: b\r\nnext"),
            "::warning file=a%2Cb%3Ac%25.yaml,line=4,title=E1::50%25, a: b%0D%0Anext\n");
  EXPECT_EQ(github_annotation(Severity::Note, {}, "E1", "x"), "::notice title=E1::x\n");
}

TEST(ColourWanted, NeverInAFileNorWithNoColor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(colour_wanted(ends[1]));
  close(ends[0]);
  close(ends[1]);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(colour_wanted(STDOUT_FILENO));
  unsetenv("NO_COLOR");
}

TEST(Finish, SortsAndDropsRepeats) {
  Diagnostics diagnostics;
  diagnostics.warning("E0307", {"a", 3, 1}, "late");
  diagnostics.error("E0112", {"a", 1, 2}, "early");
  diagnostics.error("E0112", {"a", 1, 2}, "early");
  diagnostics.finish("x\r\ny\r\nz");
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(diagnostics.all()[0].message, "early");
  EXPECT_EQ(diagnostics.all()[1].source_line, "z");
  EXPECT_TRUE(diagnostics.has_errors());
}

}  // namespace
}  // namespace openreg_gen
