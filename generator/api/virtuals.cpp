// The virtual functions of PyTorch's classes that a tree derives from, in two releases.
#include "api/compare.h"

#include "base/text.h"

#include <fmt/format.h>

#include <map>

namespace openreg_gen::api {
namespace {

bool is_const(const Declaration& each) { return each.signature.qualifiers.starts_with("const"); }
bool is_noexcept(const Declaration& each) { return includes(each.signature.qualifiers, "noexcept"); }
bool same_call(const Declaration& a, const Declaration& b) {
  return a.name == b.name && a.signature.parameters == b.signature.parameters && is_const(a) == is_const(b);
}

/// With the tree's aliases written out: how the virtual that a function overrides is declared.
struct Own {
  const Declaration* declaration;
  Declaration plain;  // its types only
};

std::string without_aliases(const std::string& types, const std::map<std::string, std::string>& aliases) {
  std::string out;
  for (std::size_t at = 0; at < types.size();) {
    std::size_t end = at;
    while (end < types.size() && is_word(types[end])) ++end;
    if (end == at) {
      out += types[at++];
      continue;
    }
    const auto found = aliases.find(types.substr(at, end - at));
    out += found == aliases.end() ? types.substr(at, end - at) : found->second;
    at = end;
  }
  return out;
}

struct Virtuals {
  const TreeUses& uses;
  const Headers &before, &after;
  ApiDrift& out;
  std::map<std::string, std::string> aliases{};  // the tree's names of types
  std::set<std::string> noted{};                 // what breaks nothing is said once

  // --- The class that is looked at
  const Declaration* type = nullptr;  // the tree's
  std::vector<Own> overrides{};       // of it, and of the tree's classes that derive from it
  Found old_ones{};                   // PyTorch's virtuals

  /// Whether it overrides that virtual. An override with a name that only one virtual has does, however its types are
  /// written.
  bool is_of(const Own& own, const Declaration& one, const Found& all) const {
    if (own.plain.name != one.name) return false;
    if (same_call(own.plain, one)) return true;
    const auto same_name = std::ranges::count(all, one.name, &Declaration::name);
    return same_name == 1 && own.plain.is_virtual &&
           std::ranges::count(own.plain.signature.parameters, ',') == std::ranges::count(one.signature.parameters, ',');
  }

  void report(const Declaration& where, bool breaks, std::string change, const std::string& name,
              const std::string& message, const std::string& hint, std::string old_text, std::string new_text) {
    if (!breaks && !noted.insert(change + name).second) return;
    const std::string& path = uses.files[static_cast<std::size_t>(where.file)].file->path;
    Location at{path, static_cast<int>(where.line), static_cast<int>(where.column)};
    Difference difference{{breaks ? Severity::Error : Severity::Note, "E0406", message, std::move(at), hint, {}},
                          "virtual",
                          std::move(change),
                          name,
                          std::move(old_text),
                          std::move(new_text)};
    const bool twice = std::ranges::any_of(out.differences, [&](const Difference& each) {
      return each.name == difference.name && each.change == difference.change &&
             each.what.at.file == difference.what.at.file && each.what.at.line == difference.what.at.line;
    });
    if (!twice) out.differences.push_back(std::move(difference));
  }

  std::string full(const Declaration& each) const { return each.scope + "::" + each.name; }

  void is_new(const Declaration& now) {
    const bool was_none = std::ranges::find(old_ones, now.name, &Declaration::name) == old_ones.end();
    for (const Own& own : overrides)
      if (same_call(own.plain, now) || (was_none && own.plain.name == now.name && own.plain.is_virtual))
        return report(*own.declaration, false, "new", full(now),
                      fmt::format("'{}' is new in PyTorch {}", full(now), after.version()), "the tree has it already",
                      {}, now.signature.shown);
    const std::string message = fmt::format("'{}' is new in PyTorch {}{}", full(now), after.version(),
                                            now.is_pure ? " and has no default" : "");
    report(*type, now.is_pure, "new", full(now), message,
           now.is_pure ? fmt::format("'{}' must have: {} override", type->name, now.signature.shown)
                       : fmt::format("its default is used; '{}' may need its own", type->name),
           {}, now.signature.shown);
  }

  void is_gone(const Declaration& was) {
    bool overridden = false;
    for (const Own& own : overrides) {
      if (!is_of(own, was, old_ones)) continue;
      overridden = true;
      report(*own.declaration, true, "gone", full(was),
             fmt::format("PyTorch {} has no virtual '{}' that this could override", after.version(), full(was)),
             "remove it here and where it is defined, if nothing else calls it", was.signature.shown, {});
    }
    if (!overridden)
      report(*type, false, "gone", full(was), fmt::format("PyTorch {} has no virtual '{}'", after.version(), full(was)),
             "the tree doesn't override it", was.signature.shown, {});
  }

