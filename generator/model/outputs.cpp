// templates.yaml -> the list of files to render.
#include "model/model.h"

#include "diag/failure.h"
#include "base/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <set>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// "device.emulator" -> the value, or null if there is none.
const json* find(const json& root, std::string_view path) {
  std::string pointer = "/" + std::string(path);
  std::ranges::replace(pointer, '.', '/');
  const json::json_pointer place(pointer);
  return root.contains(place) ? &root.at(place) : nullptr;
}

/// Fills in "{name}" from globals.b, "{item.x}" from the item and "{kernel.x}" from the device's language for kernels.
std::string fill(const TemplateRow& row, const std::string& pattern, const json& globals, const json& item) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') {
      out += pattern[i];
      continue;
    }
    const std::size_t end = pattern.find('}', i);
    if (end == std::string::npos) row.fail("'{' without '}' in '" + pattern + "'");
    const std::string name = pattern.substr(i + 1, end - i - 1);
    const json* value = name.starts_with("item.")     ? find(item, name.substr(5))
                        : name.starts_with("kernel.") ? find(globals, name)
                                                      : find(globals["b"], name);
    if (!value || !value->is_string()) row.fail("no value for '{" + name + "}'");
    out += value->get<std::string>();
    i = end;
  }
  return out;
}

/// An empty object, list or string is false, as in templates.
bool holds(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

using Exists = std::function<bool(const std::string& template_name)>;

void expand_row(const TemplateRow& written, const Exists& exists, const json& globals, std::vector<Output>& out) {
  TemplateRow row = written;
  // Of a language for kernels; one has templates that another lacks.
  if (contains(row.template_name, '{')) {
    if (!holds(*find(globals, "kernel.on"))) return;
    row.template_name = fill(row, row.template_name, globals, nullptr);
    if (!exists(row.template_name)) return;
  }
  if (!exists(row.template_name)) {
    if (row.user) row.fail("no template '" + row.template_name + "' in the folder");
    throw Failure(Exit::Internal, "E0601", row.place + ": no template '" + row.template_name + "'");
  }
  for (const std::string_view condition : words_of(row.when)) {
    const json* value = find(globals, condition);
    if (!value) row.fail(fmt::format("the model has no '{}'", condition));
    if (!holds(*value)) return;
  }
  const std::vector<std::string_view> components = words_of(row.component);
  for (const std::string_view component : components) {
    const json* on = find(globals, fmt::format("has.{}", component));
    if (!on) row.fail(fmt::format("no component '{}'", component));
    if (!holds(*on)) return;
  }
  Output base;
  if (!components.empty()) base.component = components.front();
  base.template_name = row.template_name;
  base.user = row.user;
  base.key = row.key;
  base.about = row.about;
  base.file_class = row.file_class;
  for (const auto& [slot, words] : row.slots)
    for (const std::string& word : words) base.slots[slot].push_back(fill(row, word, globals, nullptr));
  if (row.each.empty()) {
    base.path = fill(row, row.path, globals, nullptr);
    out.push_back(std::move(base));
    return;
  }
  const json* items = find(globals, row.each);
  if (!items || !items->is_array()) row.fail("the model has no list '" + row.each + "'");
  for (const json& item : *items) {
    if (!row.where.empty() && !holds(item.value(row.where, json()))) continue;
    Output& output = out.emplace_back(base);
    output.each = row.each;
    output.index = static_cast<std::size_t>(&item - &items->front());
    output.path = fill(row, row.path, globals, item);
  }
}

/// Items of one operator may have several owned files: all but the first are distinguished by their template.
void identify(std::vector<Output>& outputs, const Subjects& subjects) {
  std::set<std::string> seen;
  for (Output& output : outputs) {
    const bool owned = output.file_class == FileClass::Owned;
    const std::string stem = output.template_name.substr(0, output.template_name.rfind(".j2"));
    const auto list = subjects.find(output.each);
    const Subject subject = list == subjects.end() ? Subject{} : list->second.at(output.index);
    output.id = subject.id.empty() && owned ? stem : subject.id;
    if (!owned) continue;
    if (!seen.insert(output.id).second) output.id += " " + stem;
    output.signature = subject.signature;
  }
}

/// A template that nothing renders has a misspelt name; templates for others to include begin with '_'.
void check_all_used(const UserTemplates& user, const Templates& templates, const std::set<std::string>& rows) {
  for (const auto& [name, text] : user.texts) {
    const std::string file = name.substr(name.rfind('/') + 1);
    if (name == "templates.yaml" || file.starts_with("_") || rows.contains(name)) continue;
    if (templates.has(name)) continue;
    const std::vector<std::string_view> names(templates.names.begin(), templates.names.end());
    const auto near = closest(name, names);
    throw Failure(
        Exit::BadInput, "E0613",
        fmt::format("{}/{}: openreg-gen has no template with this name, and no row of templates.yaml names it",
                    user.folder, name),
        near.empty() ? "begin the name with '_' if other templates include it"
                     : fmt::format("did you mean '{}'?", near));
  }
}

/// What missing components would add to torch.NAME: [{component, words}].
json absent_names(const Templates& templates, const json& globals) {
  std::map<std::string, std::set<std::string>> found;
  for (const TemplateRow& row : templates.rows) {
    const std::vector<std::string_view> components = words_of(row.component);
    const auto absent = std::ranges::find_if(
        components, [&](std::string_view name) { return !holds(*find(globals, fmt::format("has.{}", name))); });
    if (absent == components.end()) continue;
    for (const auto& [slot, words] : row.slots)
      for (const std::string& word : words)
        if (slot == "exports" || slot == "modules")
          found[std::string(*absent)].insert(fill(row, word, globals, nullptr));
  }
  json out = json::array();
  for (const auto& [component, words] : found)
    out.push_back({{"component", component}, {"words", fmt::format("{}", fmt::join(words, " "))}});
  return out;
}

}  // namespace

