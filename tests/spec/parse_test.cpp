#include "strategy/strategy.h"

#include "releases/releases.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

Spec parse(std::string text, const char* file = "spec.yaml") {
  Diagnostics diagnostics;
  Spec spec = parse_spec_text(std::move(text), file, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << (diagnostics.empty() ? "" : diagnostics.all()[0].message);
  return spec;
}

std::string first_error(std::string text, const char* file = "spec.yaml") {
  Diagnostics diagnostics;
  parse_spec_text(std::move(text), file, diagnostics);
  if (diagnostics.empty()) return "none";
  const auto& d = diagnostics.all()[0];
  return d.code + " " + std::to_string(d.at.line) + ":" + std::to_string(d.at.column);
}

TEST(Parse, ANameAloneIsAFullSpec) {
  const Spec spec = parse("backend: {name: foo_bar}\n");
  EXPECT_EQ(*spec.backend.name, "foo_bar");
  EXPECT_EQ(spec.backend.name.at.line, 1);
  EXPECT_EQ(spec.backend.name.at.column, 17);
  EXPECT_EQ(*spec.backend.package, "torch_foo_bar");
  EXPECT_FALSE(spec.backend.package.given());
  EXPECT_EQ(*spec.backend.cpp_namespace, "foo_bar");
  EXPECT_EQ(*spec.backend.class_prefix, "FooBar");
  EXPECT_EQ(*spec.backend.api_prefix, "fooBar");
  EXPECT_EQ(*spec.backend.vendor, "The foo_bar authors");
  EXPECT_EQ(*spec.backend.version, "0.1.0");
  EXPECT_EQ(*spec.torch.min, kOldestTorch);
  EXPECT_EQ(*spec.torch.max, kNewestTorch);
  EXPECT_EQ(*spec.device.count, 2);
  EXPECT_EQ(*spec.device.memory, std::uint64_t{1} << 30);
  EXPECT_EQ(*spec.fallback.kind, FallbackKind::Cpu);
  EXPECT_EQ(spec.amp.dtypes->size(), 2u);
  EXPECT_EQ(*spec.amp.preset, "cuda");
}

TEST(Parse, TheReferenceSpec) {
  Diagnostics diagnostics;
  const Spec spec = parse_spec(fs::path(OPENREG_GEN_SOURCE_DIR) / "specs/openreg.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(*spec.backend.class_prefix, "OpenReg");
  ASSERT_EQ(spec.ops.size(), 12u);
  EXPECT_EQ(*spec.ops[1].name, "hypot.out");
  EXPECT_EQ(*spec.ops[1].strategy, "pointwise");
  EXPECT_EQ(spec.ops[1].expr->text, "std::hypot(self, other)");
  EXPECT_EQ(spec.ops[1].dtypes->size(), 4u);
  EXPECT_EQ(*spec.ops[11].reason, "its weights are packed for CUDA's kernels");
  ASSERT_EQ(spec.custom_ops.size(), 3u);
  EXPECT_EQ(*spec.custom_ops[0].autograd, CustomAutograd::Formula);
  ASSERT_EQ(spec.custom_ops[1].backward->size(), 1u);
  EXPECT_EQ(spec.custom_ops[1].backward->front()->text, "2 * self * grad");
  EXPECT_EQ(*spec.amp.remove.at(0), "rnn_tanh_cell");
}

TEST(Parse, TheShippedSpecsAreForWhatIsSupported) {
  for (const char* name : {"openreg.yaml", "full.yaml"}) {
    Diagnostics diagnostics;
    const Spec spec = parse_spec(fs::path(OPENREG_GEN_SOURCE_DIR) / "specs" / name, diagnostics);
    EXPECT_EQ(*spec.torch.min, kOldestTorch) << name;
    EXPECT_EQ(*spec.torch.max, kNewestTorch) << name;
  }
}

TEST(Parse, TheMinimalSpec) {
  Diagnostics diagnostics;
  parse_spec(fs::path(OPENREG_GEN_SOURCE_DIR) / "specs/minimal.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Parse, JsonAndYamlMeanTheSame) {
  const Spec yaml =
      parse("backend: {name: dev, vendor: \"a / \u00e9\"}\ndevice: {count: 3, memory: 512MiB}\nops: {relu: native}\n");
  const Spec json = parse(
      "\xEF\xBB\xBF{\n\t\"backend\": {\"name\": \"dev\", \"vendor\": \"a \\/ \\u00e9\"},\n"
      "\t\"device\": {\"count\": 3, \"memory\": \"512MiB\"},\n\t\"ops\": {\"relu\": \"native\"}\n}",
      "spec.json");
  EXPECT_EQ(*yaml.backend.vendor, *json.backend.vendor);
  EXPECT_EQ(*yaml.device.memory, *json.device.memory);
  EXPECT_EQ(*json.device.count, 3);
  EXPECT_EQ(*json.ops.at(0).name, "relu");
  EXPECT_EQ(json.ops.at(0).name.at.line, 4);
  EXPECT_EQ(json.ops.at(0).name.at.column, 10);
}

TEST(Parse, JsonIsToldByItsContent) {
  EXPECT_EQ(*parse("{\"backend\":\n\t{\"name\": \"dev\"}}", "spec.yaml").backend.name, "dev");  // a tab: no YAML
  EXPECT_EQ(*parse("{backend: {name: dev}}", "spec.yaml").backend.name, "dev");
  EXPECT_EQ(first_error("{backend: {name: dev}}", "spec.json"), "E0107 1:2");
}

TEST(Parse, OpsAsAList) {
  const Spec spec = parse(
      "backend: {name: dev}\nops:\n- relu\n- {name: relu_, tests: false}\n- abs.out: stub\n- neg.out: {strategy: "
      "cpu_fallback}\n");
  ASSERT_EQ(spec.ops.size(), 4u);
  EXPECT_EQ(*spec.ops[0].strategy, "native");
  EXPECT_FALSE(*spec.ops[1].tests.run);
  EXPECT_EQ(*spec.ops[2].strategy, "stub");
  EXPECT_EQ(*spec.ops[3].strategy, "cpu_fallback");
}

TEST(Parse, FallbackAsAMap) {
  const Spec spec = parse("backend: {name: dev}\nfallback: {kind: none, warn_once: true}\n");
  EXPECT_EQ(*spec.fallback.kind, FallbackKind::None);
  EXPECT_TRUE(*spec.fallback.warn_once);
}

TEST(Parse, AnEmptySectionIsItsDefault) {
  EXPECT_EQ(parse("backend: {name: dev}\nops:\ncustom_ops:\namp:\n").ops.size(), 0u);
}

TEST(Parse, AliasesAreExpanded) {
  const Spec spec = parse("backend: {name: dev}\nops:\n  relu: &one {strategy: native, tests: false}\n  relu_: *one\n");
  EXPECT_FALSE(*spec.ops.at(1).tests.run);
}

TEST(Parse, WindowsLineEndsAndAByteOrderMark) {
  const Spec spec = parse(
      "\xEF\xBB\xBF"
      "backend:\r\n  name: dev\r\ndevice:\r\n  count: 3\r\n");
  EXPECT_EQ(spec.device.count.at.line, 4);
  EXPECT_EQ(spec.device.count.at.column, 10);
}

TEST(Parse, ColumnsCountCharacters) {
  EXPECT_EQ(first_error("backend: {vendor: \"\u00e9\u00e9\", name: cpu2}\n"), "E0120 1:31");
  EXPECT_EQ(first_error("{\"backend\": {\"vendor\": \"\u00e9\u00e9\", \"name\": \"cpu2\"}}", "spec.json"),
            "E0120 1:38");
}

TEST(Parse, FilesThatAreNoSpecs) {
  const auto code = [](const fs::path& path) {
    Diagnostics diagnostics;
    parse_spec(path, diagnostics);
    return diagnostics.all().at(0).code;
  };
  EXPECT_EQ(code("there/is/none.yaml"), "E0101");
  EXPECT_EQ(code(fs::temp_directory_path()), "E0102");
  EXPECT_EQ(code("/dev/null"), "E0102");
}

TEST(Parse, Limits) {
  EXPECT_EQ(first_error(std::string(2u << 20, 'x')), "E0103 0:0");
  EXPECT_EQ(first_error(std::string(500'000, '[')).substr(0, 5), "E0110");
  EXPECT_EQ(first_error(std::string(500'000, '['), "spec.json").substr(0, 5), "E0110");
  std::string many = "ops: [";
  for (int i = 0; i < 60'000; ++i) many += "x, ";
  EXPECT_EQ(first_error(many + "]\n").substr(0, 5), "E0109");
  EXPECT_EQ(first_error("a: |\n" + std::string(200'000, '\n')).substr(0, 5), "E0112");
}

// No text may bring the parser down: each prefix of the reference spec, and each with one byte changed.
TEST(Parse, SurvivesBrokenTexts) {
  Diagnostics unused;
  const std::string text = parse_spec(fs::path(OPENREG_GEN_SOURCE_DIR) / "specs/openreg.yaml", unused).text;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < text.size(); i += 7) {
    for (std::string broken :
         {text.substr(0, i), std::string(text).replace(i, 1, "\""), std::string(text).replace(i, 1, "{"),
          std::string(text).replace(i, 1, "\xff"), std::string(text).replace(i, 1, "\n- ")}) {
      Diagnostics diagnostics;
      parse_spec_text(broken, "spec.yaml", diagnostics);
      refused += diagnostics.has_errors();
      for (const auto& d : diagnostics.all()) EXPECT_FALSE(d.code.empty());
    }
  }
  EXPECT_GT(refused, text.size() / 7);
}

TEST(Vocabulary, TheParserKnowsNoOtherStrategies) {
  const Vocabulary two{{{"native"}, {"mine", "expr", "", "expr"}}, {"native", "mine"}, {}};
  Diagnostics diagnostics;
  const Spec spec =
      parse_spec_text("backend: {name: dev}\nops: {a: mine, b: {expr: self}, c: {}, d: {dtypes: [int8]}}\n",
                      "spec.yaml", two, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.all()[0].message;
  for (const auto& [place, word] : {std::pair{0, "mine"}, {1, "mine"}, {2, "native"}, {3, "native"}})
    EXPECT_EQ(*spec.ops.at(place).strategy, word);
  parse_spec_text("backend: {name: dev}\nops: {a: pointwise}\n", "spec.yaml", two, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "E0116");
}

}  // namespace
}  // namespace openreg_gen
