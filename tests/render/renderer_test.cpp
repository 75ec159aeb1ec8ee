// Runs the Python that the command itself would find; it must have Jinja2.
#include "render/renderer.h"

#include "diag/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class RendererTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "openreg_gen_render_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    fs::create_directories(folder / "templates");
  }
  void TearDown() override { fs::remove_all(folder); }

  void put(const std::string& name, const std::string& text) { std::ofstream(folder / "templates" / name) << text; }

  DataDir data() const {
    return {folder / "templates", {}, fs::path(OPENREG_GEN_SOURCE_DIR) / "generator/render/renderer.py"};
  }

  std::string render(const std::string& name, const json& globals, const json& context = json::object()) {
    Renderer renderer(data());
    return renderer.render({hash_templates(data()), globals.dump(), {{name, context}}}).at(0);
  }

  Failure failure(const std::string& name, const json& globals) {
    try {
      render(name, globals);
    } catch (const Failure& thrown) {
      return thrown;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Failure(Exit::Done, "", "");
  }

  fs::path folder;
};

TEST_F(RendererTest, RendersInTheOrderOfTheJobs) {
  put("a.j2", "{{ b.name }} {{ item }}\n");
  put("b.j2", "{% for x in list %}\n{{ x }}{{ ',' if not loop.last }}\n{% endfor %}\n");
  Renderer renderer(data());
  const auto texts =
      renderer.render({hash_templates(data()),
                       json{{"b", {{"name", "é\"\\"}}}, {"list", {1, 2}}, {"all", {{"some", {"w", "x"}}}}}.dump(),
                       {{"b.j2", json::object()},
                        {"a.j2", json::object(), false, "all.some", 1},
                        {"a.j2", {{"item", "y"}}},
                        {"a.j2", json::object()}}});
  EXPECT_EQ(texts, (std::vector<std::string>{"1,\n2\n", "é\"\\ x\n", "é\"\\ y\n", "é\"\\ None\n"}));
}

TEST_F(RendererTest, ManyKeepTheirOrderAndTellTheirErrors) {
  put("a.j2", "{{ item }}{{ wrong.name if item == 700 }}\n");
  std::vector<RenderJob> jobs;
  for (int i = 0; i < 900; ++i) jobs.push_back({"a.j2", {{"item", i}}});
  const auto run = [&](const json& globals) {
    Renderer renderer(data());
    return renderer.render({hash_templates(data()), globals.dump(), jobs});
  };
  const auto texts = run({{"wrong", {{"name", "!"}}}});
  ASSERT_EQ(texts.size(), 900U);
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(texts[i], std::to_string(i) + (i == 700 ? "!\n" : "\n"));
  try {
    run({{"wrong", json::object()}});
    FAIL();
  } catch (const Failure& thrown) {
    EXPECT_THAT(thrown.what(), HasSubstr("templates/a.j2:1: "));
  }
}

TEST_F(RendererTest, IncludesAndMacrosWork) {
  put("a.j2", "{% from 'm.j2' import twice %}{{ twice('x') }}{% include 'i.j2' %}");
  put("m.j2", "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}");
  put("i.j2", "{{ b }}\n");
  EXPECT_EQ(render("a.j2", {{"b", "included"}}), "xxincluded\n");
}

TEST_F(RendererTest, AnUndefinedNameIsNamedWithTemplateAndLine) {
  put("a.j2", "one\n\n{{ b.nothing }}\n");
  const Failure thrown = failure("a.j2", {{"b", json::object()}});
  EXPECT_EQ(thrown.exit(), Exit::Internal);
  EXPECT_EQ(thrown.code(), "E0601");
  EXPECT_THAT(thrown.what(), HasSubstr("templates/a.j2:3: "));
  EXPECT_THAT(thrown.what(), HasSubstr("nothing"));
}

