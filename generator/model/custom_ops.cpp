#include "catalog/cpp_types.h"
#include "catalog/schema.h"
#include "texts/escape.h"
#include "spec/names.h"
#include "model/ops.h"
#include "texts/ops_texts.h"

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// What a kernel takes: SymInt is a number by then.
std::vector<Parameter> custom_parameters(const Schema& schema) {
  std::vector<Parameter> out;
  for (const ArgumentSchema& argument : schema.arguments)
    out.push_back({cpp_type(cpp_argument_type(argument)), argument.name, argument.is_out()});
  return out;
}

/// What shapes without data, autograd and views take: SymInt as it is, else torch.compile would fix its value.
std::vector<Parameter> symbolic_parameters(const Schema& schema) {
  std::vector<Parameter> out;
  for (const ArgumentSchema& argument : schema.arguments)
    out.push_back({cpp_return(cpp_argument_type(argument)), argument.name, argument.is_out()});
  return out;
}

/// "const at::Tensor& self, c10::SymInt": with the names of those alone that are used.
template <class Used>
std::string partly_named(const std::vector<Parameter>& parameters, Used used) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters) out.push_back(used(p) ? p.type + " " + p.name : p.type);
  return join(out);
}

std::string types(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters) out.push_back(p.type);
  return join(out);
}

std::string id(const Schema& schema) {
  return schema.overload.empty() ? schema.base : schema.base + "_" + schema.overload;
}

bool saved_as_tensor(const Parameter& p) { return p.tensor() || p.optional_tensor(); }