json slots_of(const Templates& templates, const std::vector<Output>& outputs, const json& globals) {
  std::map<std::string, std::map<std::string, json>> slots;
  for (const TemplateRow& row : templates.rows)
    for (const auto& [slot, words] : row.slots) slots[slot];
  for (const Output& output : outputs) {
    std::string file = output.path.substr(output.path.rfind('/') + 1);
    file.resize(std::min(file.rfind('.'), file.size()));
    for (const auto& [slot, words] : output.slots) {
      slots[slot][output.path] = {{"file", file},
                                  {"path", output.path},
                                  {"about", output.about},
                                  {"words", words},
                                  {"text", fmt::format("{}", fmt::join(words, " "))}};
    }
  }
  json out = json::object();
  for (const auto& [slot, files] : slots) {
    out[slot] = json::array();
    for (const auto& [path, entry] : files) out[slot].push_back(entry);
  }
  out["absent"] = absent_names(templates, globals);
  out["defined"] = json::array();
  for (const auto& [path, entry] : slots["defines"])
    for (const json& word : entry["words"]) out["defined"].push_back(word);
  return out;
}

std::vector<Output> expand_outputs(const Templates& templates, const json& globals, const Subjects& subjects,
                                   const UserTemplates& user) {
  std::vector<Output> out;
  const Exists ours = [&](const std::string& name) { return templates.has(name); };
  for (const TemplateRow& row : templates.rows) expand_row(row, ours, globals, out);
  for (Output& output : out) output.user = user.has(output.template_name);
  std::set<std::string> paths, used;
  for (const Output& output : out) paths.insert(output.path);
  const Exists theirs = [&](const std::string& name) { return name != "templates.yaml" && user.has(name); };
  if (const auto own = user.texts.find("templates.yaml"); own != user.texts.end()) {
    for (const TemplateRow& row : parse_template_rows(own->second, user.folder + "/templates.yaml", true)) {
      const std::size_t first = out.size();
      expand_row(row, theirs, globals, out);
      used.insert(row.template_name);
      for (std::size_t i = first; i < out.size(); ++i) {
        if (!paths.insert(out[i].path).second)
          row.fail(fmt::format("'{}' is already an output; to change it, replace its template", out[i].path));
      }
    }
  }
  check_all_used(user, templates, used);
  identify(out, subjects);
  return out;
}

}  // namespace openreg_gen
