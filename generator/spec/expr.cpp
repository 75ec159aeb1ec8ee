#include "spec/expr.h"

#include "diag/suggest.h"
#include "diag/text.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

namespace openreg_gen {
namespace {

constexpr int kMaxExprDepth = 64;
constexpr std::size_t kMaxLength = 500;
constexpr std::string_view kFunctions[] = {"std::abs",
                                           "std::acos",
                                           "std::acosh",
                                           "std::asin",
                                           "std::asinh",
                                           "std::atan",
                                           "std::atan2",
                                           "std::atanh",
                                           "std::cbrt",
                                           "std::ceil",
                                           "std::clamp",
                                           "std::copysign",
                                           "std::cos",
                                           "std::cosh",
                                           "std::erf",
                                           "std::erfc",
                                           "std::exp",
                                           "std::exp2",
                                           "std::expm1",
                                           "std::fabs",
                                           "std::floor",
                                           "std::fma",
                                           "std::fmax",
                                           "std::fmin",
                                           "std::fmod",
                                           "std::hypot",
                                           "std::isfinite",
                                           "std::isinf",
                                           "std::isnan",
                                           "std::lgamma",
                                           "std::log",
                                           "std::log10",
                                           "std::log1p",
                                           "std::log2",
                                           "std::max",
                                           "std::min",
                                           "std::nearbyint",
                                           "std::pow",
                                           "std::remainder",
                                           "std::rint",
                                           "std::round",
                                           "std::signbit",
                                           "std::sin",
                                           "std::sinh",
                                           "std::sqrt",
                                           "std::tan",
                                           "std::tanh",
                                           "std::tgamma",
                                           "std::trunc",
                                           "c10::div_floor_floating",
                                           "c10::div_floor_integer",
                                           "c10::is_negative",
                                           "std::arg",
                                           "std::conj",
                                           "std::imag",
                                           "std::norm",
                                           "std::real",
                                           "has_value",
                                           "value_or"};
constexpr std::string_view kExprTypes[] = {"scalar_t", "bool", "int", "float", "double", "int64_t"};
constexpr std::string_view kBinary[][6] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr int kLevels = 10;

// What complex numbers have, too, and whether the result is real.
constexpr std::string_view kComplexFunctions[] = {"std::acos",  "std::acosh", "std::asin", "std::asinh", "std::atan",
                                                  "std::atanh", "std::conj",  "std::cos",  "std::cosh",  "std::exp",
                                                  "std::log",   "std::log10", "std::pow",  "std::sin",   "std::sinh",
                                                  "std::sqrt",  "std::tan",   "std::tanh"};
constexpr std::string_view kRealParts[] = {"std::abs", "std::arg", "std::imag", "std::norm", "std::real"};
constexpr std::string_view kNotElements[] = {"std::isfinite", "std::isinf",       "std::isnan",
                                             "std::signbit",  "c10::is_negative", "has_value"};
constexpr std::string_view kOfIntegers[] = {"%", "&", "|", "^", "~", "<<", ">>"};

bool contains(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

/// What is known of a subexpression's value.
struct Value {
  std::vector<std::string> names;  // variables in whose type it may be
  bool real = true;                // it is real even if they are complex

  void add(const Value& other) {
    names.insert(names.end(), other.names.begin(), other.names.end());
    real = real && other.real;
  }
};

bool word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
class ExprParser {
 public:
  explicit ExprParser(std::string_view text) : text_(text) {}

  Expr run() {
    try {
      check_characters();
      skip();
      if (at_ == text_.size()) fail("E0156", 0, "the expression is empty");
      conditional();
      if (at_ < text_.size()) {
        if (text_[at_] == ')') fail("E0156", at_, "a parenthesis is closed that was not opened");
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
      if (!is_word(c) && std::string_view(" +-*/%<>=!&|^~?:,().").find(c) == std::string_view::npos) {
        const auto byte = static_cast<unsigned char>(c);
        fail("E0155", i,
             byte >= 0x20 && byte < 0x7F ? fmt::format("'{}' can't stand in an expression", c)
                                         : fmt::format("byte 0x{:02X} can't stand in an expression", byte),
             "an expression holds names, numbers, calls and operators");
      }
      const auto pair = text_.substr(i, 2);
      if (pair == "//" || pair == "/*" || pair == "*/") fail("E0155", i, "a comment can't stand in an expression");
      if (pair == "++" || pair == "--")
        fail("E0156", i, fmt::format("'{}' is not allowed", pair),
             "an expression changes nothing; put a space between two signs");
    }
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
  void expect(std::string_view token, std::size_t opened) {
    if (accept(token)) return;
    if (at_ == text_.size()) fail("E0156", opened, fmt::format("what is opened here is not closed with '{}'", token));
    fail("E0156", at_, fmt::format("'{}' is not expected here", text_[at_]), fmt::format("expected '{}'", token));
  }

  Value conditional() {
    if (++depth_ > kMaxExprDepth) fail("E0156", at_, "the expression is nested too deep");
    Value value = binary(0);
    const auto question = at_;
    if (accept("?")) {
      value = conditional();
      if (!accept(":")) fail("E0156", question, "this '?' has no ':'");
      value.add(conditional());
    }
    --depth_;
    return value;
  }

  void use(std::string_view token, std::size_t offset, const Value& value) {
    const bool of_integers = contains(kOfIntegers, token);
    if (value.names.empty() || (value.real && !of_integers)) return;
    result_.uses.push_back({std::string(token), offset, value.names});
  }

  std::string_view operator_at(int level) const {
    for (const auto candidate : kBinary[level]) {
      if (candidate.empty() || text_.substr(at_, candidate.size()) != candidate) continue;
      const char after = at_ + candidate.size() < text_.size() ? text_[at_ + candidate.size()] : ' ';
      const bool longer = candidate.size() == 1 &&
                          ((candidate[0] == after && std::string_view("|&<>").find(after) != std::string_view::npos) ||
                           (after == '=' && std::string_view("<>").find(candidate[0]) != std::string_view::npos));
      if (longer) continue;
      if (after == '=' && candidate != "==" && candidate != "!=" && candidate != "<=" && candidate != ">=") {
        fail("E0156", at_, fmt::format("'{}=' assigns", candidate), "an expression changes nothing");
      }
      return candidate;
    }
    return {};
  }

  Value binary(int level) {
    if (level == kLevels) return unary();
    Value value = binary(level + 1);
    for (auto token = operator_at(level); !token.empty(); token = operator_at(level)) {
      const auto offset = at_;
      accept(token);
      value.add(binary(level + 1));
      const bool ordered = token[0] == '<' || token[0] == '>';
      if (ordered || contains(kOfIntegers, token)) use(token, offset, value);
      const bool truth = token == "||" || token == "&&" || token == "==" || token == "!=";
      if (truth || (ordered && !contains(kOfIntegers, token))) value = {};
    }
    return value;
  }

  Value unary() {
    if (++depth_ > kMaxExprDepth) fail("E0156", at_, "the expression is nested too deep");
    const auto offset = at_;
    Value value;
    if (accept("-") || accept("+")) {
      value = unary();
    } else if (accept("!")) {
      unary();
    } else if (accept("~")) {
      value = unary();
      use("~", offset, value);
    } else {
      value = primary();
    }
    --depth_;
    return value;
  }

  std::string word() {
    const auto start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    std::string result(text_.substr(start, at_ - start));
    skip();
    return result;
  }

  void number() {
    const auto start = at_;
    if (text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X") at_ += 2;
    while (at_ < text_.size()) {
      const bool exponent = (text_[at_] == '+' || text_[at_] == '-') &&
                            (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_.substr(start, 2) != "0x";
      if (!is_word(text_[at_]) && text_[at_] != '.' && !exponent) break;
      ++at_;
    }
    static constexpr std::string_view kSuffixes = "uUlLfF";
    std::string_view body = text_.substr(start, at_ - start);
    const bool hex = body.starts_with("0x") || body.starts_with("0X");
    if (hex) body.remove_prefix(2);
    while (!body.empty() && kSuffixes.find(body.back()) != std::string_view::npos &&
           !(hex && (body.back() == 'f' || body.back() == 'F')))
      body.remove_suffix(1);
    int dots = 0, exponents = 0;
    bool good = !body.empty();
    for (std::size_t i = 0; i < body.size(); ++i) {
      const char c = body[i];
      const bool sign_of_exponent = (c == '+' || c == '-') && i > 0;
      if (hex)
        good = good && std::isxdigit(static_cast<unsigned char>(c));
      else if (c == '.')
        ++dots, good = good && exponents == 0;
      else if (c == 'e' || c == 'E')
        ++exponents, good = good && i > 0 && i + 1 < body.size();
      else
        good = good && (std::isdigit(static_cast<unsigned char>(c)) || sign_of_exponent);
    }
    good = good && dots <= 1 && exponents <= 1 && body != "." && body.back() != '-' && body.back() != '+';
    if (!good) fail("E0156", start, fmt::format("'{}' is no number", text_.substr(start, at_ - start)));
    skip();
  }

  Value arguments(std::size_t opened) {
    Value value;
    if (accept(")")) return value;
    do value.add(conditional());
    while (accept(","));
    expect(")", opened);
    return value;
  }

  Value cast(std::size_t start) {
    if (!accept("<")) fail("E0156", start, "static_cast wants a type", "such as static_cast<scalar_t>(self)");
    const auto at = at_;
    const std::string type = word();
    if (std::ranges::find(kExprTypes, type) == std::end(kExprTypes))
      fail("E0157", at, fmt::format("unknown type '{}'", type), did_you_mean(type, kExprTypes));
    expect(">", start);
    const auto opened = at_;
    expect("(", start);
    const Value value = conditional();
    expect(")", opened);
    return type == "scalar_t" ? value : Value{};
  }

  Value primary() {
    if (at_ == text_.size()) fail("E0156", at_ > 0 ? at_ - 1 : 0, "the expression ends too early");
    const auto start = at_;
    const char c = text_[at_];
    const bool fraction =
        c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]));
    if (std::isdigit(static_cast<unsigned char>(c)) || fraction) {
      number();
      return {};
    }
    if (accept("(")) {
      Value value = conditional();
      expect(")", start);
      return value;
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
    if (name == "true" || name == "false") return {};
    const bool type = std::ranges::find(kExprTypes, name) != std::end(kExprTypes);
    const bool qualified = name.find("::") != std::string::npos;
    const auto opened = at_;
    if (text_.substr(at_, 1) == "(") {
      if (!type && std::ranges::find(kFunctions, name) == std::end(kFunctions)) unknown_function(name, start);
      accept("(");
      Value value = arguments(opened);
      if (contains(kRealParts, name)) value.real = true;
      if (type) return name == "scalar_t" ? value : Value{};
      const bool any = contains(kRealParts, name) || contains(kComplexFunctions, name) || name.starts_with("has_") ||
                       name == "value_or";
      if (!any) use(name, start, value);
      return contains(kNotElements, name) ? Value{} : value;
    }
    if (qualified) unknown_function(name, start);
    if (type || is_cpp_keyword(name))
      fail("E0156", start, fmt::format("'{}' is not expected here", name), "expected a value");
    result_.names.push_back({name, start});
    return {{std::move(name)}, false};
  }

  [[noreturn]] static void unknown_function(const std::string& name, std::size_t start) {
    if (std::ranges::find(kFunctions, name) != std::end(kFunctions))
      fail("E0156", start, fmt::format("'{}' is a function and wants arguments", name));
    const std::string with_std = "std::" + name;
    const bool forgotten = std::ranges::find(kFunctions, with_std) != std::end(kFunctions);
    fail("E0157", start, fmt::format("unknown function '{}'", name.substr(0, 60)),
         forgotten ? "did you mean '" + with_std + "'?" : did_you_mean(name, kFunctions));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Expr result_;
};

}  // namespace

Expr parse_expr(std::string_view text) { return ExprParser(text).run(); }

std::optional<ExprError> dtype_error(const Expr& expr, const std::vector<std::string>& dtypes,
                                     const std::function<bool(const std::string&)>& is_element) {
  static const std::vector<std::string> kAll = {"float32"};
  const auto complex = [](const std::string& dtype) { return dtype.starts_with("complex"); };
  const auto not_integer = [&](const std::string& dtype) {
    return complex(dtype) || dtype.find("float") != std::string::npos;
  };
  const auto& all = dtypes.empty() ? kAll : dtypes;
  for (const ExprUse& use : expr.uses) {
    if (std::ranges::none_of(use.names, is_element)) continue;
    const bool of_integers = contains(kOfIntegers, use.token);
    const auto wrong = of_integers ? std::ranges::find_if(all, not_integer) : std::ranges::find_if(all, complex);
    if (wrong == all.end()) continue;
    return ExprError{"E0228", use.offset, fmt::format("'{}' is not defined for {}", use.token, *wrong),
                     of_integers
                         ? "name integers in `dtypes`" + std::string(use.token == "%" ? ", or take std::fmod" : "")
                         : "leave complex numbers out of `dtypes`, or take std::real or std::abs"};
  }
  return std::nullopt;
}

}  // namespace openreg_gen
