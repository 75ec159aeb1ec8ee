// `graph`: the device's compiler runs a graph of one node; what it refuses runs on the CPU. To the parser it is
// `fallback: graph` of an operator.
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/strategy.h"

namespace openreg_gen {
namespace {

std::string no_graph(const Op& op) { return unfit(*find_strategy("cpu_fallback"), op); }

std::unique_ptr<OpItem> graph_item(const SpecView&, const OpSpec& entry, const Op& op) {
  auto out = fallback_item(op, &entry);
  out->list = "cpu_fallback";
  return out;
}

}  // namespace

Strategy graph_strategy() {
  return {
      .word = "graph",
      .about = "a graph of one node, which the device's compiler takes; only with `api: compiler`.",
      .compiles = true,
      .runs = Strategy::Runs::Fallback,
      .unfit = no_graph,
      .code = "E0204",
      .item = graph_item,
  };
}

}  // namespace openreg_gen
