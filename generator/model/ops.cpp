#include "model/ops.h"

#include "catalog/in_tree.h"
#include "catalog/schema.h"
#include "catalog/strategies.h"
#include "catalog/stubs.h"
#include "model/amp.h"
#include "model/attention.h"
#include "model/escape.h"
#include "model/ops_items.h"
#include "model/ops_shards.h"
#include "model/ops_tables.h"
#include "model/ops_texts.h"
#include "model/release_guard.h"
#include "model/tests.h"
#include "spec/minimal_ops.h"

#include <algorithm>
#include <map>
#include <set>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// What serves a stub at first: the CPU's function for it, where there is one.
std::string stub_start(const DispatchStub& stub, const std::string& ns) {
  if (stub.name == "index_put_with_sort_stub") return "&" + ns + "::native::host_index_put";
  return "&" + ns + "::native::HostStub<" + stub.name + ", " + (stub.promotes ? "true" : "false") + ">::run";
}

/// Operators served by PyTorch's own kernels, a file for each header that declares their stubs: {id, headers, ops,
/// stubs}. A stub that another strategy serves (`taken`) is not given twice.
json in_tree_families(const std::vector<const ResolvedOp*>& entries, const std::set<std::string>& taken,
                      const Spec& spec, const Registered& registered) {
  const std::string& ns = *spec.backend.cpp_namespace;
  struct Family {
    ShardHeaders headers;
    json ops = json::array();
    std::map<std::string, DispatchStub> stubs;
  };
  std::map<std::string, Family> families;
  for (const ResolvedOp* each : entries) {
    const auto& [entry, op, _] = *each;
    json item = op_item(op);
    guard_release(item, spec, *entry.since, *entry.until);
    add_kernel(item, op, registered);
    const auto stubs = in_tree_stubs(op.name).value_or(std::vector<DispatchStub>{});
    Family& family = families[stubs.empty() ? "Composed" : stubs[0].family];
    family.headers.add(item, "ops_header");
    family.headers.add(item, "native_header");
    family.ops.push_back(std::move(item));
    for (const DispatchStub& stub : stubs) {
      if (taken.contains(stub.name)) continue;
      families[stub.family].stubs.emplace(stub.name, stub);
      families[stub.family].headers.add("ATen/native/" + stub.family + ".h");
    }
  }
  json out = json::array();
  for (auto& [id, family] : families) {
    json stubs = json::array();
    for (const auto& [name, stub] : family.stubs) stubs.push_back({{"name", name}, {"function", stub_start(stub, ns)}});
    out.push_back({{"id", id}, {"ops", std::move(family.ops)}, {"stubs", stubs}});
    family.headers.write(out.back());
  }
  return out;
}

/// What the spec names, by its entries' releases; before the rest is gathered, which each supported release has.
void guard_releases(json& lists, const Resolved& resolved) {
  std::map<std::string_view, const OpSpec*> entries;
  for (const ResolvedOp& op : resolved.ops) entries[op.op.name] = &op.entry;
  for (json& list : lists) {
    for (json& item : list) {
      const OpSpec& entry = *entries.at(item["op"].get_ref<const std::string&>());
      guard_release(item, resolved.spec, *entry.since, *entry.until);
    }
  }
}

}  // namespace

