#include "spec/keys.h"

#include "spec/keys.h"
#include "strategy/strategy.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

/// True if the file holds `text`; else rewrites it where that is asked for.
bool up_to_date(const fs::path& name, const std::string& text) {
  const fs::path path = fs::path(OPENREG_GEN_SOURCE_DIR) / name;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream found;
  found << in.rdbuf();
  if (found.str() == text) return true;
  if (std::getenv("OPENREG_GEN_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  return false;
}

TEST(JsonSchema, TheShippedOneIsUpToDate) {
  EXPECT_TRUE(up_to_date("specs/schema.json", spec_json_schema(vocabulary()))) << "OPENREG_GEN_UPDATE=1 rewrites it";
}

TEST(JsonSchema, TheReferencePageIsUpToDate) {
  EXPECT_TRUE(up_to_date("docs/reference/spec.md", spec_markdown(vocabulary()))) << "OPENREG_GEN_UPDATE=1 rewrites it";
}

TEST(JsonSchema, HasEveryKey) {
  const auto schema = nlohmann::json::parse(spec_json_schema(vocabulary()));
  EXPECT_EQ(schema["required"], nlohmann::json({"backend"}));
  for (const Key* key : child_keys("backend")) {
    EXPECT_TRUE(schema["properties"]["backend"]["properties"].contains(last_part(key->path))) << key->path;
  }
  EXPECT_EQ(schema["properties"]["backend"]["required"], nlohmann::json({"name"}));
  EXPECT_EQ(schema["properties"]["device"]["properties"]["count"]["maximum"], 64);
  EXPECT_EQ(schema["additionalProperties"], false);
}

TEST(Keys, TheirExamplesAreValid) {
  for (const Key& key : all_keys()) {
    if (key.example.empty() || key.path == "fallback.kind" || key.path.find('*') != std::string_view::npos ||
        key.path.find('[') != std::string_view::npos)
      continue;
    std::string text;
    int indent = 0;
    std::string_view rest = key.path;
    for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      text += std::string(indent, ' ') + std::string(rest.substr(0, dot)) + ":\n";
      rest.remove_prefix(dot + 1);
      indent += 2;
    }
    text += std::string(indent, ' ') + std::string(rest) + ": " + std::string(key.example) + "\n";
    if (key.path.starts_with("backend.") && key.path != "backend.name") text += "  name: dev\n";
    if (!key.path.starts_with("backend")) text += "backend: {name: dev}\n";
    Diagnostics diagnostics;
    parse_spec_text(text, "example.yaml", diagnostics);
    EXPECT_FALSE(diagnostics.has_errors())
        << key.path << ": " << (diagnostics.empty() ? "" : diagnostics.all()[0].message) << "\n"
        << text;
  }
}

}  // namespace
}  // namespace openreg_gen
