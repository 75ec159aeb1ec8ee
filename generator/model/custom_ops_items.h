// What templates see of the backend's own operators; custom_ops.cpp fills it in.
#pragma once

#include "diag/text.h"
#include "schema/schema.h"
#include "spec/expr.h"
#include "texts/fields.h"
#include "texts/ops_texts.h"

#include <string>
#include <utility>
#include <vector>

namespace openreg_gen {

/// A kernel from an expression of the spec.
struct CustomKernel {
  std::string name, id, schema, params, meta_params, signature, first, expr, py_op, py_expr;
  Pointwise texts;
  std::string continuation;  // of a macro's line: all but the last have one
  void print(Fields out) const {
    out("name", name)("id", id)("schema", schema)("params", params)("meta_params", meta_params)("signature", signature)(
        "first", first)("inputs", texts.inputs)("captures", texts.captures)("lambda_params", texts.lambda_params)(
        "expr", expr)("py_op", py_op)("py_expr", py_expr)("floating", "false")("dispatch", dispatch_types({}))(
        "continuation", continuation);
  }
};

struct Gradients {
  struct Missing {
    std::string name;
    std::size_t tensor_index, arg_index;
    void print(Fields out) const { out("name", name)("tensor_index", tensor_index)("arg_index", arg_index); }
  };
  struct Given {
    std::string name, signature, input, call_args, py_call_args;
    std::size_t tensor_index, arg_index;
    void print(Fields out) const {
      out("name", name)("signature", signature)("input", input)("call_args", call_args)("py_call_args", py_call_args)(
          "tensor_index", tensor_index)("arg_index", arg_index);
    }
  };
  std::vector<Given> given;
  std::vector<Missing> missing;
  std::vector<std::pair<Schema, Expr>> kernels;  // schema and expression of each that is given
};

/// An operator whose kernel is the owner's.
struct Declared {
  std::string name, custom_id, schema, returns, params, params_unnamed, meta_params, meta_params_unnamed,
      backward_params, backward_params_unnamed, start, start_params;
  bool view, in_place, formula;
  void print(Fields out) const {
    out("name", name)("custom_id", custom_id)("schema", schema)("returns", returns)("params", params)(
        "params_unnamed", params_unnamed)("meta_params", meta_params)("meta_params_unnamed", meta_params_unnamed)(
        "backward_params", backward_params)("backward_params_unnamed", backward_params_unnamed)("start", start)(
        "start_params", start_params)("view", view)("in_place", in_place)("formula", formula);
  }
  std::string signature() const { return returns + " custom_" + custom_id + "(" + params + ")"; }
};

struct CustomView {
  std::string name, custom_id;
  bool formula;
  void print(Fields out) const { out("name", name)("custom_id", custom_id)("formula", formula); }
};

struct DeclaredKernel {
  std::string name, custom_id;
  void print(Fields out) const { out("name", name)("custom_id", custom_id); }
};

struct SchemaLine {
  std::string cpp, tags;
  void print(Fields out) const { out("cpp", cpp)("tags", tags); }
};

struct SavedScalar {
  std::string name, kept;
  void print(Fields out) const { out("name", name)("kept", kept); }
};

/// What autograd, Python and the tests show of each.
struct CustomOp {
  std::string name, id, base, overload, returns, forward_returns, params, saved, list_items, signature, args, doc,
      py_call, py_lambda, py_typed_args, py_inputs, py_saved, py_returns;
  std::size_t returned_count, arg_count, tensor_count;
  bool declared, view, function, formula, py_short;
  std::vector<SavedScalar> scalars;
  std::vector<std::string> py_scalars, backward_args, py_arguments, py_params;
  Gradients grads;
  void print(Fields out) const {
    out("name", name)("id", id)("base", base)("overload", overload)(
        "py_op", base + "." + (overload.empty() ? "default" : overload))("class_name", camel_case(id))(
        "returns", returns)("forward_returns", forward_returns)("returned_count", returned_count)("declared", declared)(
        "params", params)("forward_params", params.empty() ? "" : ", " + params)("saved", saved)("scalars", scalars)(
        "py_scalars", py_scalars)("backward_args", backward_args)("list_items", list_items)("signature", signature)(
        "view", view)("args", args)("arg_count", arg_count)("gradients", grads.given)("missing", grads.missing)(
        "function", function)("formula", formula)("tested", !declared)("tensor_count", tensor_count)(
        "py_differentiable", grads.given.size() == tensor_count && tensor_count > 0 ? "True" : "False")("doc", doc)(
        "py_args", args)("py_call", py_call)("py_arguments", py_arguments)("py_lambda", py_lambda)(
        "py_typed_args", py_typed_args)("py_params", py_params)("py_short", py_short)("py_inputs", py_inputs)(
        "py_saved", py_saved)("py_returns", py_returns);
  }
};

struct CustomOps {
  std::vector<CustomKernel> pointwise;
  std::vector<Declared> declared;
  std::vector<CustomOp> formulas, python, py_functions;
  std::vector<SchemaLine> schemas;
  std::vector<CustomView> views;
  std::vector<DeclaredKernel> kernels;
  std::vector<std::string> not_differentiable, mutating;
  bool any = false;
  bool sequences = false;  // whether the Python functions' annotations want that name
  void print(Fields out) const {
    out("pointwise", pointwise)("declared", declared)("formulas", formulas)("python", python)(
        "py_functions", py_functions)("schemas", schemas)("views", views)("kernels", kernels)(
        "not_differentiable", not_differentiable)("mutating", mutating)("any", any)("sequences", sequences);
  }
};

}  // namespace openreg_gen