json operators_model(const Resolved& resolved) {
  const Spec& spec = resolved.spec;
  const Catalog& catalog = resolved.catalog;
  json out = {{"minimal", json::array()},      {"random", json::array()},      {"structured", json::array()},
              {"pointwise", json::array()},    {"stub", json::array()},        {"native", json::array()},
              {"cpu_fallback", json::array()}, {"unsupported", json::array()}, {"tested", json::array()},
              {"reduction", json::array()},    {"pick", json::array()},        {"matmul", json::array()},
              {"embedding_bag", json::array()}};
  const FallbackKind of_spec = *spec.fallback.kind;
  std::vector<const ResolvedOp*> in_tree;
  std::set<std::string> taken_stubs, matmul_headers;
  std::set<std::string> written, random_headers;
  Registered registered{catalog, {}};
  for (const ResolvedOp& each : resolved.ops) registered.names.insert(each.op.name);
  registered.names.insert(minimal_op_names().begin(), minimal_op_names().end());
  for (const ResolvedOp& each : resolved.ops) {
    const auto& [entry, op, _] = each;
    written.insert(op.name);
    json item = op_item(op);
    switch (entry.strategy.value) {
      case Strategy::Structured:
        out["structured"].push_back(structured_item(op, registered));
        break;
      case Strategy::Pointwise:
        out["pointwise"].push_back(pointwise_item(op, entry, of_spec, registered));
        break;
      case Strategy::InTree:
        in_tree.push_back(&each);
        break;
      case Strategy::Reduction:
        if (picks(op))
          out["pick"].push_back(pick_item(op, entry, of_spec, registered));
        else
          out["reduction"].push_back(reduction_item(op, entry, of_spec, registered));
        break;
      case Strategy::Matmul:
        if (op.structured) {
          add_structured(item, op, registered);
          item["gemm_args"] = gemm_arguments(op);
          matmul_headers.insert(item["meta_header"]);
        } else {
          item["dot_args"] = op.base == "vdot" ? "self.conj(), other" : names(parameters(op));
        }
        matmul_headers.insert(item["ops_header"]);
        out["matmul"].push_back(std::move(item));
        break;
      case Strategy::Native:
        item["attention"] = attention_start(op.name);
        out["native"].push_back(std::move(item));
        break;
      case Strategy::Stub:
        out["stub"].push_back(stub_item(op, entry, of_spec, registered));
        taken_stubs.insert(out["stub"].back()["stub"]);
        break;
      case Strategy::CpuFallback:
        item["detour"] = detour_function(entry);
        out["cpu_fallback"].push_back(std::move(item));
        break;
      case Strategy::Unsupported:
        item["py_overload"] = op.overload.empty() ? "default" : op.overload;
        item["reason"] = {{"cpp", cpp_literal(entry.reason.value)}, {"py", python_literal(entry.reason.value)}};
        out["unsupported"].push_back(std::move(item));
        break;
    }
    const bool refused = entry.strategy.value == Strategy::Unsupported || of_attention(op.name) ||
                         (entry.strategy.value == Strategy::CpuFallback && entry.fallback.given() &&
                          entry.fallback.value == FallbackKind::None);
    if (!refused && entry.tests.run.value) out["tested"].push_back(tested_item(op, entry, catalog));
  }
  guard_releases(out, resolved);
  out["refused"] = json::array();  // on each release
  for (const json& item : out["unsupported"])
    if (item["when"] == "") out["refused"].push_back(item);
  out["limited"] = std::ranges::any_of(out["tested"], [](const json& item) { return item["when"] != ""; });
  for (const std::string_view name : minimal_op_names()) {
    const Op* op = catalog.find(name);
    if (op == nullptr || written.contains(op->name)) continue;
    json item = op_item(*op);
    written.insert(op->name);
    out["minimal"].push_back(std::move(item));
  }
  for (const std::string_view name : decomposed_otherwise()) {
    const Op* op = catalog.find(name);
    if (op == nullptr || written.contains(op->name) || of_spec == FallbackKind::None) continue;
    json item = op_item(*op);
    item["detour"] = "cpu_detour";
    guard_release(item, spec);
    out["cpu_fallback"].push_back(std::move(item));
  }
  for (const Op& op : catalog.all()) {
    const bool served = draws_from_generator(op) && !op.has_default && op.kernels.contains("CPU");
    if (!served || written.contains(op.name)) continue;
    out["random"].push_back(op_item(op));
    random_headers.insert(out["random"].back()["ops_header"]);
  }
  for (const char* name : {"_embedding_bag", "_embedding_bag_forward_only"}) {
    const Op* op = catalog.find(name);
    if (op != nullptr && !written.contains(name)) out["embedding_bag"].push_back(op_item(*op));
  }
  std::set<std::string> minimal_headers;
  for (const json& item : out["minimal"]) minimal_headers.insert(item["ops_header"]);
  out["in_tree_families"] = in_tree_families(in_tree, taken_stubs, spec, registered);
  add_attention(out);
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

void add_operators(json& globals, const Resolved& resolved) {
  globals["ops"] = operators_model(resolved);
  globals["tests"] = tests_model(resolved.spec);
  globals["custom_ops"] = custom_operators_model(resolved.spec);
  globals["amp"] = amp_model(resolved.spec, resolved.catalog);
}

}  // namespace openreg_gen
