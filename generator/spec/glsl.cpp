// GLSL, as in templates/package/glsl and templates/csrc/glsl: compute shaders over addresses
// (GL_EXT_buffer_reference2).
#include "spec/kernel_language.h"
#include "spec/print_expr.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// Names are as in OpenCL C. bool is a separate type: arithmetic refuses it, and a number is not a condition.
class GlslPrinter : public ExprPrinter {
  using Kind = ExprNode::Kind;

  static bool is_truth(const ExprNode& node) {
    constexpr std::string_view kTruths =
        "< > <= >= == != && || has_value std::isnan std::isinf std::isfinite std::signbit c10::is_negative at::_isnan";
    switch (node.kind) {
      case Kind::Number:
        return node.text == "true" || node.text == "false";
      case Kind::Group:
        return is_truth(node.parts[0]);
      case Kind::Unary:
        return node.text == "!";
      case Kind::Conditional:
        return is_truth(node.parts[1]) && is_truth(node.parts[2]);
      case Kind::Cast:
        return node.text == "bool";
      default:
        return has_word(kTruths, node.text);
    }
  }
  std::string truth(const ExprNode& node) const { return is_truth(node) ? print(node) : "bool(" + print(node) + ")"; }
  std::string value(const ExprNode& node) const { return is_truth(node) ? "int(" + print(node) + ")" : print(node); }

  std::string number(const ExprNode& node) const override {
    std::string text = node.text;
    const std::string lower = lower_case(text);
    const bool hex = lower.starts_with("0x");
    if (!hex && (contains(text, '.') || contains(lower, 'e')) && text != "true" && text != "false") {
      if (lower.ends_with('f')) text.pop_back();
      return "constant(" + text + "lf)";
    }
    if (const auto twice = lower.find("ll"); twice != std::string::npos) text.erase(twice, 1);
    return text;
  }
  std::string name(const ExprNode& node) const override { return "v_" + node.text; }
  std::string unary(const ExprNode& node) const override {
    if (node.text == "!") return "!" + truth(node.parts[0]);
    return is_truth(node.parts[0]) ? node.text + value(node.parts[0]) : ExprPrinter::unary(node);
  }
  std::string binary(const ExprNode& node) const override {
    const ExprNode &left = node.parts[0], &right = node.parts[1];
    if (node.text == "&&" || node.text == "||") return fmt::format("{} {} {}", truth(left), node.text, truth(right));
    if (node.text == "%") return fmt::format("f_rest({}, {})", value(left), value(right));
    return fmt::format("{} {} {}", value(left), node.text, value(right));
  }
  std::string conditional(const ExprNode& node) const override {
    const bool both = is_truth(node.parts[1]) && is_truth(node.parts[2]);
    const auto part = [&](const ExprNode& each) { return both ? print(each) : value(each); };
    return fmt::format("{} ? {} : {}", truth(node.parts[0]), part(node.parts[1]), part(node.parts[2]));
  }
  std::string call(const ExprNode& node) const override {
    if (node.text == "has_value") return "has_" + node.parts[0].text;
    if (node.text == "value_or")
      return fmt::format("(has_{0} ? v_{0} : acc_t({1}))", node.parts[0].text, print(node.parts[1]));
    const std::size_t colons = node.text.rfind("::");
    return fmt::format("f_{}({})", colons == std::string::npos ? node.text : node.text.substr(colons + 2),
                       arguments(node));
  }
  std::string cast(const ExprNode& node) const override {
    return fmt::format("{}({})", node.text == "scalar_t" ? "to_scalar" : node.text, arguments(node));
  }
};

/// As csrc/programs/KernelCall.h passes each type.
constexpr KernelLanguage::Form kGlslForms[] = {
    {"const at::Scalar&", "num_t {0}_;"},
    {"double", "real_t {0}_;"},
    {"int64_t", "int64_t {0}_;"},
    {"bool", "int {0}_;"},
    {"at::IntArrayRef", "Ints {0}_;"},
    {"const std::optional<at::Scalar>&", "int has_{0}; num_t {0}_;"},
    {"std::optional<double>", "int has_{0}; real_t {0}_;"},
    {"std::optional<int64_t>", "int has_{0}; int64_t {0}_;"},
    {"std::optional<bool>", "int has_{0}; int {0}_;"},
    {"at::OptionalIntArrayRef", "int has_{0}; Ints {0}_;"},
};

constexpr KernelLanguage::Requirement kGlslNeeds[] = {
    {.name = "GLSL compiler",
     .program = "glslangValidator",
     .problem = "glslangValidator, which compiles GLSL to SPIR-V, is not on PATH",
     .remedy = "sudo apt-get install glslang-tools"},
};

}  // namespace

KernelLanguage glsl() {
  return {
      .word = "glsl",
      .about = "GLSL compute shaders, as for Vulkan.",
      .title = "GLSL",
      .folder = "glsl",
      .extension = "glsl",
      .entry = "main",
      .print = [](const Expr& expr) { return GlslPrinter().print(expr.root); },
      .lacks = "std::cbrt std::erf std::erfc std::expm1 std::lgamma std::log1p std::remainder std::tgamma std::arg",
      .lacks_in_float64 =
          "std::acos std::acosh std::asin std::asinh std::atan std::atan2 std::atanh std::cos std::cosh "
          "std::exp std::exp2 std::log std::log10 std::log2 std::pow std::sin std::sinh std::tan std::tanh",
      .read = "TensorInfo {0}_info; uint64_t {0}_;",
      .written = "TensorInfo {0}_info; uint64_t {0}_;",
      .forms = kGlslForms,
      .separator = " ",
      .needs = kGlslNeeds,
  };
}

}  // namespace openreg_gen
