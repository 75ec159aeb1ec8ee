#include "model/ops_items.h"

#include "catalog/in_tree.h"
#include "catalog/schema.h"
#include "catalog/strategies.h"
#include "catalog/stubs.h"
#include "model/attention.h"
#include "model/escape.h"
#include "model/ops_tables.h"
#include "model/ops_texts.h"

#include <algorithm>

namespace openreg_gen {

using nlohmann::json;

namespace {

std::vector<std::string> values(const Located<std::vector<Located<std::string>>>& list) {
  std::vector<std::string> out;
  for (const auto& value : list.value) out.push_back(value.value);
  return out;
}

}  // namespace

json op_item(const Op& op) {
  const auto params = parameters(op);
  std::vector<std::string> outs;
  for (const Parameter& p : params)
    if (p.out) outs.push_back(p.name);
  const bool inplace = op.returns.find('&') != std::string::npos && outs.empty();
  std::string returned = outs.size() == 1 ? outs[0] : "{" + join(outs) + "}";
  if (inplace) returned = params.at(0).name;
  if (op.returns == "void") returned = "";
  const std::string root = header_root(op);
  json out = json::object();  // member by member: a list of pairs would copy each
  out["op"] = op.name;
  out["id"] = op_id(op);
  out["file"] = op_file(op);
  out["base"] = op.base;
  out["struct"] = op.ops_struct();
  out["schema"] = op.schema;
  out["ops_header"] = "ATen/ops/" + root + "_ops.h";
  out["in_place"] = outs.empty() && (inplace || op.returns == "void");
  out["returns"] = cpp_return(op.returns);
  out["params"] = declaration(params);
  out["args"] = names(params);
  out["guard"] = device_guard(params);
  out["outs"] = outs;
  out["out_count"] = outs.size();
  out["out_args"] = join(outs);
  out["return_value"] = returned;
  out["structured"] = op.structured;
  return out;
}

namespace {

/// What PyTorch's impl() takes for an argument: itself, or what meta() made of it ("dim -> int dim, int valid").
std::vector<std::string> precomputed(const Op& op, const std::string& name, const std::string& itself) {
  for (const std::string& line : op.precompute) {
    const auto arrow = line.find(" -> ");
    if (arrow == std::string::npos || line.substr(0, arrow) != name) continue;
    std::vector<std::string> out;
    for (const auto piece : split_top_level(std::string_view(line).substr(arrow + 4), ',')) {
      const std::string text(piece);
      out.push_back("precomputed." + text.substr(text.rfind(' ') + 1));
    }
    return out;
  }
  return {itself};
}

/// The functional or in-place forms of a structured operator, which its kernel serves: {op, struct}.
json forms(const Op& op, bool in_place, const Registered& registered) {
  json out = json::array();
  for (const std::string& name : op.variants) {
    const Op* form = registered.catalog.find(name);
    if (form == nullptr || form->structured_delegate != op.name || registered.names.contains(name)) continue;
    if (in_place == (form->kind == SchemaKind::Inplace)) out.push_back({{"op", name}, {"struct", form->ops_struct()}});
  }
  return out;
}

}  // namespace

void add_structured(json& item, const Op& op, const Registered& registered) {
  const auto params = parameters(op);
  std::vector<std::string> meta, impl, stub_impl, detour, check;
  std::vector<Parameter> impl_params, run_params;
  std::vector<std::string> unnamed;
  const std::string meta_struct = op.meta_struct;
  if (op.precomputed) impl_params.push_back({"const " + meta_struct + "::meta_return_ty&", "precomputed", false});
  std::size_t index = 0;
  for (const Parameter& p : params) {
    if (p.out) {
      const std::string output = "op.maybe_get_output(" + std::to_string(index++) + ")";
      impl.push_back(output);
      stub_impl.push_back(output);
      detour.push_back(p.name);
      impl_params.push_back({"const at::Tensor&", p.name, true});
      continue;
    }
    const std::string structured = p.optional_tensor()   ? "tensor_ref(" + p.name + ")"
                                   : p.optional_scalar() ? "scalar_ref(" + p.name + ")"
                                                         : p.name;
    if (p.any_tensor()) check.push_back(p.name);
    run_params.push_back(p);
    meta.push_back(structured);
    for (const std::string& text : precomputed(op, p.name, structured)) stub_impl.push_back(text);
    impl.push_back(p.name);
    detour.push_back(p.name);
    impl_params.push_back(p);
  }
  for (const Parameter& p : impl_params) unnamed.push_back(p.type);
  item.update({{"meta_header", "ATen/ops/" + header_root(op) + "_meta.h"},
               {"meta_struct", meta_struct},
               {"precomputed", op.precomputed},
               {"meta_args", join(meta)},
               {"impl_args", join(impl)},
               {"stub_impl_args", join(stub_impl)},
               {"impl_params", declaration(impl_params)},
               {"impl_params_unnamed", join(unnamed)},
               {"detour_args", join(detour)},
               {"run_params", declaration(run_params)},
               {"run_args", names(run_params)},
               {"check_tensors", op.device_check ? check : std::vector<std::string>{}},
               {"functional_forms", forms(op, false, registered)},
               {"in_place_forms", forms(op, true, registered)}});
}

json structured_item(const Op& op, const Registered& registered) {
  json item = op_item(op);
  add_structured(item, op, registered);
  item["starter"] = starter(op.name).expression;
  item["dispatch"] = starter(op.name).dispatch;
  item["lambda_params"] = pointwise_texts(parameters(op)).lambda_params;
  return item;
}

std::string detour_function(const OpSpec& written) {
  return written.fallback.given() ? "fallback_kernel<FallbackKind::" + fallback_enumerator(written.fallback.value) + ">"
                                  : "cpu_detour";
}

namespace {

/// What a kernel for some dtypes does with the others: `other_dtypes` of the item is how it calls the CPU's, "" if they
/// are an error.
void add_dtypes(json& item, const OpSpec& written, FallbackKind of_spec) {
  const bool falls_back = (written.fallback.given() ? *written.fallback : of_spec) != FallbackKind::None;
  const auto dtypes = values(written.dtypes);
  item["dispatch"] = dispatch_types(dtypes);
  item["takes"] = enumerators(dtypes);
  item["other_dtypes"] = falls_back ? "detour<" + item["struct"].get<std::string>() +
                                          (written.fallback.given() ? ", &" + detour_function(written) : "") + ">"
                                    : "";
}

}  // namespace

json pointwise_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered) {
  json item = op_item(op);
  const auto params = parameters(op);
  const Pointwise texts = pointwise_texts(params);
  std::vector<Parameter> kernel_params = {
      {op.structured ? "at::TensorIteratorBase&" : "at::TensorIterator&", "iter", false}};
  if (op.structured) kernel_params.push_back({"const OperandOrder&", "order", false});
  kernel_params.insert(kernel_params.end(), texts.scalars.begin(), texts.scalars.end());
  std::vector<Parameter> call = kernel_params;
  call[0].name = op.structured ? "op" : "iter";
  const auto dtypes = values(written.dtypes);
  if (op.structured) add_structured(item, op, registered);
  const bool functional = item["outs"].empty() && item["return_value"] == "{}";
  if (functional) item["return_value"] = "iter.output()";
  item.update({{"expr", written.expr.value},
               {"kernel_params", declaration(kernel_params)},
               {"kernel_args", names(call)},
               {"lambda_params", texts.lambda_params},
               {"captures", texts.captures},
               {"inputs", texts.inputs},
               {"output", functional ? "{}" : item["return_value"].get<std::string>()},
               {"boolean", !op.structured && boolean_result(op.base)},
               {"floating", only_floating(dtypes) ? "true" : "false"}});
  add_dtypes(item, written, of_spec);
  return item;
}

