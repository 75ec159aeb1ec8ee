#include "spec/component_texts.h"

#include <fmt/ranges.h>

namespace openreg_gen {

std::string_view about(const Component& component, bool ported) {
  if (!ported || !component.emulated) return component.about;
  return "the device library with the whole C API: a tree whose device isn't simulated always has it";
}

std::string how_to_add(const ComponentSet& there, const Component& component) {
  return fmt::format("`openreg-gen add component {}`; or, under `components:`, {}: true", component.name,
                     fmt::join(there.missing(component), ": true, "));
}

}  // namespace openreg_gen
