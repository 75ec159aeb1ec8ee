#include "spec/expr.h"

#include "base/suggest.h"
#include "base/text.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>

namespace openreg_gen {
namespace {

constexpr int kMaxExprDepth = 64;
constexpr std::size_t kMaxLength = 500;
constexpr std::string_view kFunctions =
    "std::abs std::acos std::acosh std::asin std::asinh std::atan std::atan2 std::atanh std::cbrt std::ceil "
    "std::clamp std::copysign std::cos std::cosh std::erf std::erfc std::exp std::exp2 std::expm1 std::fabs "
    "std::floor std::fma std::fmax std::fmin std::fmod std::hypot std::isfinite std::isinf std::isnan std::lgamma "
    "std::log std::log10 std::log1p std::log2 std::max std::min std::nearbyint std::pow std::remainder std::rint "
    "std::round std::signbit std::sin std::sinh std::sqrt std::tan std::tanh std::tgamma std::trunc "
    "c10::div_floor_floating c10::div_floor_integer c10::is_negative std::arg std::conj std::imag std::norm std::real "
    "has_value value_or";
constexpr std::string_view kExprTypes[] = {"scalar_t", "bool", "int", "float", "double", "int64_t"};
constexpr std::string_view kBinary[][6] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr int kLevels = 10;

using ExprKind = ExprNode::Kind;

bool word_start(char c) { return is_letter(c) || c == '_'; }

class ExprParser : Scanner {
 public:
  explicit ExprParser(std::string_view text) : Scanner{text} {}

  Expr run() {
    result_.text = text_;
    try {
      check_characters();
      skip();
      if (at_ == text_.size()) fail("E0156", 0, "the expression is empty");
      result_.root = conditional();
      if (at_ < text_.size()) {
        if (text_[at_] == ')') fail("E0156", at_, "this parenthesis has no opening one");
        if (text_[at_] == '=') fail("E0156", at_, "an expression can't assign", "compare with ==");
        fail("E0156", at_, fmt::format("'{}' is not expected here", text_[at_]));
      }
    } catch (ExprError& error) {
      result_.error = std::move(error);
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] static void fail(std::string code, std::size_t offset, std::string message, std::string hint = {}) {
    throw ExprError{std::move(code), offset, std::move(message), std::move(hint)};
  }

  void check_characters() const {
    if (text_.size() > kMaxLength)
      fail("E0156", 0, fmt::format("the expression has {} characters, at most {}", text_.size(), kMaxLength));
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (!is_word(c) && !contains(std::string_view(" +-*/%<>=!&|^~?:,()."), c)) {
        const auto byte = static_cast<unsigned char>(c);
        fail("E0155", i,
             byte >= 0x20 && byte < 0x7F ? fmt::format("an expression can't contain '{}'", c)
                                         : fmt::format("an expression can't contain byte 0x{:02X}", byte),
             "an expression holds names, numbers, calls and operators");
      }
      const auto pair = text_.substr(i, 2);
      if (pair == "//" || pair == "/*" || pair == "*/") fail("E0155", i, "an expression can't contain a comment");
      if (pair == "++" || pair == "--")
        fail("E0156", i, fmt::format("'{}' is not allowed", pair),
             "an expression can't change anything; put a space between two signs");
    }
  }

  void expect(std::string_view token, std::size_t opened) {
    if (accept(token)) return;
    if (at_ == text_.size()) fail("E0156", opened, fmt::format("no closing '{}' for this one", token));
    fail("E0156", at_, fmt::format("'{}' is not expected here", text_[at_]), fmt::format("expected '{}'", token));
  }

  ExprNode conditional() {
    if (++depth_ > kMaxExprDepth) fail("E0156", at_, "the expression is nested too deep");
    ExprNode node = binary(0);
    const auto question = at_;
    if (accept("?")) {
      ExprNode chosen = conditional();
      if (!accept(":")) fail("E0156", question, "this '?' has no ':'");
      node = {ExprKind::Conditional, "?", question, {std::move(node), std::move(chosen), conditional()}};
    }
    --depth_;
    return node;
  }

  std::string_view operator_at(int level) const {
    for (const auto candidate : kBinary[level]) {
      if (candidate.empty() || text_.substr(at_, candidate.size()) != candidate) continue;
      const char after = at_ + candidate.size() < text_.size() ? text_[at_ + candidate.size()] : ' ';
      const bool longer =
          candidate.size() == 1 && ((candidate[0] == after && contains(std::string_view("|&<>"), after)) ||
                                    (after == '=' && contains(std::string_view("<>"), candidate[0])));
      if (longer) continue;
      if (after == '=' && candidate != "==" && candidate != "!=" && candidate != "<=" && candidate != ">=")
        fail("E0156", at_, fmt::format("'{}=' assigns", candidate), "an expression can't change anything");
      return candidate;
    }
    return {};
  }

  ExprNode binary(int level) {
    if (level == kLevels) return unary();
    ExprNode node = binary(level + 1);
    for (auto token = operator_at(level); !token.empty(); token = operator_at(level)) {
      const auto offset = at_;
      accept(token);
      node = {ExprKind::Binary, std::string(token), offset, {std::move(node), binary(level + 1)}};
    }
    return node;
  }

