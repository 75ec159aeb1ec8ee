// The optional parts of a tree: purpose, dependencies and profile of each component, one row of component.cpp. The rows
// of templates.yaml say which files belong to it.
#pragma once

#include "base/text.h"
#include "diag/diagnostic.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct Spec;
struct Node;

/// From the smallest to the largest: each has what those before it have.
enum class Profile { Minimal, Standard, Full };

struct Component {
  std::string_view name;
  std::string_view about;
  Profile since = Profile::Standard;  // the first profile that has it
  std::string_view needs = {};        // other components, separated by blanks
  std::string_view key = {};          // a key of the spec's top level that says the same
  bool emulated = false;              // a part of the simulated device: external trees have none of it
  bool host_memory = false;  // for memory that the host reaches: profiles have it on the simulated device alone
  bool launches = false;     // for devices that run functions in a stream: not those that only run compiled graphs
};

/// Those that others need come first.
std::span<const Component> all_components();
/// Null if there is none.
const Component* find_component(std::string_view name);
/// Their names, for messages.
std::vector<std::string_view> component_names();
/// The error of a component that a device without launched functions can't have.
void report_no_launches(const Component& component, const Location& at, Diagnostics& diagnostics);
inline std::string_view to_string(Profile profile) { return word_of("minimal standard full", profile); }

/// Which components a spec has.
class ComponentSet {
 public:
  bool has(std::string_view name) const;
  void set(std::string_view name, bool on);
  /// The component and its dependencies that are missing; the component itself comes last.
  std::vector<std::string_view> missing(const Component& component) const;
  /// The present components that need it, directly or through others.
  std::vector<std::string_view> dependents(const Component& component) const;

 private:
  std::array<bool, 32> on_{};
};

/// Derives the components from the profile, `components` and the keys that mean the same; reports contradictions and
/// missing dependencies. `written`: the node of `components`, or null.
void settle_components(Spec& spec, const Node* written, Diagnostics& diagnostics);

}  // namespace openreg_gen
