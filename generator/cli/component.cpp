// openreg-gen add component NAME..., openreg-gen remove component NAME...: edits the tree's spec, then renders the
// tree.
#include "cli/generate.h"
#include "cli/verb.h"
#include "base/suggest.h"
#include "base/text.h"
#include "edit/spec_edit.h"
#include "edit/style.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

struct ComponentOptions {
  GenerateOptions generate;
  std::vector<std::string> names;
};

void declare(CLI::App& app, Invocation& call, ComponentOptions& options) {
  app.add_option("COMPONENT", options.names, "As `openreg-gen components` lists them")->required();
  options.generate.what = app.get_parent()->get_name();
  options.generate.add_to(app, call);
}

/// The word in the spec's text: at the key that the component has for itself, if the spec uses it.
std::string with_component(const std::string& text, const Spec& spec, const Component& component, bool on) {
  const Node word = text_node(on ? "true" : "false", Node::Kind::Boolean);
  if (const SpecValue<bool>* own = switch_of(spec, component.name); own != nullptr && own->given()) {
    Diagnostics none;
    const auto document = read_document(text, spec.path, none);
    const Node* written = document ? document->find(component.key) : nullptr;
    const bool map = written != nullptr && written->kind == Node::Kind::Map;  // distributed: {on: true, backend: ...}
    return with_word(text, spec.path, std::string(component.key), map ? "on" : "", word);
  }
  if (component.name == "caching" && spec.allocator.device.given())
    return with_word(text, spec.path, "allocator", "device", text_node(on ? "caching" : "direct"));
  return with_word(text, spec.path, "components", std::string(component.name), word);
}

/// The components with these names. Null after an error, which was reported.
std::optional<std::vector<const Component*>> named(Invocation& call, const ComponentOptions& options,
                                                   const Spec& spec) {
  Diagnostics diagnostics;
  std::vector<const Component*> out;
  for (const std::string& name : options.names) {
    if (const Component* component = find_component(name)) {
      out.push_back(component);
    } else {
      const std::string hint = did_you_mean(name, component_names());
      diagnostics.error("E0556", {}, fmt::format("no component '{}'", name),
                        hint.empty() ? "`openreg-gen components` lists them" : hint);
    }
  }
  if (call.report_errors(diagnostics, spec)) return std::nullopt;
  return out;
}

std::optional<EditedSpec> add_components(Invocation& call, const ComponentOptions& options,
                                         const ResolvedSpec& resolved) {
  const Spec& spec = resolved.spec;
  const auto components = named(call, options, spec);
  if (!components) return std::nullopt;
  EditedSpec edited{spec.text};
  edited.json["added"] = nlohmann::json::array();
  ComponentSet set = spec.components;
  for (const Component* wanted : *components) {
    for (const std::string_view name : set.missing(*wanted)) {
      const Component& component = *find_component(name);
      set.set(name, true);
      edited.text = with_component(edited.text, spec, component, true);
      const bool needed = &component != wanted;
      edited.report(
          "added", {{"component", name}, {"needed_by", needed ? nlohmann::json(wanted->name) : nullptr}},
          fmt::format("add {}: {}{}", name, needed ? fmt::format("{} needs it; ", wanted->name) : "", component.about));
    }
  }
  return edited;
}

std::optional<EditedSpec> remove_components(Invocation& call, const ComponentOptions& options,
                                            const ResolvedSpec& resolved) {
  const Spec& spec = resolved.spec;
  const auto components = named(call, options, spec);
  if (!components) return std::nullopt;
  EditedSpec edited{spec.text};
  edited.json["removed"] = nlohmann::json::array();
  Diagnostics diagnostics;
  for (const Component* component : *components) {
    std::vector<std::string_view> left;
    for (const std::string_view name : spec.components.dependents(*component))
      if (!contains(options.names, name)) left.push_back(name);
    if (!left.empty()) {
      diagnostics.error("E0557", {}, fmt::format("'{}' is needed by {}", component->name, fmt::join(left, ", ")),
                        fmt::format("openreg-gen remove component {} {}", component->name, fmt::join(left, " ")));
      continue;
    }
    if (!spec.components.has(component->name)) continue;
    edited.text = with_component(edited.text, spec, *component, false);
    edited.report("removed", {{"component", component->name}}, fmt::format("remove {}", component->name));
  }
  if (call.report_errors(diagnostics, spec)) return std::nullopt;
  return edited;
}

/// A spec that lacks components, and is refused for that alone, is what this verb fixes.
Exit run_add(Invocation& call, const ComponentOptions& options) {
  const auto edit = [&](const ResolvedSpec& resolved) { return add_components(call, options, resolved); };
  return generate(call, options.generate, edit, {"E0181", "E0182"});
}

}  // namespace

Verb add_component_verb() {
  return {"component",
          "Add components, and those that they need",
          with_options<ComponentOptions>(declare, run_add),
          {"add component caching", "add component examples --dry-run"}};
}

Verb remove_component_verb() {
  return {"component",
          "Remove components; files that you edited stay and are listed",
          with_options<ComponentOptions>(declare, run_edit<remove_components, ComponentOptions>),
          {"remove component examples cpp_tests"}};
}

}  // namespace openreg_gen