/// An argument as saved_data keeps it: an IValue owns what it holds.
std::string kept(const Parameter& p) {
  return p.type.find("string_view") == std::string::npos ? p.name : "c10::IValue(" + p.type + "(" + p.name + "))";
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
  std::vector<std::string> out;
  for (const ReturnSchema& value : schema.returns) out.push_back(python_type(value.type));
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

std::vector<std::string> split_formulas(const std::string& backward) {
  std::vector<std::string> out;
  if (backward.empty()) return out;
  for (std::string_view piece : split_top_level(backward, ';')) out.emplace_back(piece);
  return out;
}

json kernel(const Schema& schema, const std::string& expr) {
  const auto params = custom_parameters(schema);
  const auto symbolic = symbolic_parameters(schema);
  const Pointwise texts = pointwise_texts(params);
  std::string first;
  for (const Parameter& p : params)
    if (first.empty() && p.tensor()) first = p.name;
  return {{"name", schema.name()},
          {"id", id(schema)},
          {"schema", schema.text()},
          {"params", declaration(params)},
          {"meta_params", partly_named(symbolic, [](const Parameter& p) { return p.tensor(); })},
          {"signature", types(symbolic)},
          {"first", first},
          {"inputs", texts.inputs},
          {"captures", texts.captures},
          {"lambda_params", texts.lambda_params},
          {"expr", expr},
          {"floating", "false"},
          {"dispatch", dispatch_types({})}};
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

struct Gradients {
  json given = json::array(), missing = json::array();
  std::vector<std::pair<Schema, std::string>> kernels;
};

Gradients gradients(const Schema& schema, const std::string& backward) {
  Gradients out;
  const auto params = symbolic_parameters(schema);
  const auto formulas = split_formulas(backward);
  const auto tensors = std::ranges::count_if(params, &Parameter::tensor);
  std::vector<std::string> call = {"grads[0]"};
  std::size_t saved = 0;
  for (const Parameter& p : params) call.push_back(p.tensor() ? "saved[" + std::to_string(saved++) + "]" : restored(p));
  std::size_t tensor_index = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!params[i].tensor()) continue;
    const std::size_t index = tensor_index++;
    if (index >= formulas.size() || formulas[index].empty()) {
      out.missing.push_back({{"name", params[i].name}, {"tensor_index", index}, {"arg_index", i}});
      continue;
    }
    const std::string name = id(schema) + "_backward" + (tensors == 1 ? "" : "_" + params[i].name);
    const Schema grad = backward_schema(schema, name);
    std::vector<std::string> python = {"grad"};
    for (const ArgumentSchema& a : schema.arguments) {
      const auto p = params[static_cast<std::size_t>(&a - schema.arguments.data())];
      const std::string value = p.tensor() ? a.name : "ctx." + a.name;
      python.push_back(a.kwarg_only ? a.name + "=" + value : value);
    }
    out.given.push_back({{"name", name},
                         {"signature", types(symbolic_parameters(grad))},
                         {"input", params[i].name},
                         {"tensor_index", index},
                         {"arg_index", i},
                         {"call_args", join(call)},
                         {"py_call_args", join(python)}});
    out.kernels.emplace_back(grad, formulas[index]);
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
  json out = {{"pointwise", json::array()}, {"declared", json::array()},      {"formulas", json::array()},
              {"schemas", json::array()},   {"python", json::array()},        {"py_functions", json::array()},
              {"views", json::array()},     {"kernels", json::array()},       {"not_differentiable", json::array()},
              {"mutating", json::array()},  {"any", !spec.custom_ops.empty()}};
  bool sequences = false;  // whether the Python functions' annotations want that name
  const auto add_schema = [&](const Schema& schema, const char* tags) {
    out["schemas"].push_back({{"cpp", cpp_literal(schema.text())}, {"tags", tags}});
  };
  for (const CustomOpSpec& written : spec.custom_ops) {
    const Schema schema = parse_schema(written.schema.value);
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
    if (written.expr.value.empty()) {
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
      out["declared"].push_back({{"name", schema.name()},
                                 {"view", view},
                                 {"in_place", in_place},
                                 {"start", start},
                                 {"start_params", partly_named(params, [&](const auto& p) { return p.name == start; })},
                                 {"custom_id", id(schema)},
                                 {"schema", schema.text()},
                                 {"returns", returns},
                                 {"params", declaration(view ? params : kernel_params)},
                                 {"params_unnamed", types(kernel_params)},
                                 {"meta_params", declaration(params)},
                                 {"meta_params_unnamed", types(params)},
                                 {"formula", formula},
                                 {"backward_params", declaration(backward)},
                                 {"backward_params_unnamed", types(backward)}});
      subjects["custom_ops.declared"].push_back(
          {*spec.backend.name + "::" + schema.name(),
           returns + " custom_" + id(schema) + "(" + declaration(view ? params : kernel_params) + ")"});
      if (writes) out["mutating"].push_back(schema.name());
      if (view) out["views"].push_back({{"name", schema.name()}, {"custom_id", id(schema)}, {"formula", formula}});
      if (!view) out["kernels"].push_back({{"name", schema.name()}, {"custom_id", id(schema)}});
    } else {
      out["pointwise"].push_back(kernel(schema, written.expr.value));
    }
    const Gradients grads = gradients(schema, formula || function ? written.backward.value : "");
    for (const auto& [grad, expr] : grads.kernels) {
      add_schema(grad, "at::Tag::pt2_compliant_tag");
      out["pointwise"].push_back(kernel(grad, expr));
      out["not_differentiable"].push_back(grad.base);
    }
    std::vector<std::string> tensors, saved, call = {"grads"};
    json scalars = json::array(), py_scalars = json::array();
    for (const Parameter& p : params) {
      if (saved_as_tensor(p)) {
        const std::string variable = "saved[" + std::to_string(saved.size()) + "]";
        saved.push_back(p.tensor() ? p.name : p.name + ".value_or(at::Tensor())");
        call.push_back(p.tensor() ? variable
                                  : variable + ".defined() ? std::optional(" + variable + ") : std::nullopt");
      } else {
        scalars.push_back({{"name", p.name}, {"kept", kept(p)}});
        py_scalars.push_back(p.name);
        call.push_back(restored(p));
      }
      if (p.tensor()) tensors.push_back(p.name);
    }
    const PythonTexts python = python_texts(schema);
    const std::string typed = join(python.params);
    // Whether a line holds them, whatever the backend's name: else each argument gets a line of its own.
    const auto def_width = id(schema).size() + typed.size() + python_returns(schema).size();
    const auto call_width = schema.name().size() + join(python.call).size();
    const json op = {{"name", schema.name()},
                     {"id", id(schema)},
                     {"base", schema.base},
                     {"overload", schema.overload},
                     {"py_op", schema.base + "." + (schema.overload.empty() ? "default" : schema.overload)},
                     {"class_name", camel_case(id(schema))},
                     {"returns", returns},
                     {"forward_returns", schema.returns.size() > 1 ? "torch::autograd::variable_list" : returns},
                     {"returned_count", schema.returns.size()},
                     {"declared", written.expr.value.empty()},
                     {"params", declaration(params)},
                     {"forward_params", params.empty() ? "" : ", " + declaration(params)},
                     {"saved", join(saved)},
                     {"scalars", scalars},
                     {"py_scalars", py_scalars},
                     {"backward_args", call},
                     {"list_items", list_items(schema.returns.size())},
                     {"signature", types(params)},
                     {"view", view},
                     {"args", names(params)},
                     {"arg_count", params.size()},
                     {"gradients", grads.given},
                     {"missing", grads.missing},
                     {"function", function},
                     {"formula", formula},
                     {"tested", !written.expr.value.empty()},
                     {"tensor_count", tensors.size()},
                     {"py_differentiable", grads.given.size() == tensors.size() && !tensors.empty() ? "True" : "False"},
                     {"doc", schema.text()},
                     {"py_args", names(params)},
                     {"py_call", join(python.call)},
                     {"py_arguments", python.call},
                     {"py_lambda", python.lambda},
                     {"py_typed_args", typed},
                     {"py_params", python.params},
                     {"py_short", def_width <= 110 && call_width <= 80},
                     {"py_inputs", join(tensors)},
                     {"py_saved", tensors.size() == 1 ? "(" + tensors[0] + ",)" : join(tensors)},
                     {"py_returns", python_returns(schema)}};
    if (formula) out["formulas"].push_back(op);
    if (function) out["py_functions"].push_back(op);
    if (!formula && !function && !writes && !view) out["not_differentiable"].push_back(schema.name());
    out["python"].push_back(op);
    sequences = sequences || typed.find("Sequence[") != std::string::npos ||
                op["py_returns"].get<std::string>().find("Sequence[") != std::string::npos;
  }
  out["sequences"] = sequences;
  for (const char* list : {"pointwise", "formulas", "python", "py_functions", "views", "kernels"}) {
    for (const json& item : out[list])
      subjects[std::string("custom_ops.") + list].push_back(
          {*spec.backend.name + "::" + item["name"].get<std::string>(), {}});
  }
  for (std::size_t i = 0; i < out["pointwise"].size(); ++i)
    out["pointwise"][i]["continuation"] = i + 1 < out["pointwise"].size() ? " \\" : "";
  return out;
}

}  // namespace openreg_gen
