// What is read of C++ without a compiler, and what differs between two small PyTorchs.
#include "api/compare.h"
#include "files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const MacroText kNothing = [](std::string_view) { return std::optional<std::string>(); };

std::vector<std::string> words(const Tokens& tokens) {
  std::vector<std::string> out;
  for (const Token& token : tokens) out.emplace_back(token.text);
  return out;
}

TEST(Tokens, CommentsAndTextsAreNoCode) {
  EXPECT_THAT(words(tokens_of("a/*b*/::c // d\n\"e // f\" R\"x(g)\"h)x\" 1'000 'i'")),
              ElementsAre("a", "::", "c", "\"e // f\"", "R\"x(g)\"h)x\"", "1'000", "'i'"));
}

TEST(Tokens, PlacesCountFromOneAlsoBehindContinuedLines) {
  const Tokens tokens = tokens_of("#define A \\\n  b\n  c");
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].kind, Token::Directive);
  EXPECT_EQ(tokens[1].line, 3u);
  EXPECT_EQ(tokens[1].column, 3u);
}

TEST(Conditions, KnownMacrosDecideUnknownOnesDoNot) {
  const MacroText macros = [](std::string_view name) {
    return name == "RELEASE" ? std::optional<std::string>("(2 * 100 + 14)") : std::nullopt;
  };
  EXPECT_EQ(evaluate("RELEASE >= 214", macros), true);
  EXPECT_EQ(evaluate("RELEASE >= 215 && X", macros), false);
  EXPECT_EQ(evaluate("RELEASE < 215 || X", macros), true);
  EXPECT_EQ(evaluate("!defined(RELEASE)", macros), false);
  EXPECT_EQ(evaluate("defined X", macros), std::nullopt);
  EXPECT_EQ(evaluate("defined(_WIN32)", macros), false);
}

TEST(Conditions, BranchesThatMayCountAllCount) {
  EXPECT_THAT(words(without_dead_branches(tokens_of("#ifdef X\na;\n#else\nb;\n#endif\n#if 0\nc;\n#endif"), kNothing)),
              ElementsAre("a", ";", "b", ";"));
  EXPECT_THAT(words(without_dead_branches(tokens_of("#ifdef X\na {\n#else\nb {\n#endif\n}"), kNothing)),
              ElementsAre("a", "{", "}"));
}

Declared declared_by(const std::string& text) {
  Declared out;
  const OnInclude none = [](const std::string&, bool, unsigned, unsigned) {};
  read_declarations(without_dead_branches(tokens_of(text), kNothing), 0, out, none);
  for (Declaration& each : out.declarations) each.signature.shown.shrink_to_fit();
  return out;
}
std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> out;
  for (const Declaration& each : declared_by(text).declarations)
    out.push_back(each.qualified() + (each.kind == Declaration::Function ? "(" + each.signature.parameters + ")" : ""));
  return out;
}

TEST(Declarations, NamesOfNamespacesClassesAndEnumerations) {
  EXPECT_THAT(
      names_of(R"(
    namespace a::b {
    class X;  // declared only
    template <typename T, int N = (1 > 2)> struct API [[nodiscard]] Y final : public Z<T>, private W {
      enum Kind { One, Two = 1 << 3 };
      Y(int a) : z_{a}, w(a) { f(); }
      static constexpr int size = 4;
      void* (*deleter)(void*);
     private:
      T value_ = {1, 2};
    };
    using X::name;
    typedef void (*Callback)(int);
    extern API int counter;
    enum class E : int { A, B };
    }
    extern "C" { int in_c(void); })"),
      ElementsAre("a::b::Y", "a::b::Y::Kind", "a::b::Y::One", "a::b::Y::Kind::One", "a::b::Y::Two",
                  "a::b::Y::Kind::Two", "a::b::Y::Y(int)", "a::b::Y::size", "a::b::Y::deleter", "a::b::Y::value_",
                  "a::b::name", "a::b::Callback", "a::b::counter", "a::b::E", "a::b::E::A", "a::b::E::B", "in_c()"));
}

