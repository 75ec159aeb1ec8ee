#include "catalog/cpp_types.h"
#include "catalog/schema.h"
#include "model/escape.h"
#include "spec/names.h"
#include "model/ops.h"
#include "model/ops_texts.h"

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

using nlohmann::json;

std::vector<Parameter> custom_parameters(const Schema& schema) {
  std::vector<Parameter> out;
  for (const ArgumentSchema& argument : schema.arguments)
    out.push_back({cpp_type(cpp_argument_type(argument)), argument.name, argument.is_out()});
  return out;
}

std::string types(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters) out.push_back(p.type);
  return join(out);
}

/// How an argument kept in saved_data comes back.
std::string restored(const Parameter& p) {
  static const std::map<std::string, std::string> accessors = {{"int64_t", "toInt"},
                                                               {"double", "toDouble"},
                                                               {"bool", "toBool"},
                                                               {"const at::Scalar&", "toScalar"},
                                                               {"at::ScalarType", "toScalarType"},
                                                               {"c10::string_view", "toStringView"}};
  const auto found = accessors.find(p.type);
  const std::string accessor = found == accessors.end() ? "toScalar" : found->second;
  return "ctx->saved_data[\"" + p.name + "\"]." + accessor + "()";
}

std::string python_type(const std::string& type) {
  static const std::map<std::string, std::string> known = {{"Tensor", "torch.Tensor"},
                                                           {"int", "int"},
                                                           {"SymInt", "int"},
                                                           {"float", "float"},
                                                           {"bool", "bool"},
                                                           {"str", "str"},
                                                           {"Scalar", "complex"},
                                                           {"Tensor[]", "list[torch.Tensor]"},
                                                           {"int[]", "list[int]"},
                                                           {"float[]", "list[float]"},
                                                           {"ScalarType", "torch.dtype"}};
  if (type.ends_with("?")) return python_type(type.substr(0, type.size() - 1)) + " | None";
  const auto found = known.find(type);
  return found == known.end() ? "object" : found->second;
}

std::string python_returns(const Schema& schema) {
  std::vector<std::string> out;
  for (const ReturnSchema& value : schema.returns) out.push_back(python_type(value.type));
  if (out.empty()) return "None";
  return out.size() == 1 ? out[0] : "tuple[" + join(out) + "]";
}

bool plain_default(const std::string& text) {
  if (text == "None" || text == "True" || text == "False") return true;
  return !text.empty() && text.find_first_not_of("0123456789.-+e") == std::string::npos;
}

struct PythonTexts {
  std::string params;  // of a def: "self: torch.Tensor, *, alpha: float = 1.0"
  std::string lambda;  // of a lambda: "self, *, alpha"
  std::string call;    // "self, alpha=alpha"
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
    const std::string value = plain_default(a.default_value) ? " = " + a.default_value : "";
    params.push_back(a.name + ": " + python_type(a.type) + value);
    lambda.push_back(a.name + (plain_default(a.default_value) ? "=" + a.default_value : ""));
    call.push_back(a.kwarg_only ? a.name + "=" + a.name : a.name);
  }
  return {join(params), join(lambda), join(call)};
}

std::vector<std::string> split_formulas(const std::string& backward) {
  std::vector<std::string> out;
  if (backward.empty()) return out;
  for (std::string_view piece : split_top_level(backward, ';')) out.emplace_back(piece);
  return out;
}

json kernel(const Schema& schema, const std::string& expr) {
  const auto params = custom_parameters(schema);
  const Pointwise texts = pointwise_texts(params);
  std::string first;
  for (const Parameter& p : params)
    if (first.empty() && p.tensor()) first = p.name;
  return {{"name", schema.base},
          {"schema", schema.text()},
          {"params", declaration(params)},
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
  const auto params = custom_parameters(schema);
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
    const std::string name = schema.base + "_backward" + (tensors == 1 ? "" : "_" + params[i].name);
    const Schema grad = backward_schema(schema, name);
    std::vector<std::string> python = {"grad"};
    for (const ArgumentSchema& a : schema.arguments) {
      const auto p = params[static_cast<std::size_t>(&a - schema.arguments.data())];
      const std::string value = p.tensor() ? a.name : "ctx." + a.name;
      python.push_back(a.kwarg_only ? a.name + "=" + value : value);
    }
    out.given.push_back({{"name", name},
                         {"input", params[i].name},
                         {"tensor_index", index},
                         {"arg_index", i},
                         {"types", types(custom_parameters(grad))},
                         {"call_args", join(call)},
                         {"py_call_args", join(python)}});
    out.kernels.emplace_back(grad, formulas[index]);
  }
  return out;
}

}  // namespace

json custom_operators_model(const Spec& spec) {
  json out = {{"pointwise", json::array()},
              {"declared", json::array()},
              {"formulas", json::array()},
              {"schemas", json::array()},
              {"python", json::array()},
              {"py_functions", json::array()},
              {"not_differentiable", json::array()},
              {"any", !spec.custom_ops.empty()}};
  const auto add_schema = [&](const Schema& schema) {
    out["schemas"].push_back({{"cpp", cpp_literal(schema.text())}});
  };
  for (const CustomOpSpec& written : spec.custom_ops) {
    const Schema schema = parse_schema(written.schema.value);
    const auto params = custom_parameters(schema);
    const bool formula = written.autograd.value == CustomAutograd::Formula;
    const bool function = written.autograd.value == CustomAutograd::Function;
    add_schema(schema);
    if (written.expr.value.empty()) {
      out["declared"].push_back({{"name", schema.base},
                                 {"schema", schema.text()},
                                 {"returns", cpp_return(cpp_return_type(schema.returns))},
                                 {"params", declaration(params)},
                                 {"params_unnamed", types(params)}});
    } else {
      out["pointwise"].push_back(kernel(schema, written.expr.value));
    }
    const Gradients grads = gradients(schema, formula || function ? written.backward.value : "");
    for (const auto& [grad, expr] : grads.kernels) {
      add_schema(grad);
      out["pointwise"].push_back(kernel(grad, expr));
      out["not_differentiable"].push_back(grad.base);
    }
    const Pointwise texts = pointwise_texts(params);
    std::vector<std::string> tensors, scalars;
    for (const Parameter& p : params) (p.tensor() ? tensors : scalars).push_back(p.name);
    const PythonTexts python = python_texts(schema);
    const json op = {{"name", schema.base},
                     {"class_name", camel_case(schema.base)},
                     {"params", declaration(params)},
                     {"forward_params", params.empty() ? "" : ", " + declaration(params)},
                     {"inputs", texts.inputs},
                     {"scalars", scalars},
                     {"types", types(params)},
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
                     {"py_call", python.call},
                     {"py_lambda", python.lambda},
                     {"py_typed_args", python.params},
                     {"py_inputs", join(tensors)},
                     {"py_saved", tensors.size() == 1 ? "(" + tensors[0] + ",)" : join(tensors)},
                     {"py_returns", python_returns(schema)}};
    if (formula) out["formulas"].push_back(op);
    if (function) out["py_functions"].push_back(op);
    if (!formula && !function) out["not_differentiable"].push_back(schema.base);
    out["python"].push_back(op);
  }
  for (std::size_t i = 0; i < out["pointwise"].size(); ++i)
    out["pointwise"][i]["continuation"] = i + 1 < out["pointwise"].size() ? " \\" : "";
  return out;
}

}  // namespace openreg_gen
