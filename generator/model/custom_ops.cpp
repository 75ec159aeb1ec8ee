#include "catalog/cpp_types.h"
#include "base/text.h"
#include "model/custom_ops_items.h"
#include "model/ops.h"
#include "spec/print_expr.h"
#include "texts/escape.h"
#include "texts/ops_texts.h"

#include <map>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// The type that a kernel takes: SymInt is a number by then.
std::vector<Parameter> custom_parameters(const Schema& schema) {
  return mapped(schema.arguments,
                [](const auto& a) { return Parameter{cpp_type(cpp_argument_type(a)), a.name, a.is_out()}; });
}

/// The type that meta functions, autograd and views take: SymInt stays, or torch.compile would fix its value.
std::vector<Parameter> symbolic_parameters(const Schema& schema) {
  return mapped(schema.arguments,
                [](const auto& a) { return Parameter{cpp_return(cpp_argument_type(a)), a.name, a.is_out()}; });
}

/// "const at::Tensor& self, c10::SymInt": with the names of those alone that are used.
template <class Predicate>
std::string partly_named(const std::vector<Parameter>& parameters, Predicate used) {
  return join(mapped(parameters, [&](const Parameter& p) { return used(p) ? p.type + " " + p.name : p.type; }));
}

std::string types(const std::vector<Parameter>& parameters) { return join(mapped(parameters, &Parameter::type)); }

bool saved_as_tensor(const Parameter& p) { return p.tensor() || p.optional_tensor(); }

/// An argument as saved_data keeps it: an IValue owns what it holds.
std::string kept(const Parameter& p) {
  return !includes(p.type, "string_view") ? p.name : "c10::IValue(" + p.type + "(" + p.name + "))";
}

/// How it comes back.
std::string restored(const Parameter& p) {
  static const std::map<std::string, std::string> accessors = {{"int64_t", "toInt()"},
                                                               {"double", "toDouble()"},
                                                               {"bool", "toBool()"},
                                                               {"const at::Scalar&", "toScalar()"},
                                                               {"at::ScalarType", "toScalarType()"},
                                                               {"at::Device", "toDevice()"},
                                                               {"at::IntArrayRef", "toIntVector()"},
                                                               {"c10::SymInt", "toSymInt()"},
                                                               {"c10::SymIntArrayRef", "toSymIntVector()"},
                                                               {"at::ArrayRef<double>", "toDoubleVector()"},
                                                               {"c10::string_view", "toStringView()"}};
  const std::string value = "ctx->saved_data[\"" + p.name + "\"]";
  if (const auto found = accessors.find(p.type); found != accessors.end()) return value + "." + found->second;
  if (p.optional_scalar()) return value + ".toOptional<at::Scalar>()";
  if (p.type == "at::OptionalIntArrayRef") return value + ".to<at::OptionalArray<int64_t>>()";
  if (p.type == "at::OptionalSymIntArrayRef") return value + ".to<at::OptionalArray<c10::SymInt>>()";
  if (p.type.starts_with("std::optional<")) {
    const std::string inner = p.type.substr(14, p.type.size() - 15);
    return value +
           (inner.starts_with("c10::string_view") ? ".toOptional<c10::string_view>()" : ".toOptional<" + inner + ">()");
  }
  return value + ".to<" + p.type + ">()";
}

std::string python_type(const std::string& type) {
  static const std::map<std::string, std::string> known = {
      {"Tensor", "torch.Tensor"}, {"int", "int"}, {"SymInt", "int"},     {"float", "float"},
      {"bool", "bool"},           {"str", "str"}, {"Scalar", "complex"}, {"ScalarType", "torch.dtype"}};
  if (type.ends_with("?")) return python_type(type.substr(0, type.size() - 1)) + " | None";
  if (type.ends_with("]")) return "Sequence[" + python_type(type.substr(0, type.rfind('['))) + "]";
  const auto found = known.find(type);
  return found == known.end() ? "object" : found->second;
}

std::string python_returns(const Schema& schema) {
  const auto out = mapped(schema.returns, [](const ReturnSchema& value) { return python_type(value.type); });
  if (out.empty()) return "None";
  return out.size() == 1 ? out[0] : "tuple[" + join(out) + "]";
}

/// A default of a schema as Python's: a list becomes a tuple, which nobody can change.
std::string python_default(const std::string& text) {
  if (!text.starts_with('[')) return text;
  std::vector<std::string> items;
  for (const std::string_view item : split_top_level(std::string_view(text).substr(1, text.size() - 2), ','))
    if (!item.empty()) items.emplace_back(item);
  return "(" + join(items) + (items.size() == 1 ? ",)" : ")");
}

struct PythonTexts {
  std::vector<std::string> params;  // of a def: "self: torch.Tensor", "*", "alpha: float = 1.0"
  std::string lambda;               // of a lambda: "self, *, alpha"
  std::vector<std::string> call;    // "self", "alpha=alpha"
};

