// The one parser of schemas, PyTorch's own and those of the spec.
#include "base/text.h"
#include "schema/schema.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

class SchemaParser : Scanner {
 public:
  explicit SchemaParser(std::string_view text) : Scanner{text} {}

  Schema run() {
    Schema schema;
    skip();
    schema.offset = at_;
    schema.base = word("the operator's name");
    while (accept("::")) schema.base = word("the operator's name");
    if (accept(".")) schema.overload = word("the overload's name");
    arguments(schema);
    if (!accept("->")) fail(at_, "expected '->' and what is returned", "such as '-> Tensor'");
    schema.returns_offset = at_;
    returns(schema);
    if (at_ < text_.size()) fail(at_, fmt::format("'{}' is not expected here", text_[at_]));
    return schema;
  }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& message, std::string hint = {}) const {
    throw SchemaError(text_, std::min(offset, text_.empty() ? 0 : text_.size() - 1), message, std::move(hint));
  }
  std::string word(std::string_view what) {
    const auto start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start || is_digit(text_[start])) fail(start, fmt::format("expected {}", what));
    std::string result(text_.substr(start, at_ - start));
    skip();
    return result;
  }

  /// "Tensor(a!)[]" -> type "Tensor[]", annotation "a!".
  void type(std::string& type, std::string& annotation) {
    const auto start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start || is_digit(text_[start])) fail(start, "expected a type");
    type = text_.substr(start, at_ - start);
    if (text_.substr(at_, 1) == "(") {
      const auto close = text_.find(')', at_);
      annotation = text_.substr(at_ + 1, std::min(close, text_.size()) - at_ - 1);
      if (close == std::string_view::npos || contains(annotation, '('))
        fail(at_, "an alias is a letter, with '!' if it is written to", "such as 'Tensor(a!)'");
      at_ = close + 1;
    }
    for (;;) {
      const auto open = at_;
      if (text_.substr(at_, 1) == "[") {
        while (++at_ < text_.size() && is_digit(text_[at_])) {
        }
        if (text_.substr(at_, 1) != "]") fail(open, "'[' wants a ']'");
      } else if (text_.substr(at_, 1) != "?") {
        break;
      }
      type += text_.substr(open, ++at_ - open);
    }
    skip();
  }

  /// What follows '=': up to a comma or parenthesis that no bracket and no quote holds.
  std::string default_value() {
    const auto start = at_;
    const char first = at_ < text_.size() ? text_[at_] : ' ';
    char quote = 0;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == '\\') ++at_;
        if (c == quote) quote = 0;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        break;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      }
    }
    at_ = std::min(at_, text_.size());
    if (quote != 0 || depth != 0) fail(start, fmt::format("'{}' wants a '{}'", first, first == '[' ? ']' : first));
    const std::string_view value = trimmed(text_.substr(start, at_ - start));
    if (value.empty()) fail(start, "expected a default value");
    return std::string(value);
  }

  void arguments(Schema& schema) {
    const auto opened = at_;
    if (!accept("(")) fail(at_, "expected '(' and the arguments", "such as 'name(Tensor self) -> Tensor'");
    bool keywords = false;
    if (accept(")")) return;
    do {
      if (at_ >= text_.size()) break;
      if (!keywords && accept("*")) {
        keywords = true;
        continue;
      }
      ArgumentSchema& argument = schema.arguments.emplace_back();
      argument.kwarg_only = keywords;
      argument.offset = at_;
      type(argument.type, argument.annotation);
      argument.name_offset = at_;
      argument.name = word("an argument's name");
      if (!accept("=")) continue;
      argument.default_offset = at_;
      argument.default_value = default_value();
    } while (accept(","));
    if (at_ >= text_.size()) fail(opened, "this '(' is not closed");
    if (!accept(")")) fail(at_, "expected ',' or ')'");
  }

  void returns(Schema& schema) {
    const auto opened = at_;
    const bool several = accept("(");
    if (several && accept(")")) return;
    do {
      ReturnSchema& value = schema.returns.emplace_back();
      value.offset = at_;
      type(value.type, value.annotation);
      if (at_ < text_.size() && is_word(text_[at_])) value.name = word("a name");
    } while (several && accept(","));
    if (several && !accept(")")) fail(opened, "this '(' is not closed");
  }
};

}  // namespace

SchemaError::SchemaError(std::string_view schema, std::size_t offset_, const std::string& message_, std::string hint_)
    : std::invalid_argument(fmt::format("'{}': {} at column {}", schema, message_, offset_ + 1)),
      offset(offset_),
      message(message_),
      hint(std::move(hint_)) {}

Schema parse_schema(std::string_view text) { return SchemaParser(text).run(); }

}  // namespace openreg_gen
