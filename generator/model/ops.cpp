#include "model/ops.h"

#include "catalog/in_tree.h"
#include "catalog/schema.h"
#include "catalog/strategies.h"
#include "catalog/stubs.h"
#include "model/amp.h"
#include "model/escape.h"
#include "model/ops_shards.h"
#include "model/ops_tables.h"
#include "model/ops_texts.h"
#include "model/tests.h"
#include "spec/minimal_ops.h"

#include <algorithm>
#include <map>
#include <set>

namespace openreg_gen {
namespace {

using nlohmann::json;

std::vector<std::string> values(const Located<std::vector<Located<std::string>>>& list) {
  std::vector<std::string> out;
  for (const auto& value : list.value) out.push_back(value.value);
  return out;
}

/// What each strategy shows of an operator.
json common(const Op& op) {
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

/// Who has a kernel of its own: operators that the spec names, and the minimal set.
struct Registered {
  const Catalog& catalog;
  std::set<std::string_view> names;
};

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

/// What a structured operator adds: the calls of meta() and impl(), and its other forms.
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
  json item = common(op);
  add_structured(item, op, registered);
  item["starter"] = starter(op.name).expression;
  item["dispatch"] = starter(op.name).dispatch;
  item["lambda_params"] = pointwise_texts(parameters(op)).lambda_params;
  return item;
}

json pointwise_item(const Op& op, const OpSpec& written, const Registered& registered) {
  json item = common(op);
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
               {"dispatch", dispatch_types(dtypes)},
               {"boolean", !op.structured && boolean_result(op.base)},
               {"floating", only_floating(dtypes) ? "true" : "false"}});
  return item;
}

/// PyTorch's own kernel: the C++ name, and a structured one's arguments.
void add_kernel(json& item, const Op& op, const Registered& registered) {
  const auto kernel = op.kernels.find("CPU");
  if (op.structured) add_structured(item, op, registered);
  item["kernel"] = op.structured ? op.native_struct("CPU")
                                 : "at::native::" + (kernel == op.kernels.end() ? op_id(op) : kernel->second);
  item["native_header"] = "ATen/ops/" + header_root(op) + "_native.h";
}

json stub_item(const Op& op, const OpSpec& written, const Registered& registered) {
  json item = common(op);
  const StubInfo* stub = find_stub(op.name);
  add_kernel(item, op, registered);
  const auto slash = stub->header.rfind('/') + 1;
  const std::string family(stub->header.substr(slash, stub->header.size() - slash - 2));
  const StubSignature signature = stub_signature(stub->fn_type);
  item.update({{"stub", stub->stub},
               {"stub_header", stub->header},
               {"stub_params", signature.params},
               {"stub_args", signature.args},
               {"promotes", dispatch_stub(std::string(stub->stub), family).promotes ? "true" : "false"},
               {"starter", starter(op.name).expression},
               {"lambda_params", pointwise_texts(parameters(op)).lambda_params},
               {"dispatch",
                written.dtypes.value.empty() ? starter(op.name).dispatch : dispatch_types(values(written.dtypes))}});
  return item;
}

json reduction_item(const Op& op, const OpSpec& written, const Registered& registered) {
  json item = common(op);
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
               {"finish", or_else(written.finish, "acc")},
               {"dispatch", dispatch_types(values(written.dtypes))}});
  return item;
}

/// A reduction to a place: argmax has places alone, max.dim_max values and places.
json pick_item(const Op& op, const OpSpec& written, const Registered& registered) {
  json item = reduction_item(op, written, registered);
  const bool values = item["out_count"] == 2;
  item.update({{"prefer", written.prefer.value},
               {"into_values", values ? "op.maybe_get_output(0)" : "at::Tensor()"},
               {"into_places", values ? "op.maybe_get_output(1)" : "op.maybe_get_output(0)"}});
  return item;
}

/// "self, mat1, mat2, beta, alpha" as gemm() takes them; where nothing is added, the sum is left undefined.
std::string gemm_arguments(const Op& op) {
  std::vector<Parameter> in;
  for (const Parameter& p : parameters(op))
    if (!p.out) in.push_back(p);
  return in.size() == 2 ? "at::Tensor(), " + names(in) + ", 0, 1" : names(in);
}

/// What serves a stub at first: the CPU's function for it, where there is one.
std::string stub_start(const DispatchStub& stub, const std::string& ns) {
  if (stub.name == "index_put_with_sort_stub") return "&" + ns + "::native::host_index_put";
  return "&" + ns + "::native::HostStub<" + stub.name + ", " + (stub.promotes ? "true" : "false") + ">::run";
}

/// Operators served by PyTorch's own kernels, a file for each header that declares their stubs: {id, headers, ops,
/// stubs}. A stub that another strategy serves (`taken`) is not given twice.
json in_tree_families(const std::vector<const Op*>& ops, const std::set<std::string>& taken, const std::string& ns,
                      const Registered& registered) {
  struct Family {
    std::set<std::string> headers;
    json ops = json::array();
    std::map<std::string, DispatchStub> stubs;
  };
  std::map<std::string, Family> families;
  for (const Op* op : ops) {
    json item = common(*op);
    add_kernel(item, *op, registered);
    const auto stubs = in_tree_stubs(op->name).value_or(std::vector<DispatchStub>{});
    Family& family = families[stubs.empty() ? "Composed" : stubs[0].family];
    family.headers.insert(item["ops_header"]);
    family.headers.insert(item["native_header"]);
    family.ops.push_back(std::move(item));
    for (const DispatchStub& stub : stubs) {
      if (taken.contains(stub.name)) continue;
      families[stub.family].stubs.emplace(stub.name, stub);
      families[stub.family].headers.insert("ATen/native/" + stub.family + ".h");
    }
  }
  json out = json::array();
  for (auto& [id, family] : families) {
    json stubs = json::array();
    for (const auto& [name, stub] : family.stubs) stubs.push_back({{"name", name}, {"function", stub_start(stub, ns)}});
    out.push_back({{"id", id}, {"headers", family.headers}, {"ops", std::move(family.ops)}, {"stubs", stubs}});
  }
  return out;
}