PythonTexts python_texts(const Schema& schema) {
  std::vector<std::string> params, lambda, call;
  bool star = false;
  for (const ArgumentSchema& a : schema.arguments) {
    if (a.kwarg_only && !star) {
      params.push_back("*");
      lambda.push_back("*");
      star = true;
    }
    const std::string value = python_default(a.default_value);
    params.push_back(a.name + ": " + python_type(a.type) + (value.empty() ? "" : " = " + value));
    lambda.push_back(a.name + (value.empty() ? "" : "=" + value));
    call.push_back(a.kwarg_only ? a.name + "=" + a.name : a.name);
  }
  return {params, join(lambda), call};
}

CustomKernel kernel(const Schema& schema, const Expr& expr) {
  const auto params = custom_parameters(schema);
  const auto symbolic = symbolic_parameters(schema);
  const auto tensor = std::ranges::find_if(params, &Parameter::tensor);
  return {.name = schema.name(),
          .id = schema.id(),
          .schema = schema.text(),
          .params = declaration(params),
          .meta_params = partly_named(symbolic, [](const Parameter& p) { return p.tensor(); }),
          .signature = types(symbolic),
          .first = tensor == params.end() ? "" : tensor->name,
          .expr = cpp_text(expr),
          .py_op = schema.base + "." + (schema.overload.empty() ? "default" : schema.overload),
          .py_expr = python_literal(python_text(expr)),
          .texts = pointwise_texts(params),
          .continuation = " \\"};
}

/// The operator that computes the gradient of one tensor argument: `grad`, then the arguments of `forward`.
Schema backward_schema(const Schema& forward, const std::string& name) {
  Schema out = forward;
  out.base = name;
  out.overload.clear();
  ArgumentSchema grad;
  grad.type = "Tensor";
  grad.name = "grad";
  out.arguments.insert(out.arguments.begin(), grad);
  return out;
}

Gradients gradients(const Schema& schema, const std::vector<std::optional<Expr>>& formulas) {
  Gradients out;
  const auto params = symbolic_parameters(schema);
  const auto tensors = std::ranges::count_if(params, &Parameter::tensor);
  std::vector<std::string> call = {"grads[0]"};
  std::size_t saved = 0;
  for (const Parameter& p : params) call.push_back(p.tensor() ? "saved[" + std::to_string(saved++) + "]" : restored(p));
  std::size_t tensor_index = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!params[i].tensor()) continue;
    const std::size_t index = tensor_index++;
    if (index >= formulas.size() || !formulas[index]) {
      out.missing.push_back({params[i].name, index, i});
      continue;
    }
    const std::string name = schema.id() + "_backward" + (tensors == 1 ? "" : "_" + params[i].name);
    const Schema grad = backward_schema(schema, name);
    std::vector<std::string> python = {"grad"};
    for (const ArgumentSchema& a : schema.arguments) {
      const auto p = params[static_cast<std::size_t>(&a - schema.arguments.data())];
      const std::string value = p.tensor() ? a.name : "ctx." + a.name;
      python.push_back(a.kwarg_only ? a.name + "=" + value : value);
    }
    out.given.push_back({name, types(symbolic_parameters(grad)), params[i].name, join(call), join(python), index, i});
    out.kernels.emplace_back(grad, *formulas[index]);
  }
  return out;
}

/// "list[0], list[1]"
std::string list_items(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back("list[" + std::to_string(i) + "]");
  return join(out);
}

}  // namespace