  void is_changed(const Declaration& was, const Declaration& now) {
    const std::string what = same_call(was, now) && was.signature.result == now.signature.result
                                 ? now.is_final  ? " can't be overridden"
                                   : now.is_pure ? " has no default any more"
                                                 : " is noexcept"
                                 : " has another signature";
    bool overridden = false;
    for (const Own& own : overrides) {
      const bool as_now = same_call(own.plain, now) && own.plain.signature.result == now.signature.result &&
                          (is_noexcept(own.plain) || !is_noexcept(now)) && !now.is_final;
      if (!as_now && !is_of(own, was, old_ones)) continue;
      overridden = true;
      report(*own.declaration, !as_now, "changed", full(now),
             fmt::format("'{}'{} in PyTorch {}", full(now), what, after.version()),
             as_now ? "the tree has it so" : "write it here, and where it is defined, as it is declared now",
             was.signature.shown, now.signature.shown);
    }
    const bool matters_to_overrides =
        same_call(was, now) && was.signature.result == now.signature.result && !now.is_pure;
    if (!overridden && !matters_to_overrides)
      report(*type, now.is_pure, "changed", full(now),
             fmt::format("'{}'{} in PyTorch {}", full(now), what, after.version()),
             now.is_pure ? fmt::format("'{}' must have: {} override", type->name, now.signature.shown)
                         : "the tree doesn't override it",
             was.signature.shown, now.signature.shown);
  }

  bool differ(const Declaration& was, const Declaration& now) const {
    return was.signature.result != now.signature.result || (now.is_pure && !was.is_pure) ||
           (now.is_final && !was.is_final) || (is_noexcept(now) && !is_noexcept(was));
  }

  void compare(const Declaration& old_type, const Declaration& new_type) {
    Found gone, added;
    const Found new_ones = after.virtuals(new_type);
    old_ones = before.virtuals(old_type);
    out.virtuals += old_ones.size();
    const auto same = [](const Found& list, const Declaration& one) {
      const auto at = std::ranges::find_if(list, [&](const Declaration* each) { return same_call(*each, one); });
      return at == list.end() ? nullptr : *at;
    };
    for (const Declaration* each : old_ones) {
      const Declaration* now = same(new_ones, *each);
      if (now == nullptr)
        gone.push_back(each);
      else if (differ(*each, *now))
        is_changed(*each, *now);
    }
    for (const Declaration* each : new_ones) {
      if (same(old_ones, *each) != nullptr) continue;
      const auto was = std::ranges::find(gone, each->name, &Declaration::name);
      if (was == gone.end()) {
        is_new(*each);
      } else {
        is_changed(**was, *each);
        gone.erase(was);
      }
    }
    for (const Declaration* each : gone) is_gone(*each);
  }

  /// The tree's classes that derive from this one, with itself.
  std::vector<const Declaration*> family(const Declaration& first) const {
    std::vector<const Declaration*> found{&first};
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const Declaration& each : uses.declared.declarations)
        for (const auto& name : each.bases)
          if ((name == found[i]->name || name.ends_with("::" + found[i]->name)) && before.class_of(name) == nullptr &&
              !contains(found, &each))
            found.push_back(&each);
    return found;
  }

  const Declaration* pytorch_class(const Headers& headers, const std::string& name, const FileUses& file) const {
    if (const Declaration* found = headers.class_of(name)) return found;
    for (const auto& scope : file.opened)
      if (const Declaration* found = headers.class_of(name, scope)) return found;
    return nullptr;
  }

  void add(const Declaration& own) {
    overrides.push_back({&own, own});
    Signature& signature = overrides.back().plain.signature;
    signature.parameters = without_aliases(signature.parameters, aliases);
    signature.result = without_aliases(signature.result, aliases);
  }

  void run() {
    for (const Declaration& each : uses.declared.declarations)
      if (each.kind == Declaration::Name && !each.signature.result.empty())
        aliases.insert({each.name, each.signature.result});
    for (const Declaration& each : uses.declared.declarations) {
      std::vector<std::string> bases = each.bases;
      if (each.kind == Declaration::Name && !each.target.empty()) bases = {each.target};  // a template that it fills in
      const FileUses& file = uses.files[static_cast<std::size_t>(each.file)];
      for (const auto& name : bases) {
        const Declaration* old_type = pytorch_class(before, name, file);
        const Declaration* new_type = pytorch_class(after, name, file);
        if (old_type == nullptr || new_type == nullptr) continue;
        type = &each;
        overrides.clear();
        const auto classes = family(each);
        for (const Declaration& own : uses.declared.declarations)
          for (const Declaration* one : classes)
            if (own.kind == Declaration::Function && own.scope == one->qualified()) add(own);
        compare(*old_type, *new_type);
      }
    }
  }
};

}  // namespace

void compare_virtuals(const TreeUses& uses, const Headers& before, const Headers& after, ApiDrift& out) {
  Virtuals{uses, before, after, out}.run();
}

}  // namespace openreg_gen::api
