// `pointwise`: the spec's expression over the operator's arguments becomes the kernel.
#include "base/suggest.h"
#include "spec/print_expr.h"
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

#include <fmt/format.h>

#include <algorithm>

namespace openreg_gen {
namespace {

struct PointwiseItem : OpItem {
  using OpItem::OpItem;
  std::string expr, kernel_params, kernel_args, output;
  std::string device_expr, numbers;  // the expression in the device's language; the numbers that it may read
  std::vector<std::string> device_inputs, device_numbers, device_optionals;
  Pointwise texts;
  bool boolean = false, floating = false;
  bool no_float64 = false;  // the expression in the device's language has none of that dtype
  std::optional<DtypeTexts> dtypes;
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, expr, kernel_params, kernel_args, output, device_expr, numbers, device_inputs, device_numbers,
                 device_optionals, boolean, no_float64)("lambda_params", texts.lambda_params)(
        "captures", texts.captures)("inputs", texts.inputs)("floating", floating ? "true" : "false");
    dtypes->print(out);
  }
};

/// Why an expression over elements cannot be the op's kernel; empty if it can.
std::string not_pointwise(const Op& op) {
  if (auto other = served_by_delegate(op); !other.empty()) return other;
  const bool elementwise = op.has_tag("pointwise") || op.structured_inherits == "TensorIteratorBase";
  if (!elementwise || op.has_tag("reduction")) return "it does not work element by element";
  if (op.base.starts_with("_foreach") || op.base.starts_with("_fused")) return "it works on lists of tensors";
  if (op.op_class == OpClass::View || op.op_class == OpClass::Random)
    return fmt::format("it is a {} operator", to_string(op.op_class));
  if (op.schema_returns.size() != 1 || !op.schema_returns[0].starts_with("Tensor"))
    return "it does not return one tensor";
  const auto is_input = [](const Argument& a) { return !a.is_out && a.schema_type.starts_with("Tensor"); };
  if (std::ranges::none_of(op.arguments, is_input)) return "it doesn't read a tensor";
  // Those of PyTorch's iterators that walk over elements first, and then do more.
  const auto has = [&](std::string_view name) {
    return std::ranges::find(op.arguments, name, &Argument::name) != op.arguments.end();
  };
  if (has("reduction")) return "it may sum up its elements, as `reduction` says; an expression sees only one element";
  if (has("dim")) return "it works along `dim`; an expression sees only one element";
  if (std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Tensor?"; }))
    return "one of its tensors is optional; an expression needs them all";
  return {};
}

void pointwise_written(const OpSpec& entry, Diagnostics& diagnostics) {
  if (!entry.expr.given())
    diagnostics.error("E0152", entry.name.at, fmt::format("'{}' is pointwise, but has no 'expr'", *entry.name),
                      "such as `expr: self * other`");
}

void check_pointwise(const Spec& spec, const OpSpec& op, const Op& known, Diagnostics& diagnostics) {
  if (op.expr->error) return;  // reported by the parser
  std::vector<std::string_view> names;
  for (const Argument& argument : known.arguments) {
    std::string_view type = argument.schema_type;
    if (type.ends_with('?') && !type.starts_with("Tensor")) type.remove_suffix(1);  // for value_or() and has_value()
    const bool number = type == "Scalar" || type == "float" || type == "int" || type == "bool" || type == "SymInt";
    if (!argument.is_out && (number || type.starts_with("Tensor"))) names.push_back(argument.name);
  }
  each_name(op.expr->root, [&](const ExprNode& use) {
    if (contains(names, use.text)) return;
    diagnostics.error("E0208", place_in(op.expr, use.offset, spec),
                      fmt::format("'{}' is not an argument of '{}'", use.text, known.name),
                      did_you_mean(use.text, names));
  });
  for (const std::string_view name : names)
    if (op.expr.given() && !uses(*op.expr, name))
      diagnostics.warning("E0168", op.expr.at, fmt::format("the expression of '{}' doesn't use '{}'", known.name, name),
                          "every call computes the same, whatever it gives for it");
  check_dtypes(spec, op, op.expr, diagnostics, [&](const std::string& name) {
    const auto has_name = [&](const Argument& argument) { return argument.name == name; };
    const auto found = std::ranges::find_if(known.arguments, has_name);
    return found != known.arguments.end() &&
           (found->schema_type.starts_with("Tensor") || found->schema_type.starts_with("Scalar"));
  });
}

bool on_device(const DeviceKernels& kernels, const OpSpec& entry) {
  return kernels.has("pointwise") && KernelLanguage::first_of(kernels.language->lacks, *entry.expr).empty();
}

std::unique_ptr<OpItem> pointwise_item(const SpecView& shown, const OpSpec& entry, const Op& op) {
  auto out = std::make_unique<PointwiseItem>(op);
  out->texts = pointwise_texts(parameters(op));
  std::vector<Parameter> kernel_params = {
      {op.structured ? "at::TensorIteratorBase&" : "at::TensorIterator&", "iter", false}};
  if (op.structured) {
    kernel_params.push_back({"const OperandOrder&", "order", false});
    out->calls = shown.structured(op);
  }
  kernel_params.insert(kernel_params.end(), out->texts.scalars.begin(), out->texts.scalars.end());
  std::vector<Parameter> call = kernel_params;
  call[0].name = op.structured ? "*this" : "iter";
  out->expr = cpp_text(*entry.expr);
  if (on_device(shown.kernels, entry)) {
    out->device_expr = shown.device_text(*entry.expr);
    out->no_float64 = !KernelLanguage::first_of(shown.kernels.language->lacks_in_float64, *entry.expr).empty();
  }
  std::vector<std::string> read;
  for (const Parameter& p : parameters(op))
    if (!p.out && p.tensor()) out->device_inputs.push_back(p.name);
  for (const Parameter& p : out->texts.scalars) {
    if (p.type == "c10::string_view") continue;  // no expression reads a text
    const bool optional = p.type.find("optional") != std::string::npos;
    (optional ? out->device_optionals : out->device_numbers).push_back(p.name);
    read.push_back(p.name);
  }
  std::ranges::stable_partition(read, [&](const std::string& name) { return contains(out->device_numbers, name); });
  out->numbers = join(read);
  out->kernel_params = declaration(kernel_params);
  out->kernel_args = names(call);
  out->output = out->return_value;
  if (out->functional()) out->return_value = "iter.output()";
  out->boolean = !op.structured && boolean_result(op.base);
  out->floating = only_floating(dtype_names(entry));
  out->dtypes.emplace(shown, entry, *out);
  return out;
}

}  // namespace

bool boolean_result(std::string_view base) {
  constexpr std::string_view kBases[] = {"isinf", "isnan", "logical_and", "logical_not", "logical_or", "logical_xor"};
  if (base.ends_with('_')) base.remove_suffix(1);  // in-place
  return contains(kBases, base);
}

Strategy pointwise_strategy() {
  return {
      .word = "pointwise",
      .about = "a kernel made from `expr`.",
      .keys = "expr dtypes fallback",
      .component = "loops",
      .written = pointwise_written,
      .unfit = not_pointwise,
      .check = check_pointwise,
      .starts_on_host = loops_on_host,
      .lists = "pointwise",
      .item = pointwise_item,
  };
}

}  // namespace openreg_gen
