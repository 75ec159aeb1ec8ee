// openreg-gen components: the optional parts of a tree.
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "base/text.h"
#include "pipeline/rendering.h"
#include "cli/tree_spec.h"
#include "spec/component_texts.h"

#include <fmt/ranges.h>

#include <optional>

namespace openreg_gen {
namespace {

struct ComponentsOptions {};  // none but the shared ones

void declare(CLI::App& app, Invocation& call, ComponentsOptions&) {
  call.add_tree(app, "A tree: show which of them it has; default: the tree that contains the current directory");
  call.add_torch(app);
  call.add_json(app);
}

/// How large each is in a tree.
std::map<std::string, Size> sizes(Invocation& call, Spec spec, const DataDir& data) {
  Diagnostics diagnostics;
  const ResolvedSpec resolved = resolve(std::move(spec), call.catalog(), diagnostics);
  Rendering rendering = prepare(resolved, data, "spec.yaml");
  add_outputs(rendering, resolved, data);
  return rendering.sizes.of;
}

/// The tree with all of them.
Spec with_all(Spec spec) {
  for (const Component& component : all_components()) {
    spec.components.set(component.name, true);
    if (SpecValue<bool>* own = switch_of(spec, component.name)) own->value = true;
  }
  spec.allocator.device.value = find_allocator_kind("caching");
  return spec;
}

Exit run(Invocation& call, const ComponentsOptions&) {
  const DataDir data = find_data();
  const std::optional<Spec> tree = spec_around(call);
  Diagnostics diagnostics;
  // Of those that are here, as they are here: others may add to a component.
  const auto size_of = sizes(call, with_all(tree ? *tree : parse_spec(data.specs / "minimal.yaml", diagnostics)), data);
  const auto size_here = tree ? sizes(call, *tree, data) : size_of;
  const bool ported = tree && !(**tree->device.api).simulated;
  auto json = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows{{"component", "profile", "files", "lines", "seconds", "needs", "purpose"}};
  if (tree) rows[0].insert(rows[0].begin(), "here");
  for (const Component& component : all_components()) {
    const bool on = tree && tree->components.has(component.name);
    const auto& known = on ? size_here : size_of;
    const auto found = known.find(std::string(component.name));
    const Size size = found == known.end() ? Size{} : found->second;
    rows.push_back({std::string(component.name), std::string(to_string(component.since)), std::to_string(size.files),
                    std::to_string(size.lines), size.seconds == 0 ? "" : fmt::format("{:.0f}", size.seconds),
                    fmt::format("{}", fmt::join(words_of(component.needs), ", ")),
                    std::string(about(component, ported))});
    if (tree) rows.back().insert(rows.back().begin(), on ? "yes" : "-");
    json.push_back({{"name", component.name},
                    {"about", about(component, ported)},
                    {"profile", to_string(component.since)},
                    {"files", size.files},
                    {"lines", size.lines},
                    {"seconds", size.seconds},
                    {"needs", words_of(component.needs)}});
    if (tree) json.back()["here"] = on;
  }
  return call.answer(nlohmann::ordered_json{{"components", json}}, layout_table(rows, terminal_width()));
}

}  // namespace

Verb components_verb() {
  Verb verb{"components",
            "List the optional parts of a tree, with purpose, size and dependencies",
            with_options<ComponentsOptions>(declare, run),
            {"components", "components -C torch_mybackend --json"}};
  verb.hint = "`openreg-gen explain COMPONENT` tells what one is for, and which files it has";
  return verb;
}

}  // namespace openreg_gen
