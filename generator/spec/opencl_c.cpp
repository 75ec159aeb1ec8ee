// OpenCL C, as in templates/package/opencl and templates/csrc/opencl.
#include "spec/kernel_language.h"
#include "spec/print_expr.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// Variables are v_NAME, whether an optional one is there is has_NAME, functions are f_NAME of types.cl.
class OpenClPrinter : public ExprPrinter {
  std::string number(const ExprNode& node) const override {
    std::string text = node.text;
    const auto twice = lower_case(text).find("ll");
    if (twice != std::string::npos) text.erase(twice, 1);  // a long has 64 bits here, and there is no longer one
    return text;
  }
  std::string name(const ExprNode& node) const override { return "v_" + node.text; }
  std::string call(const ExprNode& node) const override {
    if (node.text == "has_value") return "has_" + node.parts[0].text;
    if (node.text == "value_or")
      return fmt::format("(has_{0} ? v_{0} : (acc_t)({1}))", node.parts[0].text, print(node.parts[1]));
    const std::size_t colons = node.text.rfind("::");
    return fmt::format("f_{}({})", colons == std::string::npos ? node.text : node.text.substr(colons + 2),
                       arguments(node));
  }
  std::string cast(const ExprNode& node) const override {
    if (node.text == "scalar_t") return fmt::format("to_scalar({})", arguments(node));
    return fmt::format("(({})({}))", node.text == "int64_t" ? "long" : node.text, arguments(node));
  }
};

/// As csrc/programs/KernelCall.h passes each type.
constexpr KernelLanguage::Form kOpenClForms[] = {
    {"const at::Scalar&", "num_t {0}"},
    {"double", "real_t {0}"},
    {"int64_t", "long {0}"},
    {"bool", "int {0}"},
    {"at::IntArrayRef", "Ints {0}"},
    {"const std::optional<at::Scalar>&", "int has_{0}, num_t {0}"},
    {"std::optional<double>", "int has_{0}, real_t {0}"},
    {"std::optional<int64_t>", "int has_{0}, long {0}"},
    {"std::optional<bool>", "int has_{0}, int {0}"},
    {"at::OptionalIntArrayRef", "int has_{0}, Ints {0}"},
};

constexpr KernelLanguage::Form kOpenClDtypes[] = {
    {"float32", "float"}, {"float64", "double"}, {"float16", "half"}, {"bfloat16", "ushort"}, {"int64", "long"},
    {"int32", "int"},     {"int16", "short"},    {"int8", "char"},    {"uint8", "uchar"},     {"bool", "uchar"},
};

constexpr KernelLanguage::Requirement kOpenClNeeds[] = {
    {.name = "OpenCL headers",
     .header = "CL/cl.h",
     .problem = "the compiler doesn't find CL/cl.h",
     .remedy = "sudo apt-get install opencl-headers ocl-icd-opencl-dev"},
};

}  // namespace

KernelLanguage opencl_c() {
  return {
      .word = "opencl_c",
      .about = "OpenCL C.",
      .title = "OpenCL C",
      .folder = "opencl",
      .extension = "cl",
      .print = [](const Expr& expr) { return OpenClPrinter().print(expr.root); },
      .types = kOpenClDtypes,
      .read = "TensorInfo {0}_info, global const char* {0}",
      .written = "TensorInfo {0}_info, global char* {0}",
      .forms = kOpenClForms,
      .needs = kOpenClNeeds,
  };
}

}  // namespace openreg_gen