json custom_operators_model(const Spec& spec, Subjects& subjects) {
  CustomOps out;
  out.any = !spec.custom_ops.empty();
  const auto add_schema = [&](const Schema& schema, const char* tags) {
    out.schemas.push_back({cpp_literal(schema.text()), tags});
  };
  for (const CustomOpSpec& written : spec.custom_ops) {
    const Schema& schema = written.parsed;
    const auto params = symbolic_parameters(schema);
    const auto kernel_params = custom_parameters(schema);
    const bool formula = written.autograd.value == CustomAutograd::Formula;
    const bool function = written.autograd.value == CustomAutograd::Function;
    const std::string returns = cpp_return(cpp_return_type(schema.returns));
    const bool writes = std::ranges::any_of(schema.arguments, &ArgumentSchema::is_write);
    const auto shared = std::ranges::find_if(schema.returns, [](const auto& r) { return !r.annotation.empty(); });
    const bool view = shared != schema.returns.end() && !shared->is_write();
    const bool in_place = shared != schema.returns.end() && shared->is_write();
    add_schema(schema, in_place ? "at::Tag::pt2_compliant_tag, at::Tag::inplace" : "at::Tag::pt2_compliant_tag");
    if (!written.expr.given()) {
      // The parameters of its backward: the gradients of what it returns, then its own.
      std::vector<Parameter> backward = {{"at::TensorList", "grads", false}};
      backward.insert(backward.end(), params.begin(), params.end());
      // Where one tensor is a view of one, the kernel can start as an alias of it.
      const auto viewed = std::ranges::find_if(schema.arguments, [&](const auto& a) {
        return view && a.type == "Tensor" && a.annotation == shared->annotation;
      });
      const bool alias = view && schema.returns.size() == 1 && shared->type == "Tensor";
      const std::string start = in_place                                    ? schema.arguments[0].name
                                : alias && viewed != schema.arguments.end() ? viewed->name
                                                                            : "";
      out.declared.push_back({.name = schema.name(),
                              .custom_id = schema.id(),
                              .schema = schema.text(),
                              .returns = returns,
                              .params = declaration(view ? params : kernel_params),
                              .params_unnamed = types(kernel_params),
                              .meta_params = declaration(params),
                              .meta_params_unnamed = types(params),
                              .backward_params = declaration(backward),
                              .backward_params_unnamed = types(backward),
                              .start = start,
                              .start_params = partly_named(params, [&](const auto& p) { return p.name == start; }),
                              .view = view,
                              .in_place = in_place,
                              .formula = formula});
      if (writes) out.mutating.push_back(schema.name());
      if (view) out.views.push_back({schema.name(), schema.id(), formula});
      if (!view) out.kernels.push_back({schema.name(), schema.id()});
    } else {
      out.pointwise.push_back(kernel(schema, *written.expr));
    }
    const Gradients grads = gradients(schema, *written.backward);
    for (const auto& [grad, expr] : grads.kernels) {
      add_schema(grad, "at::Tag::pt2_compliant_tag");
      out.pointwise.push_back(kernel(grad, expr));
      out.not_differentiable.push_back(grad.base);
    }
    std::vector<std::string> tensors, saved, call = {"grads"};
    std::vector<SavedScalar> scalars;
    std::vector<std::string> py_scalars;
    for (const Parameter& p : params) {
      if (saved_as_tensor(p)) {
        const std::string variable = "saved[" + std::to_string(saved.size()) + "]";
        saved.push_back(p.tensor() ? p.name : p.name + ".value_or(at::Tensor())");
        call.push_back(p.tensor() ? variable
                                  : variable + ".defined() ? std::optional(" + variable + ") : std::nullopt");
      } else {
        scalars.push_back({p.name, kept(p)});
        py_scalars.push_back(p.name);
        call.push_back(restored(p));
      }
      if (p.tensor()) tensors.push_back(p.name);
    }
    const PythonTexts python = python_texts(schema);
    const std::string typed = join(python.params);
    // Whether a line holds them, whatever the backend's name: else each argument gets a line of its own.
    const auto def_width = schema.id().size() + typed.size() + python_returns(schema).size();
    const auto call_width = schema.name().size() + join(python.call).size();
    const CustomOp op = {.name = schema.name(),
                         .id = schema.id(),
                         .base = schema.base,
                         .overload = schema.overload,
                         .returns = returns,
                         .forward_returns = schema.returns.size() > 1 ? "torch::autograd::variable_list" : returns,
                         .params = declaration(params),
                         .saved = join(saved),
                         .list_items = list_items(schema.returns.size()),
                         .signature = types(params),
                         .args = names(params),
                         .doc = schema.text(),
                         .py_call = join(python.call),
                         .py_lambda = python.lambda,
                         .py_typed_args = typed,
                         .py_inputs = join(tensors),
                         .py_saved = tensors.size() == 1 ? "(" + tensors[0] + ",)" : join(tensors),
                         .py_returns = python_returns(schema),
                         .returned_count = schema.returns.size(),
                         .arg_count = params.size(),
                         .tensor_count = tensors.size(),
                         .declared = !written.expr.given(),
                         .view = view,
                         .function = function,
                         .formula = formula,
                         .py_short = def_width <= 110 && call_width <= 80,
                         .surrogate = *written.surrogate,
                         .scalars = scalars,
                         .py_scalars = py_scalars,
                         .backward_args = call,
                         .py_arguments = python.call,
                         .py_params = python.params,
                         .grads = grads};
    if (formula) out.formulas.push_back(op);
    if (function) out.py_functions.push_back(op);
    if (!formula && !function && !writes && !view) out.not_differentiable.push_back(schema.name());
    out.python.push_back(op);
    for (const std::string& annotation : {op.py_typed_args, op.py_returns})
      out.sequences = out.sequences || includes(annotation, "Sequence[");
  }
  if (!out.pointwise.empty()) out.pointwise.back().continuation.clear();
  const auto about = [&](const char* list, const auto& items, const auto& signature) {
    for (const auto& item : items)
      subjects[std::string("custom_ops.") + list].push_back({*spec.backend.name + "::" + item.name, signature(item)});
  };
  const auto none = [](const auto&) { return std::string(); };
  about("declared", out.declared, [](const OwnedOp& op) { return op.signature(); });
  about("pointwise", out.pointwise, none);
  about("formulas", out.formulas, none);
  about("python", out.python, none);
  about("py_functions", out.py_functions, none);
  about("views", out.views, none);
  about("kernels", out.kernels, none);
  return Fields::json_of(out);
}

}  // namespace openreg_gen
