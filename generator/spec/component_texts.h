// What is said of a component: on pages and in hints.
#pragma once

#include "spec/component.h"

#include <string>
#include <string_view>

namespace openreg_gen {

/// What it is in a tree; `ported`: one whose device isn't simulated.
std::string_view about(const Component& component, bool ported);

/// A hint: what adds a component, with those that it needs, to a tree or to a spec's text.
std::string how_to_add(const ComponentSet& there, const Component& component);

}  // namespace openreg_gen
