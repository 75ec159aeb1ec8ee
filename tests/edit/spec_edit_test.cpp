#include "edit/spec_edit.h"

#include "diag/failure.h"
#include "edit/style.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace openreg_gen {
namespace {

Node yes() { return text_node("true", Node::Kind::Boolean); }

std::string added(const std::string& text, const std::string& name = "relu", const std::string& path = "spec.yaml") {
  return with_op(text, path, {name, "stub", {}});
}
std::string added_map(const std::string& text) {
  return with_op(text, "spec.yaml", {"relu", "native", {{"override", yes()}}});
}
std::string removed(const std::string& text, const std::string& name = "relu") {
  return without_op(text, "spec.yaml", name);
}

TEST(SpecEdit, BlockMap) {
  EXPECT_EQ(added("ops:\n  abs.out: stub\n"), "ops:\n  abs.out: stub\n  relu: stub\n");
  EXPECT_EQ(added("ops:\n    abs.out: stub  # mine\n    # below\n\namp: {preset: none}\n"),
            "ops:\n    abs.out: stub  # mine\n    relu: stub\n    # below\n\namp: {preset: none}\n");
  EXPECT_EQ(added("ops:\n  a: native   # one\n              # two\n"),
            "ops:\n  a: native   # one\n              # two\n  relu: stub\n");
  EXPECT_EQ(added("ops:\n  \"a\": \"native\"\n"), "ops:\n  \"a\": \"native\"\n  \"relu\": \"stub\"\n");
  EXPECT_EQ(added("ops:\n  'a': native\n"), "ops:\n  'a': native\n  'relu': stub\n");
  EXPECT_EQ(added("ops:\n  a:\namp: {}\n"), "ops:\n  a:\n  relu: stub\namp: {}\n");
  EXPECT_EQ(added("ops:\n  a:\n    strategy: pointwise\n    expr: self\n      * 2\n"),
            "ops:\n  a:\n    strategy: pointwise\n    expr: self\n      * 2\n  relu: stub\n");
  EXPECT_EQ(added("ops:\n  a:\n    expr: |\n      self\n      # text\n\namp: {}\n"),
            "ops:\n  a:\n    expr: |\n      self\n      # text\n  relu: stub\n\namp: {}\n");
  EXPECT_EQ(added("ops:\n  a: {strategy: stub,\n    dtypes: [bool]}  # x\n"),
            "ops:\n  a: {strategy: stub,\n    dtypes: [bool]}  # x\n  relu: stub\n");
}

TEST(SpecEdit, LineBreaksStay) {
  EXPECT_EQ(added("ops:\r\n  a: stub\r\namp: {}\r\n"), "ops:\r\n  a: stub\r\n  relu: stub\r\namp: {}\r\n");
  EXPECT_EQ(added("ops:\n  a: stub"), "ops:\n  a: stub\n  relu: stub");
  EXPECT_EQ(added("\xEF\xBB\xBFops:\n  a: stub\n"), "\xEF\xBB\xBFops:\n  a: stub\n  relu: stub\n");
  EXPECT_EQ(removed("ops:\n  a: stub\n  relu: stub"), "ops:\n  a: stub");
  EXPECT_EQ(removed("ops:\r\n  a: stub\r\n  relu: stub\r\n"), "ops:\r\n  a: stub\r\n");
}

TEST(SpecEdit, SortedOnesStaySorted) {
  EXPECT_EQ(added("ops:\n  a: stub\n  m: stub\n  z: stub\n", "b"),
            "ops:\n  a: stub\n  b: stub\n  m: stub\n  z: stub\n");
  EXPECT_EQ(added("ops:\n  # about b\n  b: stub\n  m: stub\n  z: stub\n", "a"),
            "ops:\n  a: stub\n  # about b\n  b: stub\n  m: stub\n  z: stub\n");
  EXPECT_EQ(added("ops: {b: stub, m: stub, z: stub}\n", "o"), "ops: {b: stub, m: stub, o: stub, z: stub}\n");
  EXPECT_EQ(added("ops: {b: stub, m: stub, z: stub}\n", "a"), "ops: {a: stub, b: stub, m: stub, z: stub}\n");
  EXPECT_EQ(added("ops:\n  z: stub\n  a: stub\n  m: stub\n", "b"),
            "ops:\n  z: stub\n  a: stub\n  m: stub\n  b: stub\n");
}

TEST(SpecEdit, FlowMap) {
  EXPECT_EQ(added("ops: {a: stub}\n"), "ops: {a: stub, relu: stub}\n");
  EXPECT_EQ(added("ops: {a: stub, }  # x\n"), "ops: {a: stub, relu: stub, }  # x\n");
  EXPECT_EQ(added("ops: {}\n"), "ops: {relu: stub}\n");
  EXPECT_EQ(added("ops: {\n  a: stub,  # a\n  b: stub  # b, with a {\n}\n"),
            "ops: {\n  a: stub,  # a\n  b: stub,  # b, with a {\n  relu: stub\n}\n");
  EXPECT_EQ(added("ops: {\n  a: stub,\n}\n"), "ops: {\n  a: stub,\n  relu: stub,\n}\n");
  EXPECT_EQ(added("ops: {a: {strategy: unsupported, reason: the device's own}, b: stub}\n"),
            "ops: {a: {strategy: unsupported, reason: the device's own}, b: stub, relu: stub}\n");
  EXPECT_EQ(added("backend: {name: a}\nops:\n  {a: stub}\n"), "backend: {name: a}\nops:\n  {a: stub, relu: stub}\n");
}

TEST(SpecEdit, MapsLookLikeThoseAround) {
  EXPECT_EQ(added_map("ops:\n   a: stub\n"),
            "ops:\n   a: stub\n   relu:\n      strategy: native\n      override: true\n");
  EXPECT_EQ(added_map("backend:\n    name: a\nops:\n    a: stub\n"),
            "backend:\n    name: a\nops:\n    a: stub\n    relu:\n        strategy: native\n        override: true\n");
  EXPECT_EQ(added_map("ops:\n  a: {strategy: stub}\n"),
            "ops:\n  a: {strategy: stub}\n  relu: {strategy: native, override: true}\n");
}

TEST(SpecEdit, Lists) {
  EXPECT_EQ(added("ops:\n  - a: stub\n"), "ops:\n  - a: stub\n  - relu: stub\n");
  EXPECT_EQ(added("ops:\n- a: stub\n- b\namp: {}\n"), "ops:\n- a: stub\n- b\n- relu: stub\namp: {}\n");
  EXPECT_EQ(added("ops:\n  - name: a\n    strategy: stub\n"),
            "ops:\n  - name: a\n    strategy: stub\n  - name: relu\n    strategy: stub\n");
  EXPECT_EQ(added("ops:\n  - {name: a, strategy: stub}\n"),
            "ops:\n  - {name: a, strategy: stub}\n  - {name: relu, strategy: stub}\n");
  EXPECT_EQ(added("ops: [a, {b: stub}]\n"), "ops: [a, {b: stub}, {relu: stub}]\n");
  EXPECT_EQ(with_op("ops: [a, b]\n", "s.yaml", {"relu", "native", {}}), "ops: [a, b, relu]\n");
  EXPECT_EQ(added_map("ops:\n- a\n- {b: stub}\n"),
            "ops:\n- a\n- {b: stub}\n- {relu: {strategy: native, override: true}}\n");
  EXPECT_EQ(added_map("ops:\n- b: stub\n"), "ops:\n- b: stub\n- relu:\n    strategy: native\n    override: true\n");
  EXPECT_EQ(added("ops: \"@core\"  # x\n"), "ops: [\"@core\", {relu: stub}]  # x\n");
}

TEST(SpecEdit, ASectionThatIsNotThere) {
  EXPECT_EQ(added("backend: {name: a}\n"), "backend: {name: a}\nops:\n  relu: stub\n");
  EXPECT_EQ(added("backend: {name: a}"), "backend: {name: a}\nops:\n  relu: stub");
  EXPECT_EQ(added("backend:\n    name: a\n\nfallback: cpu\n"),
            "backend:\n    name: a\n\nfallback: cpu\n\nops:\n    relu: stub\n");
  EXPECT_EQ(added("ops:  # none yet\nbackend: {name: a}\n"), "ops:  # none yet\n  relu: stub\nbackend: {name: a}\n");
  EXPECT_EQ(added("{backend: {name: a}}\n"), "{backend: {name: a}, ops: {relu: stub}}\n");
}

TEST(SpecEdit, Json) {
  const auto json = [](const std::string& text) { return added(text, "relu", "spec.json"); };
  EXPECT_EQ(json(R"({"ops": {"a": "stub"}})"), R"({"ops": {"a": "stub", "relu": "stub"}})");
  EXPECT_EQ(json(R"({"ops":{"a":"stub","b":"native"}})"), R"({"ops":{"a":"stub","b":"native","relu":"stub"}})");
  EXPECT_EQ(json("{\n\t\"ops\": {\n\t\t\"a\": \"stub\"\n\t}\n}\n"),
            "{\n\t\"ops\": {\n\t\t\"a\": \"stub\",\n\t\t\"relu\": \"stub\"\n\t}\n}\n");
  EXPECT_EQ(
      json("{\n    \"backend\": {\n        \"name\": \"a\"\n    }\n}\n"),
      "{\n    \"backend\": {\n        \"name\": \"a\"\n    },\n    \"ops\": {\n        \"relu\": \"stub\"\n    }\n}\n");
  EXPECT_EQ(json("{\n  \"ops\": {}\n}\n"), "{\n  \"ops\": {\n    \"relu\": \"stub\"\n  }\n}\n");
  EXPECT_EQ(json(R"({"ops": ["a", {"b": "stub"}]})"), R"({"ops": ["a", {"b": "stub"}, {"relu": "stub"}]})");
  EXPECT_EQ(removed("ops:\n- relu: {until: \"2.13\"}\n- abs\n- relu: {since: \"2.14\"}\n", "relu"), "ops:\n- abs\n");
  EXPECT_EQ(without_op("{\n  \"ops\": {\n    \"a\": \"stub\",\n    \"relu\": \"stub\"\n  }\n}\n", "s.json", "relu"),
            "{\n  \"ops\": {\n    \"a\": \"stub\"\n  }\n}\n");
}

TEST(SpecEdit, CustomOperators) {
  const std::string schema = "my.out(Tensor self, int[2] k=0) -> Tensor";
  EXPECT_EQ(
      with_custom_op("custom_ops:\n  - schema: a(Tensor self) -> Tensor\n    expr: \"-self\"\n", "s.yaml", schema),
      "custom_ops:\n  - schema: a(Tensor self) -> Tensor\n    expr: \"-self\"\n  - schema: " + schema + "\n");
  EXPECT_EQ(with_custom_op("custom_ops:\n- a(Tensor self) -> Tensor\n", "s.yaml", schema),
            "custom_ops:\n- a(Tensor self) -> Tensor\n- " + schema + "\n");
  EXPECT_EQ(with_custom_op("custom_ops: []\n", "s.yaml", schema), "custom_ops: [{schema: \"" + schema + "\"}]\n");
  EXPECT_EQ(with_custom_op("a: 1\n", "s.yaml", schema), "a: 1\ncustom_ops:\n  - schema: " + schema + "\n");
  EXPECT_EQ(without_custom_op("custom_ops:\n- a() -> Tensor\n- b() -> Tensor  # b\n", "s.yaml", 1),
            "custom_ops:\n- a() -> Tensor\n");
}

TEST(SpecEdit, Removal) {
  EXPECT_EQ(removed("ops:\n  # a\n  a: stub\n  relu: stub  # r\n         # more\n  # b\n  b: stub\n"),
            "ops:\n  # a\n  a: stub\n  # b\n  b: stub\n");
  EXPECT_EQ(removed("ops:\n  relu: stub\nfallback: cpu\n"), "ops:\nfallback: cpu\n");
  EXPECT_EQ(removed("ops: {relu: stub}\n"), "ops: {}\n");
  EXPECT_EQ(removed("ops: {a: stub, relu: stub}\n"), "ops: {a: stub}\n");
  EXPECT_EQ(removed("ops: {relu: {strategy: stub}, a: stub}\n"), "ops: {a: stub}\n");
  EXPECT_EQ(removed("ops:\n- a\n- name: relu\n  strategy: stub\n- b\n"), "ops:\n- a\n- b\n");
  EXPECT_EQ(removed("ops: {\n  a: stub,  # a\n  relu: stub  # r\n}\n"), "ops: {\n  a: stub  # a\n}\n");
  EXPECT_EQ(removed("ops: {\n  relu: stub,\n  a: stub,\n}\n"), "ops: {\n  a: stub,\n}\n");
}

TEST(SpecEdit, WhatIsNotUnderstoodIsRefusedWithItsPlace) {
  for (const std::string text :
       {"ops: &x\n  a: stub\n", "x: &x {a: stub}\nops: *x\n", "ops:\n- a: stub\n  relu: stub\n"}) {
    try {
      const std::string out = text.find("- a") != std::string::npos ? removed(text) : added(text);
      FAIL() << out;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), "E0550");
      EXPECT_NE(std::string(failure.what()).find("spec.yaml:"), std::string::npos) << failure.what();
    }
  }
}

