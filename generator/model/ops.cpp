#include "model/ops.h"

#include "base/text.h"
#include "model/amp.h"
#include "model/release_guard.h"
#include "model/tests.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

#include <algorithm>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// Whether a call has a result to compare with the CPU's result.
bool compared(const OpSpec& entry, const Op& op) {
  const bool raises = entry.fallback.given() && *entry.fallback == FallbackKind::None;
  const Strategy::Runs runs = strategy_of(entry).runs;
  return !of_attention(op.name) && runs != Strategy::Runs::Nothing && !(runs == Strategy::Runs::Fallback && raises);
}

std::set<std::string> headers_of(const StrategySummary& listed, std::string_view list) {
  std::set<std::string> headers;
  for (const auto& item : listed.of(list)) headers.insert(item->ops_header);
  return headers;
}

/// Operators that are registered without a kernel in the backend.
struct Fallbacks {
  Headers headers;
  bool any = false;
  explicit Fallbacks(const StrategySummary& listed) {
    for (const char* list : {"cpu_fallback", "random", "unsupported"}) {
      for (const auto& op : listed.of(list)) {
        headers.add(*op, op->ops_header);
        any = true;
      }
    }
  }
};

/// Operators whose kernels their owner writes.
std::set<std::string> owned_kernels(const StrategySummary& listed) {
  std::set<std::string> names;
  for (const char* list : {"native", "structured", "stub"})
    for (const auto& op : listed.of(list)) names.insert(op->op);
  return names;
}

using ListedName = std::pair<const char*, std::string_view>;

/// Operators whose own kernels throw for unknown devices, for which the runtime has kernels, and fused cells, which no
/// CPU kernel can replace: without component recurrent they are composed of other operators.
constexpr ListedName kServedOtherwise[] = {{"overrideable", "convolution_backward_overrideable"},
                                           {"overrideable", "convolution_overrideable"},
                                           {"cells", "_thnn_fused_gru_cell"},
                                           {"cells", "_thnn_fused_lstm_cell"}};

/// Lists of operators whose kernels the spec does not name.
void add_unnamed(OpLists& lists, const SpecView& shown, const ResolvedSpec& resolved) {
  std::set<std::string_view> written;
  for (const ResolvedOp& each : resolved.ops) written.insert(each.op.name);
  const auto plain = [&](const char* list, const Op& op) {
    lists[list].push_back(std::make_unique<OpItem>(op));
    lists[list].back()->releases = release_guard(op.name, shown.spec);
  };
  for (const std::string_view name : minimal_op_names()) {
    const Op* op = resolved.catalog.find(name);
    const bool here = is_minimal_op(name, shown.spec.components);
    if (op != nullptr && here && written.insert(op->name).second) plain("minimal", *op);
  }
  const bool runtime = shown.spec.components.has("loops");
  for (const auto& [list, name] : kServedOtherwise) {
    const Op* op = resolved.catalog.find(name);
    const bool wanted = !runtime || std::string_view(list) == "cells";
    if (op != nullptr && wanted && !written.contains(name)) plain(list, *op);
  }
  for (const std::string_view name : decomposed_otherwise()) {
    const Op* op = resolved.catalog.find(name);
    const bool falls_back = op != nullptr && *shown.spec.fallback.kind != FallbackKind::None;
    if (!falls_back || written.contains(name) || written.contains(op->structured_delegate)) continue;
    if (!runtime) {
      plain("overrideable", *op);
      continue;
    }
    auto item = fallback_item(*op);
    item->releases = release_guard(op->name, shown.spec);
    lists["cpu_fallback"].push_back(std::move(item));
  }
  if (!runtime) return;  // the one fallback serves all others
  for (const Op& op : resolved.catalog.all()) {
    const bool served = draws_from_generator(op) && !op.has_default && op.kernels.contains("CPU");
    if (served && !written.contains(op.name)) plain("random", op);
  }
  // Operators for which the CPU returns less than, or something different from, fake tensors.
  for (const auto& [list, name] : {ListedName{"embedding_bag", "_embedding_bag"},
                                   {"embedding_bag", "_embedding_bag_forward_only"},
                                   {"nonzero_static", "nonzero_static"}}) {
    const Op* op = resolved.catalog.find(name);
    if (op != nullptr && !written.contains(name)) plain(list, *op);
  }
}

}  // namespace