TEST(Declarations, ParametersAreTypesWithoutNamesDefaultsAndNamespaces) {
  const auto list = declared_by(
      "struct S { virtual c10::Stream f(const c10::Device d, at::Tensor& t, std::pair<int, bool> p = {1, true}, "
      "unsigned int n = 3) const noexcept; virtual void g() = 0; void h(int a, ...) override; auto k() -> int; };");
  const auto& f = list.declarations[1];
  EXPECT_EQ(f.signature.parameters, "Device,Tensor&,pair<int,bool>,unsigned int");
  EXPECT_EQ(f.signature.qualifiers, "const noexcept");
  EXPECT_EQ(f.signature.result, "Stream");
  EXPECT_EQ(f.signature.least, 2);
  EXPECT_EQ(f.signature.most, 4);
  EXPECT_TRUE(f.is_virtual && !f.is_pure);
  EXPECT_TRUE(list.declarations[2].is_pure);
  EXPECT_TRUE(list.declarations[3].is_override);
  EXPECT_EQ(list.declarations[3].signature.most, -1);
  EXPECT_EQ(list.declarations[4].signature.result, "int");
}

TEST(Declarations, MacrosThatDeclareAreExpanded) {
  EXPECT_THAT(
      names_of("#define ALL(_) _(int, Int) _(float, Float)\n"
               "enum class Type {\n#define ENTRY(t, name) name,\nALL(ENTRY)\n#undef ENTRY\nEnd };\n"
               "#define CONSTANT(t, name) constexpr Type k##name = Type::name;\nALL(CONSTANT)\n"
               "UNKNOWN_MACRO(declares)\nHIDDEN_NAMESPACE_BEGIN(a, b)\nint x;\nHIDDEN_NAMESPACE_END(a, b)\nint y;"),
      ElementsAre("Type", "Type::Int", "Type::Float", "Type::End", "kInt", "kFloat", "declares", "a::b::x", "y"));
}

// --- Two small PyTorchs

constexpr const char* kDevice = R"(
#pragma once
#define C10_API
#define TORCH_CHECK(cond, ...) check(cond)
#define AT_ASSERT(cond) check(cond)
namespace c10 {
enum class DeviceType { CPU, PrivateUse1 };
struct C10_API Device { int index() const; bool is_cpu() const; };
int device_count(int kind);
struct Interface {
  virtual ~Interface() = default;
  virtual Device get(int index) const = 0;
  virtual void set(Device device) const = 0;
  virtual bool query(int stream) const { return true; }
};
}
namespace at { using namespace c10; }
)";
constexpr const char* kTree = R"(
#include <c10/core/Device.h>
namespace mine {
struct Guard final : c10::Interface {
  c10::Device get(int index) const override;
  void set(c10::Device device) const override;
};
int f(at::Device device) {
  TORCH_CHECK(device.index() == 0, "x");
  AT_ASSERT(device.is_cpu());
  return device.index() + c10::device_count(1) + int(c10::DeviceType::PrivateUse1);
}
}
)";

struct Pair {
  TempDir before, after;
  std::string tree = kTree;
  Pair() {
    for (const TempDir* dir : {&before, &after}) dir->write("include/c10/core/Device.h", kDevice);
  }
  void change(const std::string& from, const std::string& to) {
    std::string text = kDevice;
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    after.write("include/c10/core/Device.h", text.replace(at, from.size(), to));
  }
  ApiDrift compare() const {
    Headers old_one(before.path(), "1.0.0"), new_one(after.path(), "1.1.0");
    ApiDrift drift;
    compare_cpp({{"csrc/Guard.cpp", tree}}, old_one, new_one, drift);
    sort_differences(drift);
    return drift;
  }
};

std::vector<std::string> told(const ApiDrift& drift) {
  std::vector<std::string> out;
  for (const Difference& each : drift.differences)
    out.push_back((each.what.severity == Severity::Error ? "breaks " : "note ") + each.kind + " " + each.change + " " +
                  each.name + " " + std::to_string(each.what.at.line));
  return out;
}

TEST(ApiDrift, TheSameReleaseHasNoDifference) {
  const ApiDrift drift = Pair().compare();
  EXPECT_THAT(told(drift), IsEmpty());
  EXPECT_EQ(drift.headers, 1u);
  EXPECT_EQ(drift.virtuals, 3u);
  EXPECT_GE(drift.names, 6u);
}

struct Planted {
  const char *from, *to, *found;
};

