#include "spec/print_expr.h"

#include "base/text.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

class CppPrinter : public ExprPrinter {
  std::string cast(const ExprNode& node) const override {
    return fmt::format("static_cast<{}>({})", node.text, arguments(node));
  }
};

class PythonPrinter : public ExprPrinter {
  std::string number(const ExprNode& node) const override {
    if (node.text == "true") return "True";
    if (node.text == "false") return "False";
    std::string text = lower_case(node.text);
    const bool hex = text.starts_with("0x");
    while (contains(std::string_view(hex ? "ul" : "ulf"), text.back())) text.pop_back();
    const bool octal = text.size() > 1 && text[0] == '0' && std::ranges::all_of(text, is_digit);
    return octal ? "0o" + text.substr(1) : text;
  }
  std::string unary(const ExprNode& node) const override {
    return node.text == "!" ? "cpp.logical_not(" + arguments(node) + ")" : ExprPrinter::unary(node);
  }
  std::string binary(const ExprNode& node) const override {
    constexpr std::pair<std::string_view, std::string_view> kCalls[] = {
        {"/", "divide"}, {"%", "modulo"}, {"&&", "logical_and"}, {"||", "logical_or"}};
    for (const auto& [token, function] : kCalls)
      if (node.text == token) return fmt::format("cpp.{}({})", function, arguments(node));
    // Comparisons bind less than bits here, and a < b < c is another thing.
    const auto operand = [&](const ExprNode& part) {
      const bool compares =
          part.kind == ExprNode::Kind::Binary && (part.text.ends_with('=') || part.text == "<" || part.text == ">");
      return compares ? "(" + print(part) + ")" : print(part);
    };
    return fmt::format("{} {} {}", operand(node.parts[0]), node.text, operand(node.parts[1]));
  }
  std::string conditional(const ExprNode& node) const override { return "cpp.where(" + arguments(node) + ")"; }
  std::string call(const ExprNode& node) const override {
    const std::size_t colons = node.text.rfind("::");
    return fmt::format("cpp.{}({})", colons == std::string::npos ? node.text : node.text.substr(colons + 2),
                       arguments(node));
  }
  std::string cast(const ExprNode& node) const override {
    return fmt::format("cpp.cast(\"{}\", {})", node.text, arguments(node));
  }
};

}  // namespace

std::string ExprPrinter::print(const ExprNode& node) const {
  using Printer = std::string (ExprPrinter::*)(const ExprNode&) const;
  constexpr Printer kPrinters[] = {&ExprPrinter::number, &ExprPrinter::name,   &ExprPrinter::group,
                                   &ExprPrinter::unary,  &ExprPrinter::binary, &ExprPrinter::conditional,
                                   &ExprPrinter::call,   &ExprPrinter::cast};
  return (this->*kPrinters[static_cast<std::size_t>(node.kind)])(node);
}

std::string ExprPrinter::group(const ExprNode& node) const { return "(" + arguments(node) + ")"; }

std::string ExprPrinter::unary(const ExprNode& node) const {
  const bool signs = node.parts[0].kind == ExprNode::Kind::Unary && node.parts[0].text == node.text;
  return node.text + (signs ? " " : "") + print(node.parts[0]);  // "--" is another operator
}

std::string ExprPrinter::binary(const ExprNode& node) const {
  return fmt::format("{} {} {}", print(node.parts[0]), node.text, print(node.parts[1]));
}

std::string ExprPrinter::conditional(const ExprNode& node) const {
  return fmt::format("{} ? {} : {}", print(node.parts[0]), print(node.parts[1]), print(node.parts[2]));
}

std::string ExprPrinter::call(const ExprNode& node) const { return node.text + "(" + arguments(node) + ")"; }

std::string ExprPrinter::arguments(const ExprNode& node) const {
  std::string out;
  for (const ExprNode& part : node.parts) out += (out.empty() ? "" : ", ") + print(part);
  return out;
}

std::string cpp_text(const Expr& expr) { return CppPrinter().print(expr.root); }
std::string python_text(const Expr& expr) { return PythonPrinter().print(expr.root); }

}  // namespace openreg_gen
