// Which dtypes an expression can't be computed in.
#include "base/text.h"
#include "spec/expr.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using ExprKind = ExprNode::Kind;

// What complex numbers have, too, and whether the result is real.
constexpr std::string_view kComplexFunctions =
    "std::acos std::acosh std::asin std::asinh std::atan std::atanh std::conj std::cos std::cosh std::exp std::log "
    "std::log10 std::pow std::sin std::sinh std::sqrt std::tan std::tanh";
constexpr std::string_view kRealParts = "std::abs std::arg std::imag std::norm std::real";
constexpr std::string_view kNotElements = "std::isfinite std::isinf std::isnan std::signbit c10::is_negative has_value";
constexpr std::string_view kOfIntegers[] = {"%", "&", "|", "^", "~", "<<", ">>"};

/// An operator or function that not all dtypes have.
struct Use {
  std::string token;  // "%", "<", "std::fmax"
  std::size_t offset = 0;
  std::vector<std::string> names;  // the variables whose values reach it in their own type
};

/// Properties of a subexpression's value.
struct Value {
  std::vector<std::string> names;  // variables in whose type it may be
  bool real = true;                // it is real even if they are complex

  void add(const Value& other) {
    names.insert(names.end(), other.names.begin(), other.names.end());
    real = real && other.real;
  }
};

struct Uses {
  std::vector<Use> uses;

  Value value(const ExprNode& node) {
    if (node.kind == ExprKind::Name) return {{node.text}, false};
    Value sum;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      const Value part = value(node.parts[i]);
      if (node.kind != ExprKind::Conditional || i != 0) sum.add(part);
    }
    if (node.kind == ExprKind::Unary) {
      if (node.text == "!") return {};
      if (node.text == "~") use(node, sum);
    } else if (node.kind == ExprKind::Binary) {
      const bool bits = contains(kOfIntegers, node.text), ordered = node.text[0] == '<' || node.text[0] == '>';
      if (ordered || bits) use(node, sum);
      const bool truth = node.text == "||" || node.text == "&&" || node.text == "==" || node.text == "!=";
      if (truth || (ordered && !bits)) return {};
    } else if (node.kind == ExprKind::Cast) {
      return node.text == "scalar_t" ? sum : Value{};
    } else if (node.kind == ExprKind::Call) {
      const bool real_part = has_word(kRealParts, node.text);
      sum.real = sum.real || real_part;
      const bool any = real_part || has_word(kComplexFunctions, node.text) || node.text.starts_with("has_") ||
                       node.text == "value_or";
      if (!any) use(node, sum);
      if (has_word(kNotElements, node.text)) return {};
    }
    return sum;
  }

 private:
  void use(const ExprNode& node, const Value& value) {
    if (value.names.empty() || (value.real && !contains(kOfIntegers, node.text))) return;
    uses.push_back({node.text, node.offset, value.names});
  }
};

}  // namespace

std::optional<ExprError> dtype_error(const Expr& expr, const std::vector<std::string>& dtypes,
                                     const std::function<bool(const std::string&)>& is_element) {
  static const std::vector<std::string> kAll = {"float32"};
  const auto complex = [](const std::string& dtype) { return dtype.starts_with("complex"); };
  const auto not_integer = [&](const std::string& dtype) { return complex(dtype) || includes(dtype, "float"); };
  const auto& all = dtypes.empty() ? kAll : dtypes;
  Uses found;
  found.value(expr.root);
  for (const Use& use : found.uses) {
    if (std::ranges::none_of(use.names, is_element)) continue;
    const bool of_integers = contains(kOfIntegers, use.token);
    const auto wrong = of_integers ? std::ranges::find_if(all, not_integer) : std::ranges::find_if(all, complex);
    if (wrong == all.end()) continue;
    return ExprError{"E0228", use.offset, fmt::format("'{}' is not defined for {}", use.token, *wrong),
                     of_integers
                         ? "name integers in `dtypes`" + std::string(use.token == "%" ? ", or use std::fmod" : "")
                         : "leave complex numbers out of `dtypes`, or use std::real or std::abs"};
  }
  return std::nullopt;
}

}  // namespace openreg_gen
