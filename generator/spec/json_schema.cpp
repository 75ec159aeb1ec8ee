// Prints the table of keys as the JSON Schema for editors, and as the reference page.
#include "base/text.h"
#include "spec/keys.h"

#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

Json schema_of(const Key& key, const Vocabulary& vocabulary);

Json any_of(std::initializer_list<Json> choices) { return {{"anyOf", Json(choices)}}; }

Json map_schema(const Key& key, const Vocabulary& vocabulary) {
  Json properties = Json::object(), required = Json::array();
  for (const Key* child : child_keys(key.path)) {
    properties[last_part(child->path)] = schema_of(*child, vocabulary);
    if (child->required) required.push_back(last_part(child->path));
  }
  Json schema = {{"type", key.required || key.path.empty() ? Json("object") : Json({"object", "null"})},
                 {"properties", properties},
                 {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json scalar_schema(const Key& key, const Vocabulary& vocabulary) {
  switch (key.type) {
    case KeyType::Word:
      return {{"enum", mapped(words_of(key, vocabulary), [](std::string_view word) { return Json(word); })}};
    case KeyType::Integer:
      return {{"type", "integer"}, {"minimum", key.min}, {"maximum", key.max}};
    case KeyType::Number:
      return {{"type", "number"}, {"minimum", key.min}, {"maximum", key.max}};
    case KeyType::Boolean:
      return {{"type", "boolean"}};
    case KeyType::Size:
      return any_of({{{"type", "integer"}, {"minimum", key.min}, {"maximum", key.max}},
                     {{"type", "string"}, {"pattern", "^[0-9]+ *(B|[KMGT]iB|[KMGT]B)?$"}}});
    default:
      break;
  }
  Json schema = {{"type", "string"}};
  if (!key.pattern.empty()) schema["pattern"] = key.pattern;
  return schema;
}

/// `ops`: a map from operator to map, or a list of operators and maps.
Json table_schema(const Key& key, const Vocabulary& vocabulary) {
  const Key& row = *find_key(key.path, ".*");
  const Json value = schema_of(row, vocabulary);
  const Json name = key.pattern;
  Json named = map_schema(row, vocabulary);
  named["type"] = "object";
  named["properties"]["name"] = {{"type", "string"}, {"pattern", name}};
  named["required"] = {"name"};
  const Json free = {{"type", "object"}, {"propertyNames", {{"pattern", name}}}, {"additionalProperties", value}};
  const Json item = any_of({{{"type", "string"}, {"pattern", name}}, named, free});
  return any_of({{{"type", "null"}}, free, {{"type", "array"}, {"items", item}}});
}

Json schema_of(const Key& key, const Vocabulary& vocabulary) {
  Json schema;
  switch (key.type) {
    case KeyType::Map:
      schema = map_schema(key, vocabulary);
      break;
    case KeyType::Table:
      schema = table_schema(key, vocabulary);
      break;
    case KeyType::List:
      schema = {{"type", {"array", "null"}},
                {"items", schema_of(*find_key(key.path, "[]"), vocabulary)},
                {"uniqueItems", true}};
      break;
    default:
      schema = scalar_schema(key, vocabulary);
  }
  if (const Key* lone = shorthand_of(key)) schema = any_of({scalar_schema(*lone, vocabulary), schema});
  schema["description"] = about(key, vocabulary);
  return schema;
}

std::string_view type_name(const Key& key) {
  constexpr std::string_view kNames[] = {"map",     "list",   "map or list", "text", "word",
                                         "integer", "number", "boolean",     "size"};
  if (const Key* lone = shorthand_of(key)) return lone->type == KeyType::Boolean ? "boolean or map" : "word or map";
  return kNames[static_cast<std::size_t>(key.type)];
}

std::string cell(std::string_view text) {
  std::string out(text);
  replace_all(out, "|", "\\|");
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

/// A default that can be written in a spec is shown as code; a sentence ("as `fallback.kind`") is not.
std::string default_cell(const Key& key) { return key.unset.empty() ? code(key.fallback) : cell(key.unset); }

}  // namespace

std::string spec_json_schema(const Vocabulary& vocabulary) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "openreg-gen spec"}};
  schema.update(schema_of(*find_key(""), vocabulary));
  return schema.dump(2) + "\n";
}

std::string spec_markdown(const Vocabulary& vocabulary) {
  std::string out =
      "# The spec\n\n"
      "A spec is one YAML or JSON document in UTF-8, at most 1 MiB. Every key except `backend.name` has a default;\n"
      "`openreg-gen check SPEC` reports every error in a spec, `openreg-gen schema` prints the JSON Schema.\n"
      "Texts that look like numbers need quotes: `min: \"2.13\"`. `<name>` is `backend.name`, `<Name>` the same in "
      "camel case.\n"
      "This page is printed by `openreg-gen schema --markdown`.\n";
  for (const Key& key : all_keys()) {
    const bool top = !key.path.empty() && key.path.find_first_of(".[") == std::string_view::npos;
    if (key.path.empty()) continue;
    if (top) {
      out += "\n## `" + std::string(key.path) + "`\n\n" + std::string(key.description);
      if (key.type != KeyType::Map && key.type != KeyType::Table && key.type != KeyType::List)
        out += " Default: " + default_cell(key) + ".";
      out += "\n";
      if (!child_keys(key.path).empty() || find_key(key.path, ".*") || find_key(key.path, "[]"))
        out += "\n| key | type | default | meaning | example |\n|---|---|---|---|---|\n";
      continue;
    }
    if (key.path.ends_with("[]") && key.path != "custom_ops[]") continue;
    std::string meaning = cell(about(key, vocabulary));
    if (key.type == KeyType::Word || key.path.ends_with(".dtypes")) {
      const auto words = words_of(key.type == KeyType::Word ? key : *find_key(key.path, "[]"), vocabulary);
      meaning += " One of:";
      for (const auto value : words) meaning += (value == words.front() ? " " : ", ") + code(value);
      meaning += ".";
    }
    if (key.type == KeyType::Integer || key.type == KeyType::Number || key.type == KeyType::Size)
      meaning += " " + std::to_string(key.min) + " to " + std::to_string(key.max) + ".";
    const std::string fallback = key.required ? "required" : default_cell(key);
    out += "| " + code(key.path) + " | " + std::string(type_name(key)) + " | " + fallback + " | " + meaning + " | " +
           code(key.example) + " |\n";
  }
  return out;
}

}  // namespace openreg_gen
