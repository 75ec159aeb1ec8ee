#include "spec/op_schema.h"

#include "diag/suggest.h"
#include "spec/reserved_names.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace openreg_gen {
namespace {

constexpr std::string_view kTypes[] = {"Tensor", "Scalar", "int",        "SymInt", "float",
                                       "bool",   "str",    "ScalarType", "Device", "Generator"};

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  OpSchema run() {
    if (text_.size() > 500) fail("E0160", 0, "the schema has more than 500 characters");
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!word_char(text_[i]) && std::string_view(" ().,*=?!->[]").find(text_[i]) == std::string_view::npos) {
        const bool colon = text_[i] == ':';
        fail("E0160", i, colon ? "the schema names a namespace" : "this character can't stand in a schema",
             colon ? "leave the namespace out: it is the backend's name" : "");
      }
    }
    OpSchema schema;
    skip();
    const auto start = at_;
    schema.name = word("the operator's name");
    check_name(schema.name, start);
    if (accept(".")) schema.overload = word("the overload's name");
    arguments(schema);
    if (!accept("->")) fail("E0160", at_, "expected '->' and what is returned", "such as '-> Tensor'");
    returns(schema);
    if (at_ < text_.size()) fail("E0160", at_, fmt::format("'{}' is not expected here", text_[at_]));
    return schema;
  }

 private:
  [[noreturn]] void fail(std::string code, std::size_t offset, std::string message, std::string hint = {}) const {
    throw OpSchemaError{std::move(code), std::min(offset, text_.empty() ? 0 : text_.size() - 1), std::move(message),
                        std::move(hint)};
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    skip();
    return true;
  }
  std::string word(std::string_view what) {
    const auto start = at_;
    while (at_ < text_.size() && word_char(text_[at_])) ++at_;
    if (at_ == start || std::isdigit(static_cast<unsigned char>(text_[start])))
      fail("E0160", start, fmt::format("expected {}", what));
    std::string result(text_.substr(start, at_ - start));
    skip();
    return result;
  }

  void check_name(std::string_view name, std::size_t start) const {
    const bool good = std::ranges::none_of(name, [](char c) { return std::isupper(static_cast<unsigned char>(c)); }) &&
                      name.size() <= 60 && name.find("__") == std::string_view::npos;
    if (!good)
      fail("E0161", start, fmt::format("'{}' is no good name for an operator", name.substr(0, 60)),
           "lower-case letters, digits and single underscores");
    if (taken(name)) fail("E0161", start, fmt::format("the operator's name '{}' is a word of C++ or Python", name));
  }
  static bool taken(std::string_view name) {
    return is_cpp_keyword(name) || std::ranges::binary_search(python_keywords(), name);
  }

  std::string type() {
    const auto start = at_;
    const std::string base = word("a type");
    if (std::ranges::find(kTypes, base) == std::end(kTypes))
      fail("E0162", start, fmt::format("unknown type '{}'", base.substr(0, 60)), did_you_mean(base, kTypes));
    auto end = start + base.size();
    if (base == "Tensor" && text_.substr(end, 1) == "(") {
      const auto close = text_.find(')', end);
      const std::string_view alias = close == std::string_view::npos ? "" : text_.substr(end + 1, close - end - 1);
      if (alias.empty() || alias.size() > 2 || !std::islower(static_cast<unsigned char>(alias[0])) ||
          (alias.size() == 2 && alias[1] != '!')) {
        fail("E0160", end, "an alias is a letter, with '!' if it is written to", "such as 'Tensor(a!)'");
      }
      end = close + 1;
    }
    for (bool more = true; more;) {
      more = false;
      if (text_.substr(end, 1) == "[") {
        const auto close = text_.find(']', end);
        const auto digits = close == std::string_view::npos ? "x" : text_.substr(end + 1, close - end - 1);
        if (!std::ranges::all_of(digits, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); }))
          fail("E0160", end, "'[' wants a ']'");
        end = close + 1;
        more = true;
      } else if (text_.substr(end, 1) == "?") {
        ++end;
        more = true;
      }
    }
    at_ = end;
    skip();
    return std::string(text_.substr(start, end - start));
  }

  void arguments(OpSchema& schema) {
    const auto opened = at_;
    if (!accept("(")) fail("E0160", at_, "expected '(' and the arguments", "such as 'name(Tensor self) -> Tensor'");
    std::set<std::string> names;
    bool keywords = false;
    if (accept(")")) return;
    do {
      if (at_ >= text_.size()) break;
      if (!keywords && accept("*")) {
        keywords = true;
        continue;
      }
      SchemaArgument argument;
      argument.kwarg_only = keywords;
      argument.type = type();
      const auto start = at_;
      argument.name = word("an argument's name");
      if (taken(argument.name) || argument.name == "grad")
        fail("E0161", start, fmt::format("an argument can't be called '{}'", argument.name));
      if (!names.insert(argument.name).second)
        fail("E0160", start, fmt::format("the argument '{}' is given twice", argument.name));
      if (accept("=")) {
        const auto value = at_;
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')') ++at_;
        argument.default_value = text_.substr(value, at_ - value);
        if (argument.default_value.empty()) fail("E0160", value, "expected a default value");
      }
      schema.arguments.push_back(std::move(argument));
    } while (accept(","));
    if (!accept(")"))
      fail("E0160", at_ < text_.size() ? at_ : opened,
           at_ < text_.size() ? "expected ',' or ')'" : "this '(' is not closed");
  }

  void returns(OpSchema& schema) {
    const auto opened = at_;
    if (!accept("(")) {
      schema.returns.push_back(type());
      return;
    }
    if (accept(")")) return;
    do {
      schema.returns.push_back(type());
      if (at_ < text_.size() && word_char(text_[at_])) word("a name");
    } while (accept(","));
    if (!accept(")")) fail("E0160", opened, "this '(' is not closed");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<OpSchema> parse_op_schema(std::string_view text, OpSchemaError& error) {
  try {
    return Parser(text).run();
  } catch (OpSchemaError& found) {
    error = std::move(found);
    return std::nullopt;
  }
}

}  // namespace openreg_gen
