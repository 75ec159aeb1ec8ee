#include "spec/op_schema.h"

#include "diag/suggest.h"
#include "diag/text.h"
#include "spec/reserved_names.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace openreg_gen {
namespace {

constexpr std::string_view kSchemaTypes[] = {"Tensor", "Scalar", "int",        "SymInt", "float",
                                             "bool",   "str",    "ScalarType", "Device", "Generator"};

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  OpSchema run() {
    if (text_.size() > 500) fail("E0160", 0, "the schema has more than 500 characters");
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!is_word(text_[i]) && std::string_view(" ().,*=?!->[]\"").find(text_[i]) == std::string_view::npos) {
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
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start || is_digit(text_[start])) fail("E0160", start, fmt::format("expected {}", what));
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
    if (std::ranges::find(kSchemaTypes, base) == std::end(kSchemaTypes))
      fail("E0162", start, fmt::format("unknown type '{}'", base.substr(0, 60)), did_you_mean(base, kSchemaTypes));
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
        if (!std::ranges::all_of(digits, is_digit)) fail("E0160", end, "'[' wants a ']'");
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

  /// What follows '=', checked against the type.
  std::string default_value(std::string_view type) {
    const auto start = at_;
    const char close = text_.substr(at_, 1) == "[" ? ']' : text_.substr(at_, 1) == "\"" ? '"' : '\0';
    if (close != '\0') {
      const auto end = text_.find(close, at_ + 1);
      if (end == std::string_view::npos) fail("E0160", start, fmt::format("'{}' wants a '{}'", text_[start], close));
      at_ = end + 1;
    } else {
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')') ++at_;
    }
    std::string_view value = text_.substr(start, at_ - start);
    while (value.ends_with(' ')) value.remove_suffix(1);
    if (value.empty()) fail("E0160", start, "expected a default value");
    const std::string wanted = default_that_fits(type, value);
    if (!wanted.empty())
      fail("E0225", start, fmt::format("'{}' is no default value for '{}'", value.substr(0, 60), type), wanted);
    skip();
    return std::string(value);
  }

  /// Empty if `value` fits, else what would.
  static std::string default_that_fits(std::string_view type, std::string_view value) {
    const bool optional = type.ends_with('?');
    if (optional) type.remove_suffix(1);
    if (optional && value == "None") return {};
    const std::string none = optional ? ", or None" : "";
    if (type.ends_with(']')) {
      const auto open = type.rfind('[');
      const std::string_view element = type.substr(0, open);
      const bool sized = open + 2 < type.size();
      const std::string wanted = element == "Tensor" || element == "Tensor?" ? "a list of tensors has no default but []"
                                                                             : "such as [1,1]" + none;
      if (!value.starts_with('[')) return sized && default_that_fits(element, value).empty() ? "" : wanted;
      value = value.substr(1, value.size() - 2);
      while (!value.empty()) {
        const auto comma = value.find(',');
        std::string_view item = value.substr(0, comma);
        while (item.starts_with(' ')) item.remove_prefix(1);
        while (item.ends_with(' ')) item.remove_suffix(1);
        if (!default_that_fits(element, item).empty()) return wanted;
        value = comma == std::string_view::npos ? "" : value.substr(comma + 1);
      }
      return {};
    }
    if (type == "bool") return value == "True" || value == "False" ? "" : "True or False" + none;
    if (type == "str") return value.size() > 1 && value.starts_with('"') ? "" : "a text in double quotes" + none;
    const std::string_view digits = value.substr(value.starts_with('-') ? 1 : 0);
    const bool integer = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (type == "int" || type == "SymInt") return integer && digits.size() < 19 ? "" : "an integer" + none;
    if (type == "float" || type == "Scalar") return integer || parse_number(value) ? "" : "a number" + none;
    return optional ? "None is its only default" : fmt::format("there is none but None, for '{}?'", type);
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
        argument.default_value = default_value(argument.type);
      } else if (!keywords && !schema.arguments.empty() && !schema.arguments.back().default_value.empty()) {
        fail("E0225", start,
             fmt::format("'{}' has no default value, but follows an argument that has one", argument.name),
             "put it first, or behind '*'");
      }
      schema.arguments.push_back(std::move(argument));
    } while (accept(","));
    if (!accept(")"))
      fail("E0160", at_ < text_.size() ? at_ : opened,
           at_ < text_.size() ? "expected ',' or ')'" : "this '(' is not closed");
  }

  static bool is_alias(std::string_view type) { return type.starts_with("Tensor("); }
  static bool is_written(std::string_view type) { return type.find('!') != std::string_view::npos; }

  /// What is returned may share an argument's memory in two ways: as a view of it, or as the argument itself, written
  /// in place. PyTorch follows no others.
  void check_alias(const OpSchema& schema, std::size_t start) const {
    const auto aliased = [&](const std::string& type) {
      return std::ranges::any_of(schema.arguments, [&](const SchemaArgument& a) {
        return a.type.substr(0, a.type.find(')')) == type.substr(0, type.find(')'));
      });
    };
    const auto writes = std::ranges::count_if(schema.arguments, [](const auto& a) { return is_written(a.type); });
    for (const std::string& type : schema.returns) {
      if (!is_alias(type)) continue;
      if (!aliased(type))
        fail("E0226", start, fmt::format("no argument is marked as '{}', which is returned", type),
             "such as 'op(Tensor(a) x) -> Tensor(a)'");
      if (!is_written(type) && writes != 0)
        fail("E0226", start, "an operator that returns a view can't write an argument, too", "make it two operators");
      const bool in_place = schema.returns.size() == 1 && writes == 1 && !schema.arguments[0].kwarg_only &&
                            schema.arguments[0].type == type && type.ends_with("!)");
      if (is_written(type) && !in_place)
        fail("E0226", start, "of what an operator writes it can return its first argument alone",
             "'op_(Tensor(a!) x) -> Tensor(a!)', or return nothing: '-> ()'");
    }
  }

  void returns(OpSchema& schema) {
    const auto opened = at_;
    if (!accept("(")) {
      schema.returns.push_back(type());
      check_alias(schema, opened);
      return;
    }
    if (accept(")")) return;
    do {
      schema.returns.push_back(type());
      if (at_ < text_.size() && is_word(text_[at_])) word("a name");
    } while (accept(","));
    if (!accept(")")) fail("E0160", opened, "this '(' is not closed");
    check_alias(schema, opened);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<OpSchema> parse_op_schema(std::string_view text, OpSchemaError& error) {
  try {
    return SchemaParser(text).run();
  } catch (OpSchemaError& found) {
    error = std::move(found);
    return std::nullopt;
  }
}

}  // namespace openreg_gen
