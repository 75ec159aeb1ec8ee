#include "catalog/cpp_types.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace openreg_gen {
namespace {

/// Types that are passed and returned by value, by name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kValueTypes = {{
    {"int", "int64_t"},
    {"float", "double"},
    {"bool", "bool"},
    {"str", "c10::string_view"},
    {"Generator", "at::Generator"},
    {"ScalarType", "at::ScalarType"},
    {"DimVector", "at::DimVector"},
    {"Dimname", "at::Dimname"},  // up to 2.11
    {"Layout", "at::Layout"},
    {"Device", "at::Device"},
    {"DeviceIndex", "at::DeviceIndex"},
    {"MemoryFormat", "at::MemoryFormat"},
    {"QScheme", "at::QScheme"},
    {"Storage", "at::Storage"},
    {"Stream", "at::Stream"},
    {"SymInt", "c10::SymInt"},
    {"SymBool", "c10::SymBool"},
}};

std::string value_type(std::string_view type) {
  for (const auto& [name, cpp] : kValueTypes)
    if (name == type) return std::string(cpp);
  throw std::invalid_argument("'" + std::string(type) + "' is not a type of a schema");
}

/// "int[2]" -> "int", "2". Only for types that end in ']'.
std::pair<std::string_view, std::string_view> list_parts(BorrowedText type) {
  const auto open = type.rfind('[');
  if (open == std::string_view::npos) throw std::invalid_argument("'" + std::string(type) + "' lacks a '['");
  return {type.substr(0, open), type.substr(open + 1, type.size() - open - 2)};
}

struct ArgumentTranslator {
  bool write;
  CppTypeOptions options;

  std::string translate(std::string_view type) const {
    if (type.ends_with('?')) return optional(type.substr(0, type.size() - 1));
    if (type.ends_with(']')) return list(type);
    if (type == "Tensor") return mutable_reference() ? "at::Tensor &" : "const at::Tensor &";
    if (type == "Scalar") return "const at::Scalar &";
    return value_type(type);
  }

  bool mutable_reference() const { return write && !options.const_ref_mutable; }

  std::string optional(std::string_view inner) const {
    if (inner == "Tensor") return mutable_reference() ? "at::Tensor &" : "const ::std::optional<at::Tensor> &";
    if (inner == "Scalar") return "const ::std::optional<at::Scalar> &";
    if (inner.ends_with(']')) {
      const auto element = list_parts(inner).first;
      if (element == "int") return "at::OptionalIntArrayRef";
      if (element == "SymInt") return "at::OptionalSymIntArrayRef";
    }
    return "::std::optional<" + translate(inner) + ">";
  }

  std::string list(std::string_view type) const {
    const auto [element, size] = list_parts(type);
    if (element == "bool" && !size.empty()) return "::std::array<bool," + std::string(size) + ">";
    if (element == "int") return "at::IntArrayRef";
    if (element == "SymInt") return "c10::SymIntArrayRef";
    if (element == "Tensor") return options.ilistref ? "const at::ITensorListRef &" : "at::TensorList";
    if (element == "Tensor?") return "const c10::List<::std::optional<at::Tensor>> &";
    if (element == "Scalar") return "at::ArrayRef<at::Scalar>";
    if (element == "Dimname") return "at::DimnameList";
    return "at::ArrayRef<" + translate(element) + ">";
  }
};

std::string one_return(std::string_view type, bool write, const CppTypeOptions& options) {
  if (type.ends_with('?'))
    return "::std::optional<" + one_return(type.substr(0, type.size() - 1), write, options) + ">";
  if (type.ends_with(']')) return "::std::vector<" + one_return(list_parts(type).first, false, options) + ">";
  if (type == "Scalar") return "at::Scalar";
  if (type != "Tensor") return value_type(type);
  if (!write) return "at::Tensor";
  return options.const_ref_mutable ? "const at::Tensor &" : "at::Tensor &";
}

}  // namespace

std::string cpp_argument_type(const ArgumentSchema& argument, const CppTypeOptions& options) {
  return ArgumentTranslator{argument.is_write(), options}.translate(argument.type);
}

std::string cpp_return_type(const std::vector<ReturnSchema>& returns, const CppTypeOptions& options) {
  if (returns.empty()) return "void";
  if (returns.size() == 1) return one_return(returns[0].type, returns[0].is_write(), options);
  std::string result = "::std::tuple<";
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (i != 0) result += ",";
    result += one_return(returns[i].type, returns[i].is_write(), options);
  }
  return result + ">";
}

}  // namespace openreg_gen
