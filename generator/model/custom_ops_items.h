// What templates see of the backend's own operators; custom_ops.cpp fills it in.
#pragma once

#include "base/text.h"
#include "schema/schema.h"
#include "spec/expr.h"
#include "texts/fields.h"
#include "texts/ops_texts.h"

#include <utility>

namespace openreg_gen {

/// A kernel from an expression of the spec.
struct CustomKernel {
  std::string name, id, schema, params, meta_params, signature, first, expr, py_op, py_expr;
  Pointwise texts;
  std::string continuation;  // of a macro's line: all but the last have one
  void print(Fields out) const {
    PRINT_FIELDS(out, name, id, schema, params, meta_params, signature, first, expr, py_op, py_expr, continuation)(
        "inputs", texts.inputs)("captures", texts.captures)("lambda_params", texts.lambda_params)("floating", "false")(
        "dispatch", dispatch_types({}));
  }
};

struct Gradients {
  struct MissingFormula {
    std::string name;
    std::size_t tensor_index, arg_index;
    void print(Fields out) const { PRINT_FIELDS(out, name, tensor_index, arg_index); }
  };
  struct OwnedFormula {
    std::string name, signature, input, call_args, py_call_args;
    std::size_t tensor_index, arg_index;
    void print(Fields out) const {
      PRINT_FIELDS(out, name, signature, input, call_args, py_call_args, tensor_index, arg_index);
    }
  };
  std::vector<OwnedFormula> given;
  std::vector<MissingFormula> missing;
  std::vector<std::pair<Schema, Expr>> kernels;  // schema and expression of each that is given
};

/// An operator whose kernel the owner writes.
struct OwnedOp {
  std::string name, custom_id, schema, returns, params, params_unnamed, meta_params, meta_params_unnamed,
      backward_params, backward_params_unnamed, start, start_params;
  bool view, in_place, formula;
  void print(Fields out) const {
    PRINT_FIELDS(out, name, custom_id, schema, returns, params, params_unnamed, meta_params, meta_params_unnamed,
                 backward_params, backward_params_unnamed, start, start_params, view, in_place, formula);
  }
  std::string signature() const { return returns + " custom_" + custom_id + "(" + params + ")"; }
};

struct CustomView {
  std::string name, custom_id;
  bool formula;
  void print(Fields out) const { PRINT_FIELDS(out, name, custom_id, formula); }
};

struct DeclaredKernel {
  std::string name, custom_id;
  void print(Fields out) const { PRINT_FIELDS(out, name, custom_id); }
};

struct SchemaLine {
  std::string cpp, tags;
  void print(Fields out) const { PRINT_FIELDS(out, cpp, tags); }
};

struct SavedScalar {
  std::string name, kept;
  void print(Fields out) const { PRINT_FIELDS(out, name, kept); }
};

/// What autograd, Python and the tests show of each.
struct CustomOp {
  std::string name, id, base, overload, returns, forward_returns, params, saved, list_items, signature, args, doc,
      py_call, py_lambda, py_typed_args, py_inputs, py_saved, py_returns;
  std::size_t returned_count, arg_count, tensor_count;
  bool declared, view, function, formula, py_short, surrogate;
  std::vector<SavedScalar> scalars;
  std::vector<std::string> py_scalars, backward_args, py_arguments, py_params;
  Gradients grads;
  void print(Fields out) const {
    PRINT_FIELDS(out, name, id, base, overload, returns, forward_returns, returned_count, declared, params, saved,
                 scalars, py_scalars, backward_args, list_items, signature, view, args, arg_count, function, formula,
                 tensor_count, doc, py_call, py_arguments, py_lambda, py_typed_args, py_params, py_short, py_inputs,
                 py_saved, py_returns)("py_op", base + "." + (overload.empty() ? "default" : overload))(
        "class_name", camel_case(id))("forward_params", params.empty() ? "" : ", " + params)("gradients", grads.given)(
        "missing", grads.missing)("tested", !declared)("py_derivative", surrogate ? "False" : "True")(
        "py_differentiable", grads.given.size() == tensor_count && tensor_count > 0 ? "True" : "False")("py_args",
                                                                                                        args);
  }
};

struct CustomOps {
  std::vector<CustomKernel> pointwise;
  std::vector<OwnedOp> declared;
  std::vector<CustomOp> formulas, python, py_functions;
  std::vector<SchemaLine> schemas;
  std::vector<CustomView> views;
  std::vector<DeclaredKernel> kernels;
  std::vector<std::string> not_differentiable, mutating;
  bool any = false;
  bool sequences = false;  // whether the Python functions' annotations want that name
  void print(Fields out) const {
    PRINT_FIELDS(out, pointwise, declared, formulas, python, py_functions, schemas, views, kernels, not_differentiable,
                 mutating, any, sequences);
  }
};

}  // namespace openreg_gen