TEST(ApiDrift, EachPlantedChangeIsFound) {
  constexpr Planted kChanges[] = {
      {"Device get(int index) const = 0;", "Device get(long index) const = 0;",
       "breaks virtual changed c10::Interface::get 5"},
      {"void set(Device device) const = 0;", "void set(Device device) = 0;",
       "breaks virtual changed c10::Interface::set 6"},
      {"void set(Device device) const = 0;", "bool set(Device device) const = 0;",
       "breaks virtual changed c10::Interface::set 6"},
      {"void set(Device device) const = 0;", "void set(Device device) const noexcept = 0;",
       "breaks virtual changed c10::Interface::set 6"},
      {"virtual Device get(int index) const = 0;", "Device get(int index) const;",
       "breaks virtual gone c10::Interface::get 5"},
      {"virtual bool query", "virtual void wait() const = 0; virtual bool query",
       "breaks virtual new c10::Interface::wait 4"},
      {"virtual bool query", "virtual void wait() const {} virtual bool query",
       "note virtual new c10::Interface::wait 4"},
      {"query(int stream) const { return true; }", "query(int stream) const = 0;",
       "breaks virtual changed c10::Interface::query 4"},
      {"query(int stream)", "query(long stream)", "note virtual changed c10::Interface::query 4"},
      {"CPU, PrivateUse1", "CPU, PrivateUse2", "breaks name gone c10::DeviceType::PrivateUse1 11"},
      {"int device_count(int kind);", "", "breaks name gone c10::device_count 11"},
      {"int device_count(int kind);", "int device_count(int kind, int more);",
       "breaks name changed c10::device_count 11"},
      {"int device_count(int kind);", "int device_count(bool kind);", "note name changed c10::device_count 11"},
      {"TORCH_CHECK(cond, ...)", "TORCH_ENSURE(cond, ...)", "breaks macro gone TORCH_CHECK 9"},
      {"AT_ASSERT(cond)", "AT_ASSERT(cond, text)", "breaks macro changed AT_ASSERT 10"},
      {"bool is_cpu() const;", "", "breaks member gone is_cpu 10"},
      {"namespace at { using namespace c10; }", "", "breaks name gone at::Device 8"},
  };
  for (const Planted& each : kChanges) {
    Pair pair;
    pair.change(each.from, each.to);
    EXPECT_THAT(told(pair.compare()), ElementsAre(each.found)) << each.to;
  }
}

TEST(ApiDrift, WhatMovedIsFoundWhereItIsNow) {
  Pair pair;
  pair.change("int device_count(int kind);", "");
  pair.after.write("include/c10/core/Count.h", "namespace c10 { int device_count(int kind); }");
  const ApiDrift drift = pair.compare();
  ASSERT_THAT(told(drift), ElementsAre("breaks name moved c10::device_count 11"));
  EXPECT_EQ(drift.differences[0].what.code, "E0408");
  EXPECT_EQ(drift.differences[0].what.hint, "#include <c10/core/Count.h>");
}

TEST(ApiDrift, AHeaderThatMoved) {
  Pair pair;
  fs::remove(pair.after.path() / "include/c10/core/Device.h");
  pair.after.write("include/torch/core/Device.h", kDevice);
  const ApiDrift drift = pair.compare();
  ASSERT_FALSE(drift.differences.empty());
  EXPECT_EQ(told(drift)[0], "breaks header moved c10/core/Device.h 2");
  EXPECT_EQ(drift.differences[0].what.hint, "there is <torch/core/Device.h>");
}

TEST(ApiDrift, WhatTheTreeGuardsForTheOtherReleaseBreaksNothing) {
  Pair pair;
  pair.change("virtual bool query", "virtual void wait() const = 0; virtual bool query");
  pair.after.write("include/torch/headeronly/version.h",
                   "#define TORCH_VERSION_MAJOR 1\n#define TORCH_VERSION_MINOR 1\n");
  const std::string head = "struct Guard final : c10::Interface {";
  pair.tree.insert(
      pair.tree.find(head) + head.size(),
      "\n#if TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 101\n  void wait() const override;\n#endif\n");
  const ApiDrift drift = pair.compare();
  ASSERT_THAT(told(drift), ElementsAre("note virtual new c10::Interface::wait 6"));
  EXPECT_THAT(drift.differences[0].what.hint, HasSubstr("has it already"));
}

TEST(ApiDrift, TheTreesOwnNamesAreNotPyTorchs) {
  Pair pair;
  pair.change("TORCH_CHECK(cond, ...)", "TORCH_ENSURE(cond, ...)");
  pair.tree.insert(0, "#define TORCH_CHECK(cond, ...) mine(cond)\n");
  EXPECT_THAT(told(pair.compare()), IsEmpty());
}

}  // namespace
}  // namespace openreg_gen::api
