// native_functions.yaml and tags.yaml, by yaml-cpp, an entry at a time: as one document the 600 KB file would be held
// as a tree of some tens of MB.
#include "catalog/declarations.h"

#include "diag/failure.h"
#include "base/text.h"

#include <yaml-cpp/yaml.h>

#include <stdexcept>

namespace openreg_gen {
namespace {

constexpr auto kRemedy = "reinstall this PyTorch, or name another one with --torch DIR";

/// Calls `entry` with each "- ..." item of a top-level list and the line it starts at.
void for_each_entry(std::string_view text, const fs::path& path, const std::function<void(const YAML::Node&)>& entry) {
  int line = 1;
  std::size_t begin = text.starts_with("- ") ? 0 : text.find("\n- ");
  if (begin == std::string_view::npos)
    throw Failure(Exit::Environment, "E0402", path.string() + " has no entry", kRemedy);
  if (begin != 0) ++begin;
  line += static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  while (begin < text.size()) {
    auto end = text.find("\n- ", begin);
    end = end == std::string_view::npos ? text.size() : end + 1;
    const auto chunk = text.substr(begin, end - begin);
    try {
      const auto node = YAML::Load(std::string(chunk));
      if (!node.IsSequence() || !node[0].IsMap()) throw std::invalid_argument("not a map");
      entry(node[0]);
    } catch (const std::exception& e) {  // yaml-cpp's own exceptions and std::invalid_argument
      throw Failure(Exit::Environment, "E0402",
                    path.string() + ", entry at line " + std::to_string(line) + ": " + e.what(), kRemedy);
    }
    line += static_cast<int>(std::ranges::count(chunk, '\n'));
    begin = end;
  }
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (const auto piece : split_top_level(text, ',')) names.emplace_back(piece);
  return names;
}

/// A scalar or a list of scalars.
std::vector<std::string> scalars(const YAML::Node& node) {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> result;
  for (const auto& item : node) result.push_back(item.as<std::string>());
  return result;
}

// Keys whose values are taken as they are.
using Text = std::pair<std::string_view, std::string NativeFunction::*>;
constexpr Text kTexts[] = {{"structured_delegate", &NativeFunction::structured_delegate},
                           {"structured_inherits", &NativeFunction::structured_inherits},
                           {"python_module", &NativeFunction::python_module}};
using Flag = std::pair<std::string_view, bool NativeFunction::*>;
constexpr Flag kFlags[] = {{"structured", &NativeFunction::structured},
                           {"use_const_ref_for_mutable_tensors", &NativeFunction::const_ref_mutable},
                           {"device_guard", &NativeFunction::device_guard},
                           {"manual_cpp_binding", &NativeFunction::manual_cpp_binding}};

/// Other keys only affect PyTorch's own build.
void set_field(NativeFunction& f, const std::string& key, const YAML::Node& value) {
  if (const auto* text = find_by(kTexts, key, &Text::first)) f.*(text->second) = value.as<std::string>();
  if (const auto* flag = find_by(kFlags, key, &Flag::first)) f.*(flag->second) = value.as<bool>();
  if (key == "func") f.schema = parse_schema(value.as<std::string>());
  if (key == "tags") f.tags = scalars(value);
  if (key == "autogen") f.autogen = split_names(value.as<std::string>());
  if (key == "precomputed") f.precomputed = scalars(value);
  if (key == "ufunc_inner_loop") f.ufunc = true;
  if (key == "device_check") f.device_check = value.as<std::string>() != "NoCheck";
  if (key == "variants") f.method = includes(value.as<std::string>(), "method");
  if (key != "dispatch") return;
  f.dispatch_written = true;
  for (const auto& item : value)
    for (const auto& name : split_names(item.first.as<std::string>())) f.kernels[name] = item.second.as<std::string>();
}

/// Kernels that the file implies without naming them.
void add_implied_kernels(NativeFunction& f) {
  if (f.ufunc) {
    for (const char* key : {"CPU", "CUDA"}) f.kernels[key] = "ufunc_" + f.schema.root() + "_" + key;
  }
  if (!f.dispatch_written && !f.in_structured_group()) {
    const bool out = f.schema.kind() == SchemaKind::Out;
    f.kernels["CompositeImplicitAutograd"] = f.schema.base + (out ? "_out" : "");
  }
}

}  // namespace

std::vector<NativeFunction> read_native_functions(std::string_view text, const fs::path& path) {
  std::vector<NativeFunction> result;
  result.reserve(3500);
  for_each_entry(text, path, [&](const YAML::Node& entry) {
    NativeFunction f;
    for (const auto& field : entry) set_field(f, field.first.as<std::string>(), field.second);
    if (f.schema.base.empty()) throw std::invalid_argument("it has no 'func'");
    add_implied_kernels(f);
    result.push_back(std::move(f));
  });
  return result;
}

std::vector<std::string> read_tags(std::string_view text, const fs::path& path) {
  std::vector<std::string> names;
  for_each_entry(text, path, [&](const YAML::Node& entry) { names.push_back(entry["tag"].as<std::string>()); });
  return names;
}

}  // namespace openreg_gen