  ExprNode unary() {
    if (++depth_ > kMaxExprDepth) fail("E0156", at_, "the expression is nested too deep");
    const auto offset = at_;
    const bool signs = accept("-") || accept("+") || accept("!") || accept("~");
    ExprNode node = signs ? ExprNode{ExprKind::Unary, std::string(1, text_[offset]), offset, {unary()}} : primary();
    --depth_;
    return node;
  }

  std::string word() {
    const auto start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    std::string result(text_.substr(start, at_ - start));
    skip();
    return result;
  }

  ExprNode number() {
    const auto start = at_;
    if (text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X") at_ += 2;
    while (at_ < text_.size()) {
      const bool exponent = (text_[at_] == '+' || text_[at_] == '-') &&
                            (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_.substr(start, 2) != "0x";
      if (!is_word(text_[at_]) && text_[at_] != '.' && !exponent) break;
      ++at_;
    }
    ExprNode node{ExprKind::Number, std::string(text_.substr(start, at_ - start)), start, {}};
    const std::string_view text = node.text;
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const char *const first = text.data() + (hex ? 2 : 0), *const last = text.data() + text.size();
    std::uint64_t whole = 0;
    double value = 0;
    const char* end = hex ? std::from_chars(first, last, whole, 16).ptr : std::from_chars(first, last, value).ptr;
    const auto is_suffix = [](char c) { return contains(std::string_view("uUlLfF"), c); };
    if (end == first || !std::all_of(end, last, is_suffix))
      fail("E0156", start, fmt::format("'{}' is not a number", text));
    skip();
    return node;
  }

  std::vector<ExprNode> arguments(std::size_t opened) {
    std::vector<ExprNode> parts;
    if (accept(")")) return parts;
    do parts.push_back(conditional());
    while (accept(","));
    expect(")", opened);
    return parts;
  }

  ExprNode cast(std::size_t start) {
    if (!accept("<")) fail("E0156", start, "static_cast needs a type", "such as static_cast<scalar_t>(self)");
    const auto at = at_;
    const std::string type = word();
    if (!contains(kExprTypes, type))
      fail("E0157", at, fmt::format("unknown type '{}'", type), did_you_mean(type, kExprTypes));
    expect(">", start);
    const auto opened = at_;
    expect("(", start);
    ExprNode node{ExprKind::Cast, type, start, {conditional()}};
    expect(")", opened);
    return node;
  }

  ExprNode primary() {
    if (at_ == text_.size()) fail("E0156", at_ > 0 ? at_ - 1 : 0, "the expression is incomplete");
    const auto start = at_;
    const char c = text_[at_];
    const bool fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || fraction) return number();
    if (accept("(")) {
      ExprNode node{ExprKind::Group, "(", start, {conditional()}};
      expect(")", start);
      return node;
    }
    if (!word_start(c)) fail("E0156", start, fmt::format("'{}' is not expected here", c), "expected a value");
    std::string name = word();
    while (text_.substr(at_, 2) == "::") {
      at_ += 2;
      skip();
      name += "::";
      name += word();
    }
    if (name == "static_cast") return cast(start);
    if (name == "true" || name == "false") return {ExprKind::Number, std::move(name), start, {}};
    const bool type = contains(kExprTypes, name);
    const bool qualified = includes(name, "::");
    const auto opened = at_;
    if (text_.substr(at_, 1) == "(") {
      if (!type && !has_word(kFunctions, name)) unknown_function(name, start);
      accept("(");
      auto parts = arguments(opened);
      if (type && parts.size() != 1) fail("E0156", start, fmt::format("'{}' converts one value", name));
      return {type ? ExprKind::Cast : ExprKind::Call, std::move(name), start, std::move(parts)};
    }
    if (qualified) unknown_function(name, start);
    if (type || is_cpp_keyword(name))
      fail("E0156", start, fmt::format("'{}' is not expected here", name), "expected a value");
    return {ExprKind::Name, std::move(name), start, {}};
  }

  [[noreturn]] static void unknown_function(const std::string& name, std::size_t start) {
    if (has_word(kFunctions, name)) fail("E0156", start, fmt::format("'{}' is a function and needs arguments", name));
    const std::string with_std = "std::" + name;
    const bool forgotten = has_word(kFunctions, with_std);
    fail("E0157", start, fmt::format("unknown function '{}'", name.substr(0, 60)),
         forgotten ? "did you mean '" + with_std + "'?" : did_you_mean(name, words_of(kFunctions)));
  }

  int depth_ = 0;
  Expr result_;
};

void shift(ExprNode& node, std::size_t by) {
  node.offset += by;
  for (ExprNode& part : node.parts) shift(part, by);
}

}  // namespace

Expr parse_expr(std::string_view text, std::size_t begin) {
  Expr expr = ExprParser(text).run();
  if (begin != 0) shift(expr.root, begin);
  if (expr.error) expr.error->offset += begin;
  return expr;
}

void each_name(const ExprNode& node, const std::function<void(const ExprNode&)>& visit) {
  if (node.kind == ExprKind::Name) visit(node);
  for (const ExprNode& part : node.parts) each_name(part, visit);
}

bool uses(const Expr& expr, std::string_view name) {
  bool found = expr.error.has_value();
  each_name(expr.root, [&](const ExprNode& use) { found = found || use.text == name; });
  return found;
}

}  // namespace openreg_gen