bool draws_from_generator(const Op& op) {
  return std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Generator?"; });
}

}  // namespace

std::string fallback_enumerator(FallbackKind kind) {
  return kind == FallbackKind::None ? "kNone" : kind == FallbackKind::Cpu ? "kCpu" : "kAlias";
}

json operators_model(const Spec& spec, const Catalog& catalog) {
  json out = {{"minimal", json::array()},      {"random", json::array()},      {"structured", json::array()},
              {"pointwise", json::array()},    {"stub", json::array()},        {"native", json::array()},
              {"cpu_fallback", json::array()}, {"unsupported", json::array()}, {"tested", json::array()},
              {"reduction", json::array()},    {"pick", json::array()},        {"matmul", json::array()}};
  std::vector<const Op*> in_tree;
  std::set<std::string> taken_stubs, matmul_headers;
  std::set<std::string> written, random_headers;
  Registered registered{catalog, {}};
  for (const OpSpec& entry : spec.ops) registered.names.insert(entry.name.value);
  registered.names.insert(minimal_op_names().begin(), minimal_op_names().end());
  for (const OpSpec& entry : spec.ops) {
    const Op* op = catalog.find(entry.name.value);
    if (op == nullptr) continue;
    written.insert(op->name);
    json item = common(*op);
    switch (entry.strategy.value) {
      case Strategy::Structured:
        out["structured"].push_back(structured_item(*op, registered));
        break;
      case Strategy::Pointwise:
        out["pointwise"].push_back(pointwise_item(*op, entry, registered));
        break;
      case Strategy::InTree:
        in_tree.push_back(op);
        break;
      case Strategy::Reduction:
        if (picks(*op))
          out["pick"].push_back(pick_item(*op, entry, registered));
        else
          out["reduction"].push_back(reduction_item(*op, entry, registered));
        break;
      case Strategy::Matmul:
        if (op->structured) {
          add_structured(item, *op, registered);
          item["gemm_args"] = gemm_arguments(*op);
          matmul_headers.insert(item["meta_header"]);
        } else {
          item["dot_args"] = op->base == "vdot" ? "self.conj(), other" : names(parameters(*op));
        }
        matmul_headers.insert(item["ops_header"]);
        out["matmul"].push_back(std::move(item));
        break;
      case Strategy::Native:
        out["native"].push_back(std::move(item));
        break;
      case Strategy::Stub:
        out["stub"].push_back(stub_item(*op, entry, registered));
        taken_stubs.insert(out["stub"].back()["stub"]);
        break;
      case Strategy::CpuFallback:
        item["detour"] = entry.fallback.given()
                             ? "fallback_kernel<FallbackKind::" + fallback_enumerator(entry.fallback.value) + ">"
                             : "cpu_detour";
        out["cpu_fallback"].push_back(std::move(item));
        break;
      case Strategy::Unsupported:
        item["py_overload"] = op->overload.empty() ? "default" : op->overload;
        item["reason"] = {{"cpp", cpp_literal(entry.reason.value)}, {"py", python_literal(entry.reason.value)}};
        out["unsupported"].push_back(std::move(item));
        break;
    }
    const bool refused = entry.strategy.value == Strategy::Unsupported ||
                         (entry.fallback.given() && entry.fallback.value == FallbackKind::None);
    if (!refused && entry.tests.run.value) out["tested"].push_back(tested_item(*op, entry, catalog));
  }
  for (const std::string_view name : minimal_op_names()) {
    const Op* op = catalog.find(name);
    if (op == nullptr || written.contains(op->name)) continue;
    json item = common(*op);
    written.insert(op->name);
    out["minimal"].push_back(std::move(item));
  }
  for (const Op& op : catalog.all()) {
    const bool served = draws_from_generator(op) && !op.has_default && op.kernels.contains("CPU");
    if (!served || written.contains(op.name)) continue;
    out["random"].push_back(common(op));
    random_headers.insert(out["random"].back()["ops_header"]);
  }
  std::set<std::string> minimal_headers;
  for (const json& item : out["minimal"]) minimal_headers.insert(item["ops_header"]);
  out["in_tree_families"] = in_tree_families(in_tree, taken_stubs, spec.backend.cpp_namespace.value, registered);
  out["dots"] = std::ranges::any_of(out["matmul"], [](const json& item) { return item.contains("dot_args"); });
  out["reduces"] = !out["reduction"].empty() || !out["pick"].empty();
  out["matmul_headers"] = matmul_headers;
  out["minimal_headers"] = minimal_headers;
  out["structured_shards"] = register_shards(out, {"structured"});
  out["native_shards"] = register_shards(out, {"native", "stub", "cpu_fallback", "unsupported"});
  out["random_headers"] = random_headers;
  // What the networks of tests/test_training.py run on.
  out["trains"] = !out["matmul"].empty() && in_tree.size() + out["structured"].size() + out["native"].size() >= 150;
  return out;
}

void add_operators(json& globals, const Spec& spec, const Catalog& catalog) {
  globals["ops"] = operators_model(spec, catalog);
  globals["tests"] = tests_model(spec);
  globals["custom_ops"] = custom_operators_model(spec);
  globals["amp"] = amp_model(spec, catalog);
}

}  // namespace openreg_gen
