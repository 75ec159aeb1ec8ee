#include "texts/ops_texts.h"

#include "base/text.h"
#include "schema/schema.h"

#include <fmt/ranges.h>

#include <utility>

namespace openreg_gen {
namespace {

/// The expression by which a loop captures an argument: a number in the type it computes in, or a copy.
std::string capture(const Parameter& p) {
  const std::string number = "compute_t<scalar_t>";
  if (p.type == "const at::Scalar&") return p.name + " = " + p.name + ".to<" + number + ">()";
  if (p.optional_scalar()) {
    return p.name + " = " + p.name + ".has_value() ? std::optional(" + p.name + "->to<" + number +
           ">()) : std::nullopt";
  }
  if (p.type == "c10::string_view") return p.name + " = std::string(" + p.name + ")";
  return p.name;
}

constexpr std::pair<std::string_view, std::string_view> kDtypeNames[] = {{"uint8", "at::kByte"},
                                                                         {"int8", "at::kChar"},
                                                                         {"int16", "at::kShort"},
                                                                         {"int32", "at::kInt"},
                                                                         {"int64", "at::kLong"},
                                                                         {"float16", "at::kHalf"},
                                                                         {"bfloat16", "at::kBFloat16"},
                                                                         {"float32", "at::kFloat"},
                                                                         {"float64", "at::kDouble"},
                                                                         {"complex32", "at::kComplexHalf"},
                                                                         {"complex64", "at::kComplexFloat"},
                                                                         {"complex128", "at::kComplexDouble"},
                                                                         {"bool", "at::kBool"},
                                                                         {"uint16", "at::kUInt16"},
                                                                         {"uint32", "at::kUInt32"},
                                                                         {"uint64", "at::kUInt64"}};

}  // namespace

std::string cpp_return(std::string_view type) {
  std::string text(type);
  replace_all(text, "::std::", "std::");
  replace_all(text, " &", "&");
  replace_all(text, ",", ", ");
  replace_all(text, ",  ", ", ");
  return text;
}

std::string cpp_type(std::string_view type) {
  std::string text = cpp_return(type);
  replace_all(text, "OptionalSymIntArrayRef", "OptionalIntArrayRef");
  replace_all(text, "c10::SymIntArrayRef", "at::IntArrayRef");
  replace_all(text, "c10::SymInt", "int64_t");
  return text;
}

bool Parameter::tensor() const { return type == "const at::Tensor&" || type == "at::Tensor&"; }
bool Parameter::optional_tensor() const { return type == "const std::optional<at::Tensor>&"; }
bool Parameter::optional_scalar() const { return type == "const std::optional<at::Scalar>&"; }
bool Parameter::any_tensor() const {
  return tensor() || optional_tensor() || type == "at::TensorList" || type == "const at::ITensorListRef&";
}

std::vector<Parameter> parameters(const Op& op) {
  return mapped(op.arguments, [](const Argument& a) { return Parameter{cpp_type(a.type), a.name, a.is_out}; });
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  return fmt::format("{}", fmt::join(pieces, separator));
}

std::string declaration(const std::vector<Parameter>& parameters) {
  return join(mapped(parameters, [](const Parameter& p) { return p.name.empty() ? p.type : p.type + " " + p.name; }));
}

std::string names(const std::vector<Parameter>& parameters) { return join(mapped(parameters, &Parameter::name)); }

bool draws_from_generator(const Op& op) {
  return std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Generator?"; });
}

std::string op_id(const Op& op) { return op.overload.empty() ? op.base : op.base + "_" + op.overload; }

std::string op_file(const Op& op) {
  // What templates/csrc/aten/native holds besides, in lower case.
  constexpr std::string_view kTaken =
      "attention attentionmath batchnorm convolution copy copykernel deviceloop dropout elementwisemeta embeddingbag "
      "empty fill gemm gemmconvolution im2col kernels matmul pick recycled reduce resize rnn view";
  std::string id = op_id(op);
  return has_word(kTaken, lower_case(id)) ? id + "_kernel" : id;
}

std::string header_root(const Op& op) {
  const std::string root = parse_schema(op.schema).root();
  return root.starts_with("__") ? root.substr(2, root.size() - 4) : root;  // "__ilshift__" is in lshift_ops.h
}

std::string device_guard(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters)
    if (p.any_tensor() || p.type == "std::optional<at::Device>") names.push_back(p.name);
  return names.empty() ? "" : fmt::format("const OperandsGuard guard({});", fmt::join(names, ", "));
}

Pointwise pointwise_texts(const std::vector<Parameter>& parameters) {
  Pointwise out;
  std::vector<std::string> lambda, captures, inputs;
  for (const Parameter& p : parameters) {
    if (p.out) continue;
    if (p.tensor()) {
      lambda.push_back("[[maybe_unused]] compute_t<scalar_t> " + p.name);
      inputs.push_back(p.name);
    } else {
      captures.push_back(capture(p));
      out.scalars.push_back(p);
    }
  }
  out.lambda_params = join(lambda);
  out.captures = join(captures);
  out.inputs = join(inputs);
  return out;
}

std::string dispatch_types(const std::vector<std::string>& dtypes) {
  if (dtypes.empty()) return "AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16";
  std::vector<std::string> out;
  for (const std::string& dtype : dtypes) {
    if (const auto* found = find_by(kDtypeNames, dtype, [](const auto& row) { return row.first; }))
      out.emplace_back(found->second);
  }
  return join(out);
}

std::string enumerators(const std::vector<std::string>& dtypes) {
  return dtypes.empty()
             ? dispatch_types({"uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"})
             : dispatch_types(dtypes);
}

bool only_floating(const std::vector<std::string>& dtypes) {
  return !dtypes.empty() && std::ranges::all_of(dtypes, [](const std::string& dtype) {
    return includes(dtype, "float") || dtype.starts_with("complex");
  });
}

}  // namespace openreg_gen
