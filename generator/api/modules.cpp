// PyTorch's Python files as modules, and what of them a tree's package uses that another release lacks.
#include "api/compare.h"
#include "api/python.h"

#include "base/text.h"

#include <fmt/format.h>

namespace openreg_gen::api {
namespace {

constexpr int kDeepestImport = 6;

fs::path below(const fs::path& torch, const std::string& module) {
  fs::path path = torch;
  std::string rest = module == "torch" ? "" : module.substr(std::min<std::size_t>(6, module.size()));
  while (!rest.empty()) {
    const auto dot = std::min(rest.find('.'), rest.size());
    path /= rest.substr(0, dot);
    rest.erase(0, std::min(dot + 1, rest.size()));
  }
  return path;
}
std::string last_of(const std::string& module) { return module.substr(module.rfind('.') + 1); }
std::string parent_of(const std::string& module) {
  return module.substr(0, std::min(module.rfind('.'), module.size()));
}
bool is_of_torch(const std::string& module) { return module == "torch" || module.starts_with("torch."); }

}  // namespace

const PythonModule* Modules::find(const std::string& module) {
  const auto known = read_.find(module);
  if (known != read_.end()) return known->second ? &*known->second : nullptr;
  std::optional<PythonModule>& out = read_[module];
  if (!is_of_torch(module)) return nullptr;
  const fs::path path = below(torch_, module);
  for (const char* package : {"__init__.py", "__init__.pyi"})
    if (const auto text = try_read_file(path / package)) return &out.emplace(read_python(*text, module, true));
  for (const char* ending : {".py", ".pyi"})
    if (const auto text = try_read_file(path.string() + ending)) return &out.emplace(read_python(*text, module, false));
  return nullptr;
}

std::optional<bool> Modules::has(const std::string& module, const std::string& name, int depth) {
  if (depth > kDeepestImport) return {};
  if (const PythonModule* found = find(module)) {
    if (found->names.contains(name)) return true;
    bool sure = !found->any;
    const auto stars = found->stars;
    for (const auto& star : stars) {
      const auto inner = is_of_torch(star) ? has(star, name, depth + 1) : std::nullopt;
      if (inner == std::optional(true)) return true;
      sure = sure && inner.has_value();
    }
    if (find(module + "." + name) != nullptr) return true;
    return sure ? std::optional(false) : std::nullopt;
  }
  const std::string parent = parent_of(module), last = last_of(module);
  const PythonModule* around = parent == module ? nullptr : find(parent);
  if (around == nullptr) return {};
  if (const auto type = around->classes.find(last); type != around->classes.end()) {
    if (type->second.methods.contains(name)) return true;
    return type->second.bases.empty() ? std::optional(false) : std::nullopt;
  }
  const auto imported = around->imported.find(last);
  if (imported == around->imported.end()) return {};
  std::string target = imported->second;
  replace_all(target, ":", ".");
  return is_of_torch(target) && target != module ? has(target, name, depth + 1) : std::nullopt;
}

Modules::Type Modules::type_of(const std::string& module, const std::string& name, int depth) {
  const PythonModule* found = depth > kDeepestImport ? nullptr : find(module);
  if (found == nullptr) return {};
  if (const auto type = found->classes.find(name); type != found->classes.end()) return {module, name, &type->second};
  const auto imported = found->imported.find(name);
  if (imported == found->imported.end()) return {};
  const auto colon = imported->second.find(':');
  if (colon == std::string::npos) return {};
  return type_of(imported->second.substr(0, colon), imported->second.substr(colon + 1), depth + 1);
}

std::optional<std::string> Modules::arguments_of(const Type& type, const std::string& method, int depth) {
  if (type.definition == nullptr || depth > kDeepestImport) return {};
  if (const auto own = type.definition->methods.find(method); own != type.definition->methods.end()) return own->second;
  for (const std::string& base : type.definition->bases) {
    const auto dot = base.rfind('.');
    Type above;
    if (dot == std::string::npos) {
      above = type_of(type.module, base, depth + 1);
    } else if (const PythonModule* around = find(type.module)) {  // ir.Something
      const auto alias = around->imported.find(base.substr(0, dot));
      if (alias == around->imported.end()) continue;
      std::string module = alias->second;
      replace_all(module, ":", ".");
      above = type_of(module, base.substr(dot + 1), depth + 1);
    }
    if (auto found = arguments_of(above, method, depth + 1)) return found;
  }
  return {};
}

namespace {

struct PythonComparison {
  Modules &before, &after;
  const std::string& release;
  ApiDrift& out;
  std::set<std::string> compared{};