TEST_F(RendererTest, AFaultInAnIncludedTemplateIsNamedThere) {
  put("a.j2", "{% include 'i.j2' %}\n");
  put("i.j2", "\n{{ nothing }}\n");
  EXPECT_THAT(failure("a.j2", json::object()).what(), HasSubstr("templates/i.j2:2: "));
}

TEST_F(RendererTest, ASyntaxErrorIsNamed) {
  put("a.j2", "\n{% if %}\n");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.code(), "E0602");
  EXPECT_THAT(thrown.what(), HasSubstr("templates/a.j2:2: "));
}

TEST_F(RendererTest, AnErrorWhileRenderingIsNamed) {
  put("a.j2", "\n\n{{ 1 // 0 }}\n");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.code(), "E0603");
  EXPECT_THAT(thrown.what(), HasSubstr("templates/a.j2:3: ZeroDivisionError"));
}

TEST_F(RendererTest, AMissingTemplateIsNamed) {
  put("a.j2", "{% include 'gone.j2' %}");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.code(), "E0601");
  EXPECT_THAT(thrown.what(), HasSubstr("gone.j2"));
}

class FakePython : public RendererTest {
 protected:
  void python(const std::string& script) {
    const fs::path path = folder / "python";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, fs::perms::owner_all);
    chosen.emplace("OPENREG_GEN_PYTHON", path.string());
  }
  std::optional<Variable> chosen;
};

TEST_F(FakePython, WithoutJinja2) {
  python(R"(cat >/dev/null; echo '{"error": {"kind": "jinja2", "template": "", "line": 0, "message": "No module"}}')");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.exit(), Exit::Environment);
  EXPECT_EQ(thrown.code(), "E0606");
  EXPECT_EQ(thrown.hint(), "pip install jinja2");
}

TEST_F(FakePython, ThatDies) {
  python("echo 'what a day' >&2; exit 1");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.code(), "E0607");
  EXPECT_THAT(thrown.what(), HasSubstr("what a day"));
}

TEST_F(FakePython, ThatHangsIsKilledAndNamed) {
  const Variable limit("OPENREG_GEN_CHILD_SECONDS", "1");
  python("exec sleep 120");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.exit(), Exit::Environment);
  EXPECT_EQ(thrown.code(), kHung);
  EXPECT_THAT(thrown.what(), HasSubstr((folder / "python").string() + " -X utf8 "));
  EXPECT_THAT(thrown.hint(), HasSubstr("OPENREG_GEN_PYTHON"));
}

TEST_F(FakePython, ThatAnswersLessThanItSays) {
  python(R"(cat >/dev/null; printf '{"sizes": [7]}\nshort\n')");
  const Failure thrown = failure("a.j2", json::object());
  EXPECT_EQ(thrown.code(), "E0607");
  EXPECT_EQ(thrown.exit(), Exit::Internal);
}

TEST_F(RendererTest, ATextThatIsNoUnicodeIsAnError) {
  put("a.j2", "{{ '\\ud800' }}\n");
  EXPECT_THAT(failure("a.j2", json::object()).what(), HasSubstr("templates/a.j2"));
}

TEST_F(FakePython, ThatIsNotThere) {
  const Variable nowhere("OPENREG_GEN_PYTHON", "/no/such/python");
  EXPECT_EQ(failure("a.j2", json::object()).code(), "E0605");
}

TEST(HashRequest, DependsOnAllThatJobsFollowFrom) {
  const RenderRequest request{"t", R"({"b":1})", {{"a.j2", {{"item", 1}}}}};
  RenderRequest other = request;
  EXPECT_EQ(hash_request(request), hash_request(other));
  other.templates_hash = "u";
  EXPECT_NE(hash_request(request), hash_request(other));
  other = request;
  other.globals = R"({"b":2})";
  EXPECT_NE(hash_request(request), hash_request(other));
  other = request;
  other.user["a.j2"] = "text";
  EXPECT_NE(hash_request(request), hash_request(other));
}

}  // namespace
}  // namespace openreg_gen