void add_kernel(json& item, const Op& op, const Registered& registered) {
  const auto kernel = op.kernels.find("CPU");
  if (op.structured) add_structured(item, op, registered);
  item["kernel"] = op.structured ? op.native_struct("CPU")
                                 : "at::native::" + (kernel == op.kernels.end() ? op_id(op) : kernel->second);
  item["native_header"] = "ATen/ops/" + header_root(op) + "_native.h";
}

json stub_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered) {
  json item = op_item(op);
  const StubInfo* stub = find_stub(op.name);
  add_kernel(item, op, registered);
  if (add_attention_choice(item, op)) return item;
  const StubSignature signature = stub_signature(stub->fn_type);
  item.update({{"stub", stub->stub},
               {"stub_header", stub->header()},
               {"stub_params", signature.params},
               {"stub_args", signature.args},
               {"promotes", dispatch_stub(std::string(stub->stub)).promotes ? "true" : "false"},
               {"starter", starter(op.name).expression},
               {"lambda_params", pointwise_texts(parameters(op)).lambda_params},
               {"dispatch",
                written.dtypes.value.empty() ? starter(op.name).dispatch : dispatch_types(values(written.dtypes))}});
  const bool falls_back = (written.fallback.given() ? *written.fallback : of_spec) != FallbackKind::None;
  // Without `dtypes` the starting kernel takes what a test of the operator looks at; the owner widens it.
  item["takes"] = falls_back && !written.dtypes.value.empty() ? enumerators(values(written.dtypes)) : "";
  return item;
}

json reduction_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered) {
  json item = op_item(op);
  add_structured(item, op, registered);
  std::string dims = "{}";
  for (const Parameter& p : parameters(op)) {
    if (p.name != "dim") continue;
    if (p.type == "int64_t") dims = "{dim}";
    if (p.type == "std::optional<int64_t>") dims = "dim.has_value() ? at::IntArrayRef(*dim) : at::IntArrayRef()";
    if (p.type == "at::OptionalIntArrayRef") dims = "dim.value_or(at::IntArrayRef())";
    if (p.type == "at::IntArrayRef") dims = "dim";
  }
  const auto or_else = [](const Located<std::string>& text, const char* other) {
    return text.given() ? text.value : std::string(other);
  };
  item.update({{"dims", dims},
               {"map", or_else(written.map, "self")},
               {"combine", written.combine.value},
               {"init", written.init.value},
               {"finish", or_else(written.finish, "acc")}});
  add_dtypes(item, written, of_spec);
  return item;
}

json pick_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered) {
  json item = reduction_item(op, written, of_spec, registered);
  const bool values = item["out_count"] == 2;
  item.update({{"prefer", written.prefer.value},
               {"into_values", values ? "op.maybe_get_output(0)" : "at::Tensor()"},
               {"into_places", values ? "op.maybe_get_output(1)" : "op.maybe_get_output(0)"}});
  return item;
}

std::string gemm_arguments(const Op& op) {
  std::vector<Parameter> in;
  for (const Parameter& p : parameters(op))
    if (!p.out) in.push_back(p);
  return in.size() == 2 ? "at::Tensor(), " + names(in) + ", 0, 1" : names(in);
}

std::string fallback_enumerator(FallbackKind kind) {
  switch (kind) {
    case FallbackKind::None:
      return "kNone";
    case FallbackKind::Cpu:
      return "kCpu";
    case FallbackKind::Copy:
      return "kCopy";
    case FallbackKind::Alias:
      return "kAlias";
  }
  return {};
}

}  // namespace openreg_gen