  void report(const SourceFile& file, unsigned line, unsigned column, Severity severity, std::string change,
              std::string name, std::string message, std::string hint, std::string old_text = {},
              std::string new_text = {}) {
    const bool twice = std::ranges::any_of(out.differences, [&](const Difference& each) {
      return each.kind == "module" && each.name == name && each.what.at.file == file.path;
    });
    if (twice) return;
    Location at{file.path, static_cast<int>(line), static_cast<int>(column)};
    out.differences.push_back({{severity, "E0409", std::move(message), std::move(at), std::move(hint), {}},
                               "module",
                               std::move(change),
                               std::move(name),
                               std::move(old_text),
                               std::move(new_text)});
  }

  void use(const SourceFile& file, const PythonUse& one) {
    if (before.find(one.module) != nullptr) {
      compared.insert(one.module);
      if (after.find(one.module) == nullptr)
        return report(file, one.line, one.column, Severity::Error, "gone", one.module,
                      fmt::format("PyTorch {} has no module '{}'", release, one.module),
                      "look for what the module had in its neighbours");
    }
    if (one.name.empty() || before.has(one.module, one.name) != std::optional(true)) return;
    const std::string name = one.module + "." + one.name;
    compared.insert(name);
    if (after.has(one.module, one.name) == std::optional(false))
      report(file, one.line, one.column, Severity::Error, "gone", name,
             fmt::format("'{}' has no '{}' in PyTorch {}", one.module, one.name, release),
             "look at the module for what replaces it");
  }

  /// Methods of a class of the tree that override methods of PyTorch.
  void classes(const SourceFile& file, const PythonModule& own) {
    for (const auto& [name, type] : own.classes) {
      for (const std::string& base : type.bases) {
        const auto imported = own.imported.find(base);
        const auto colon = imported == own.imported.end() ? std::string::npos : imported->second.find(':');
        if (colon == std::string::npos) continue;
        const std::string module = imported->second.substr(0, colon), original = imported->second.substr(colon + 1);
        const auto old_type = before.type_of(module, original), new_type = after.type_of(module, original);
        if (old_type.definition == nullptr || new_type.definition == nullptr) continue;
        for (const auto& [method, place] : type.places) {
          const auto was = before.arguments_of(old_type, method), now = after.arguments_of(new_type, method);
          if (!was) continue;
          const std::string full = module + "." + original + "." + method;
          compared.insert(full);
          if (!now)
            report(file, place.first, place.second, Severity::Note, "gone", full,
                   fmt::format("'{}' isn't a method of PyTorch {}: '{}.{}' overrides nothing", full, release, name,
                               method),
                   "find out what calls it now");
          else if (*was != *now)
            report(file, place.first, place.second, Severity::Note, "changed", full,
                   fmt::format("'{}' has other arguments in PyTorch {}", full, release),
                   fmt::format("'{}.{}' must accept them", name, method), method + "(" + *was + ")",
                   method + "(" + *now + ")");
        }
      }
    }
  }
};

}  // namespace

void compare_python(const std::vector<SourceFile>& files, const fs::path& before, const fs::path& after,
                    const std::string& release, ApiDrift& out) {
  Modules old_modules(before), new_modules(after);
  PythonComparison comparison{old_modules, new_modules, release, out};
  for (const SourceFile& file : files) {
    for (const PythonUse& use : python_uses(file.text)) comparison.use(file, use);
    comparison.classes(file, read_python(file.text, "tree", false));
  }
  out.modules += comparison.compared.size();
}

}  // namespace openreg_gen::api