json operators_model(const ResolvedSpec& resolved, const DeviceKernels& kernels, Subjects& subjects) {
  const Spec& spec = resolved.spec;
  SpecView shown{spec, resolved.catalog, kernels, {}};
  for (const ResolvedOp& each : resolved.ops) shown.registered.insert(each.op.name);
  shown.registered.insert(minimal_op_names().begin(), minimal_op_names().end());

  OpLists lists;
  std::vector<TestedItem> tested;
  for (const auto& [entry, op, _] : resolved.ops) {
    const Strategy& strategy = strategy_of(entry);
    auto item = strategy.item(shown, entry, op);
    item->releases = release_guard(op.name, spec, *entry.since, *entry.until);
    if (compared(entry, op) && *entry.tests.run) {
      tested.push_back(tested_item(op, entry, resolved.catalog));
      tested.back().releases = item->releases;
    }
    auto& list = lists[!item->list.empty() ? item->list : std::string(strategy.word)];
    list.push_back(std::move(item));
  }
  // The strategies' own data, before operators without an entry join them.
  json out = json::object();
  StrategySummary listed{lists, Fields(out)};
  for (const Strategy& strategy : all_strategies())
    if (strategy.summarise != nullptr) strategy.summarise(shown, listed);
  add_unnamed(lists, shown, resolved);

  const auto show = [&](const std::string& list) {
    listed.out(list.c_str(), listed.of(list));
    auto& about = subjects["ops." + list];
    for (const auto& item : listed.of(list)) about.push_back({"aten::" + item->op, item->signature()});
  };
  for (const char* list : {"minimal", "overrideable", "cells", "random", "embedding_bag", "nonzero_static"}) show(list);
  for (const Strategy& strategy : all_strategies())
    for (const std::string_view list : words_of(strategy.lists)) show(std::string(list));
  for (const TestedItem& item : tested) subjects["ops.tested"].push_back({"aten::" + item.op, {}});
  add_attention(listed);
  const Fallbacks fallbacks(listed);
  listed.out("tested", tested)(
      "limited", std::ranges::any_of(tested, [](const TestedItem& item) { return !item.releases->when.empty(); }))(
      "minimal_headers", headers_of(listed, "minimal"))("overrideable_headers", headers_of(listed, "overrideable"))(
      "cells_headers", headers_of(listed, "cells"))("fallbacks", fallbacks.headers)("falls_back", fallbacks.any)(
      "kernels", owned_kernels(listed))(
      // Without component testing, one file tests the operators.
      "tested_in_one_file", !tested.empty() && !resolved.spec.components.has("testing"))(
      // Operators for the networks of tests/test_training.py.
      "trains", !listed.of("matmul").empty() &&
                    listed.of("in_tree").size() + listed.of("structured").size() + listed.of("native").size() >= 150);
  return out;
}

void add_operators(json& globals, const ResolvedSpec& resolved, const DeviceKernels& kernels, Subjects& subjects) {
  globals["ops"] = operators_model(resolved, kernels, subjects);
  globals["tests"] = Fields::json_of(TestsContext(resolved.spec.tests));
  globals["custom_ops"] = custom_operators_model(resolved.spec, subjects);
  globals["amp"] = Fields::json_of(amp_context(resolved.spec, resolved.catalog));
  for (const char* list : {"policies", "dtypes"}) {
    for (const json& item : globals["amp"][list])
      subjects[std::string("amp.") + list].push_back(
          {*resolved.spec.backend.name + "::" + item["name"].get<std::string>(), {}});
  }
}

}  // namespace openreg_gen