// --- any spec, however it is written

std::string pick(std::mt19937& random, std::vector<std::string> from) { return from[random() % from.size()]; }

std::string comment(std::mt19937& random) {
  return pick(random, {"", "", "", "  # a comment, {with} \"marks\": 'n [all]", " #"});
}

std::string value(std::mt19937& random, bool block, const std::string& indent) {
  if (block && random() % 6 == 0)
    return "\n" + indent + "  strategy: stub" + comment(random) + "\n" + indent + "  dtypes: [bool, int8]";
  if (block && random() % 9 == 0) return "\n" + indent + "  expr: >-\n" + indent + "    self\n" + indent + "    # * 2";
  if (random() % 5 == 0) return " {strategy: unsupported, reason: \"no, 'it' can't: {\"}";
  return pick(random, {" stub", " native", " \"stub\"", " 'native'"});
}

/// A text, and the names in it.
std::string random_spec(std::mt19937& random, std::vector<std::string>& names) {
  const std::string indent(random() % 3 * 2 + (random() % 2 ? 2 : 1), ' ');
  const std::size_t count = random() % 6;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(std::string(1, static_cast<char>('a' + random() % 26)) + std::to_string(i) + ".out");
  if (random() % 3 == 0) std::ranges::sort(names);
  std::string ops = "ops:";
  switch (count == 0 ? 3 : random() % 3) {
    case 0:
      ops += comment(random) + "\n";
      for (const auto& name : names) {
        if (random() % 4 == 0) ops += indent + "# above\n";
        const std::string quote = pick(random, {"", "", "'", "\""});
        ops += indent + quote + name + quote + ":" + value(random, true, indent) + comment(random) + "\n";
        if (random() % 5 == 0) ops += "\n";
      }
      break;
    case 1: {
      const bool lines = random() % 2;
      ops += lines ? " {\n" : " {";
      for (std::size_t i = 0; i < names.size(); ++i) {
        const bool more = i + 1 < names.size();
        ops += (lines ? indent : "") + names[i] + ":" + value(random, false, "");
        ops += more || random() % 3 == 0 ? "," : "";
        ops += lines ? comment(random) + "\n" : more ? " " : "";
      }
      ops += "}" + comment(random) + "\n";
      break;
    }
    case 2: {
      const std::string dash = random() % 2 ? "" : indent;
      ops += comment(random) + "\n";
      for (const auto& name : names) {
        const std::string form = pick(random, {"N", "N: stub", "name: N\nI  strategy: stub", "{N: stub}", "{name: N}"});
        for (const char c : "- " + form) ops += c == 'N' ? name : c == 'I' ? dash : c == '\0' ? "" : std::string(1, c);
        ops += comment(random) + "\n";
      }
      if (!dash.empty()) {
        std::string shifted;
        for (std::size_t at = ops.find('\n') + 1, end; at < ops.size(); at = end + 1) {
          end = ops.find('\n', at);
          shifted += (ops.substr(at, 1) == "-" ? dash : "") + ops.substr(at, end + 1 - at);
        }
        ops = ops.substr(0, ops.find('\n') + 1) + shifted;
      }
      break;
    }
    default:
      ops = pick(random, {"", "ops: {}\n", "ops:  # later\n"});
  }
  const std::string before = pick(random, {"backend: {name: a}\n", "# top\nbackend:\n" + indent + "name: é\n\n"});
  const std::string after =
      pick(random, {"", "\n# amp\namp: {preset: none}\n", "custom_ops:\n- schema: x() -> Tensor\n"});
  std::string text = before + ops + after;
  if (random() % 4 == 0) text.pop_back();
  if (random() % 3 == 0) {
    std::string crlf;
    for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    text = crlf;
  }
  return text;
}

