#include "api/headers.h"

#include "base/text.h"

#include <array>
#include <map>

namespace openreg_gen::api {
namespace {

constexpr int kDeepest = 12;
/// The folders of PyTorch's own headers; what else it ships is not read.
constexpr std::array<std::string_view, 4> kOwn{"ATen/", "c10/", "torch/", "caffe2/"};
constexpr std::array<std::string_view, 2> kIncludeRoots{"", "torch/csrc/api/include"};

std::string below(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "::" + name;
}
std::string above(const std::string& scope) {
  const auto colon = scope.rfind("::");
  return colon == std::string::npos ? std::string() : scope.substr(0, colon);
}
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

bool Headers::is_own(std::string_view name) {
  return std::ranges::any_of(kOwn, [&](std::string_view folder) { return name.starts_with(folder); });
}

bool Headers::in(const fs::path& torch) {
  return is_file(torch / "include/c10/core/Device.h") || is_file(torch / "c10/core/Device.h");
}

std::string Headers::version_of(const fs::path& torch) {
  const Headers headers(torch, {});
  const std::string text = try_read_file(headers.path_of("torch/headeronly/version.h")).value_or("");
  std::string parts[3];
  for (const Token& token : tokens_of(text)) {
    if (token.kind != Token::Directive) continue;
    const DirectiveLine line = read_directive(token.text);
    const auto macro = line.word == "define" ? read_define(line.rest) : std::nullopt;
    if (!macro) continue;
    if (macro->name == "TORCH_VERSION_MAJOR") parts[0] = macro->body;
    if (macro->name == "TORCH_VERSION_MINOR") parts[1] = macro->body;
    if (macro->name == "TORCH_VERSION_PATCH") parts[2] = macro->body;
  }
  return parts[0].empty() ? "" : parts[0] + "." + parts[1] + "." + parts[2];
}

Headers::Headers(fs::path torch, std::string version) : include_(std::move(torch)), version_(std::move(version)) {
  if (std::error_code error; fs::is_directory(include_ / "include", error)) include_ /= "include";
}

fs::path Headers::path_of(const std::string& name, const std::string& from) const {
  if (!from.empty()) {
    auto beside = include_ / fs::path(from).parent_path() / name;
    if (is_file(beside)) return beside.lexically_normal();
  }
  for (const std::string_view root : kIncludeRoots)
    if (auto path = include_ / root / name; is_file(path)) return path;
  return {};
}

std::optional<int> Headers::read(const std::string& asked) {
  const auto path = path_of(asked);
  if (path.empty()) return {};
  const std::string name = path.lexically_relative(include_).generic_string();
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  const int number = static_cast<int>(files_.size());
  files_.push_back({name});
  numbers_[name] = number;
  if (!is_own(name)) return number;
  const std::string text = try_read_file(path).value_or("");
  const MacroText macros = [](std::string_view) { return std::optional<std::string>(); };
  const Tokens tokens = without_dead_branches(tokens_of(text), macros);
  const OnInclude on_include = [&](const std::string& other, bool quoted, unsigned, unsigned) {
    auto target = other;
    if (quoted)
      if (const auto beside = path_of(other, name); !beside.empty())
        target = beside.lexically_relative(include_).generic_string();
    if (const auto read_one = read(target)) files_[static_cast<std::size_t>(number)].includes.push_back(*read_one);
  };
  read_declarations(tokens, number, declared_, on_include);
  index();
  return number;
}

void Headers::index() {
  for (; indexed_ < declared_.declarations.size(); ++indexed_) {
    const Declaration& each = declared_.declarations[indexed_];
    auto& places = by_name_[each.qualified()];
    places.push_back(indexed_);
    if (places.size() == 1) scopes_[each.name].push_back(each.scope);
  }
  for (; opened_ < declared_.opened.size(); ++opened_) {
    auto& targets = opens_[declared_.opened[opened_].first];
    const auto& target = declared_.opened[opened_].second;
    if (!contains(targets, target)) targets.push_back(target);
  }
  for (; renamed_count_ < declared_.renamed.size(); ++renamed_count_)
    renames_.insert(declared_.renamed[renamed_count_]);
}

std::vector<bool> Headers::closure(const std::vector<int>& files) const {
  std::vector<bool> in(files_.size());
  std::vector<int> open = files;
  while (!open.empty()) {
    const auto next = static_cast<std::size_t>(open.back());
    open.pop_back();
    if (in[next]) continue;
    in[next] = true;
    for (const int other : files_[next].includes)
      if (!in[static_cast<std::size_t>(other)]) open.push_back(other);
  }
  return in;
}

Found Headers::look_up(const std::string& scope, const std::string& name, int depth) const {
  Found found;
  if (depth > kDeepest) return found;
  bool is_class = false;
  if (const auto at = by_name_.find(below(scope, name)); at != by_name_.end()) {
    for (const std::size_t place : at->second) {
      const Declaration& each = declared_.declarations[place];
      Found of_target;
      if (each.kind == Declaration::Using) of_target = resolve(each.target, above(each.qualified()), depth + 1);
      std::erase(of_target, &each);
      if (of_target.empty()) found.push_back(&each);
      found.insert(found.end(), of_target.begin(), of_target.end());
    }
    return found;
  }
  if (const auto at = opens_.find(scope); at != opens_.end()) {
    for (const auto& target : at->second) {
      std::string full = target;
      for (std::string outer = scope;; outer = above(outer)) {  // inline namespaces are full names already
        if (declared_.namespaces.contains(below(outer, target))) {
          full = below(outer, target);
          break;
        }
        if (outer.empty()) break;
      }
      const Found more = full == scope ? Found() : look_up(full, name, depth + 1);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  if (!found.empty()) return found;
  if (const auto at = by_name_.find(scope); at != by_name_.end()) {
    for (const std::size_t place : at->second) {
      const Declaration& each = declared_.declarations[place];
      is_class = is_class || each.kind == Declaration::Class;
      for (const auto& base : each.bases) {
        const Declaration* type = nullptr;
        for (const Declaration* one : resolve(base, each.scope, depth + 1))
          if (one->kind == Declaration::Class && one != &each) type = one;
        if (type == nullptr) continue;
        found = look_up(type->qualified(), name, depth + 1);
        if (!found.empty()) return found;
      }
    }
  }
  return found;
}

/// The scope that a component of a qualified name opens; empty if it opens none.
std::string Headers::scope_below(const std::string& scope, const std::string& name, int depth) const {
  const std::string full = below(scope, name);
  if (declared_.namespaces.contains(full)) return full;
  if (const auto at = renames_.find(full); at != renames_.end()) return at->second;
  for (const Declaration* each : look_up(scope, name, depth + 1)) {
    if (each->kind == Declaration::Class) return each->qualified();
    if (each->kind == Declaration::Function || each->kind == Declaration::Enumerator) continue;
    if (!each->target.empty())
      for (const Declaration* other : resolve(each->target, each->scope, depth + 1))
        if (other != each) return other->qualified();
    return each->qualified();
  }
  if (const auto at = opens_.find(scope); at != opens_.end() && depth < kDeepest)
    for (const auto& target : at->second)
      if (target != scope)
        if (auto inner = scope_below(target, name, depth + 1); !inner.empty()) return inner;
  return {};
}

Found Headers::resolve_in(const std::string& scope, const std::string& name, int depth) const {
  std::string in = scope, rest = name;
  for (auto colon = rest.find("::"); colon != std::string::npos; colon = rest.find("::")) {
    in = scope_below(in, rest.substr(0, colon), depth);
    if (in.empty()) return {};
    rest.erase(0, colon + 2);
  }
  return look_up(in, rest, depth);
}

Found Headers::resolve(const std::string& name, const std::string& scope, int depth) const {
  if (depth > kDeepest) return {};
  for (std::string in = scope;; in = above(in)) {
    if (Found found = resolve_in(in, name, depth + 1); !found.empty()) return found;
    if (in.empty()) return {};
  }
}

Found Headers::resolve(const std::string& name, const std::string& scope) const { return resolve(name, scope, 0); }

const Declaration* Headers::class_of(const std::string& name, const std::string& scope) const {
  for (const Declaration* each : resolve(name, scope)) {
    if (each->kind == Declaration::Class) return each;
    if (each->target.empty()) continue;
    for (const Declaration* other : resolve(each->target, each->scope))
      if (other->kind == Declaration::Class) return other;
  }
  return nullptr;
}

Found Headers::virtuals(const Declaration& type) const {
  std::map<std::string, const Declaration*> found;
  std::vector<const Declaration*> types{&type};
  for (std::size_t i = 0; i < types.size() && i < 50; ++i) {
    const std::string scope = types[i]->qualified();
    for (const Declaration& each : declared_.declarations) {
      if (each.kind != Declaration::Function || !each.is_virtual || each.scope != scope) continue;
      if (each.name.starts_with('~')) continue;
      const bool is_const = each.signature.qualifiers.starts_with("const");
      found.insert({each.name + "(" + each.signature.parameters + (is_const ? ") const" : ")"), &each});
    }
    for (const auto& base : types[i]->bases)
      if (const Declaration* other = class_of(base, types[i]->scope); other != nullptr && !contains(types, other))
        types.push_back(other);
  }
  Found out;
  for (const auto& [key, each] : found) out.push_back(each);
  return out;
}

const std::vector<std::string>& Headers::scopes_of(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto at = scopes_.find(name);
  return at == scopes_.end() ? none : at->second;
}

const std::vector<MacroAt>* Headers::macro(const std::string& name) const {
  const auto at = declared_.macros.find(name);
  return at == declared_.macros.end() || at->second.empty() ? nullptr : &at->second;
}

void Headers::list_files() {
  if (!all_.empty()) return;
  for (const std::string_view folder : kOwn) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(include_ / folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".h" || at->path().extension() == ".hpp")
        all_.push_back(at->path().lexically_relative(include_).generic_string());
  }
  std::ranges::sort(all_);
}

void Headers::read_all_with(const std::string& word) {
  list_files();
  if (texts_.empty())
    for (const auto& name : all_) texts_.push_back(try_read_file(include_ / name).value_or(""));
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (!numbers_.contains(all_[i]) && includes(texts_[i], word)) read(all_[i]);
}

std::vector<std::string> Headers::named(const std::string& file_name) {
  list_files();
  std::vector<std::string> out;
  for (const auto& name : all_)
    if (name == file_name || name.ends_with("/" + file_name)) out.push_back(name);
  return out;
}

}  // namespace openreg_gen::api
