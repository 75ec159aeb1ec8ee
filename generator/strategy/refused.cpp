#include "strategy/refused.h"

#include "spec/kinds.h"
#include "spec/minimal_ops.h"

#include <fmt/format.h>

namespace openreg_gen {

std::string refused_by(const Spec& spec, const Strategy& strategy, const Op& op) {
  if (is_minimal_op(op.name, spec.components) && replaces_minimal(op) != &strategy)
    return "the operator is part of the minimal set, which every backend registers";
  if (strategy.compiles && !(**spec.device.api).compiles) return "only with `device: {api: compiler}`";
  if (strategy.component.empty() || spec.components.has(strategy.component)) return {};
  return fmt::format("needs component '{}': `openreg-gen add component {}`", strategy.component, strategy.component);
}

}  // namespace openreg_gen