Node parsed(const std::string& text) {
  Diagnostics diagnostics;
  const auto node = read_document(text, "spec.yaml", diagnostics);
  return node.value_or(Node{});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The bytes of `small` are in `large`, in order.
bool within(const std::string& small, const std::string& large) {
  std::size_t at = 0;
  for (const char c : large) at += at < small.size() && small[at] == c;
  return at == small.size();
}

TEST(SpecEdit, AddingAndRemovingChangesNothingElse) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> names;
    const std::string text = random_spec(random, names);
    const std::string name = std::string(1, static_cast<char>('a' + random() % 26)) + "new";
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    ASSERT_EQ(parsed(text).kind, Node::Kind::Map);
    const OpEntry entry{name, random() % 2 ? "native" : "stub", {}};
    const std::string more = with_op(text, "spec.yaml", entry);
    EXPECT_TRUE(within(text, more)) << more;
    // Whole lines stay as they are, but for a comma or a bracket's inside.
    const auto old = lines_of(text), now = lines_of(more);
    std::size_t changed = 0;
    for (const std::string& line : old) changed += std::ranges::find(now, line) == now.end();
    EXPECT_LE(changed, 1u) << more;
    EXPECT_NE(more.find(name), std::string::npos);
    EXPECT_TRUE(names.empty() || same(parsed(without_op(more, "spec.yaml", name)), parsed(text))) << more;
    // The other entries are gone one by one, and no others with them.
    std::string less = more;
    for (const std::string& gone : names) {
      less = without_op(less, "spec.yaml", gone);
      EXPECT_TRUE(within(less, more)) << less;
    }
    const Node* ops = parsed(less).find("ops") ? new Node(*parsed(less).find("ops")) : nullptr;
    ASSERT_NE(ops, nullptr) << less;
    EXPECT_EQ(ops->entries.size() + ops->items.size(), 1u) << less;
    delete ops;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SpecEdit, EveryShippedSpecTakesAnOperator) {
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(OPENREG_GEN_SOURCE_DIR) / "specs")) {
    if (file.path().extension() != ".yaml") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string more = with_op(text, file.path(), {"zz_new", "stub", {}});
    EXPECT_TRUE(within(text, more));
    const std::string less = without_op(more, file.path(), "zz_new");
    EXPECT_TRUE(parsed(text).find("ops") ? less == text : less.starts_with(text)) << less;
  }
}

}  // namespace
}  // namespace openreg_gen
