#include "api/compare.h"

#include "base/text.h"

#include <fmt/format.h>

#include <map>

namespace openreg_gen::api {
namespace {

bool is_function(const Declaration* each) { return each->kind == Declaration::Function; }

/// Whether a function of these takes that many arguments; also if one of them is not a function, which may take
/// anything.
bool takes(const Found& found, int arguments) {
  return std::ranges::any_of(found, [arguments](const Declaration* each) {
    const Signature& signature = each->signature;
    return !is_function(each) || (arguments >= signature.least && (signature.most < 0 || arguments <= signature.most));
  });
}

std::string parent(const std::string& name) {
  const auto colon = name.rfind("::");
  return colon == std::string::npos ? std::string() : name.substr(0, colon);
}
std::string last(const std::string& name) {
  const auto colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

struct Comparison {
  /// Of a member's name: what the classes have that the tree names, in both releases.
  struct Member {
    Found old_ones, new_ones;
    std::string owner;  // that had it and hasn't
  };

  const TreeUses& uses;
  Headers &before, &after;
  ApiDrift& out;
  std::set<std::string> own_macros{}, own_members{}, compared{};
  std::set<std::string> noted{};  // what may break is said once, and not for each file
  std::map<std::string, Member> members{};
  std::map<std::string, const Declaration*> types{};  // PyTorch's classes that the tree names, by their names

  // --- One file

  const FileUses* file = nullptr;
  std::vector<bool> seen_before{}, seen_after{};  // the files of PyTorch that it includes
  std::set<std::string> reported{};

  void report(const Use& use, std::string kind, std::string change, const std::string& message, const std::string& hint,
              std::string old_text = {}, std::string new_text = {}, Severity severity = Severity::Error) {
    auto& once = severity == Severity::Error ? reported : noted;
    if (!once.insert(kind + change + use.name).second) return;
    const char* code = kind == "header" || change == "moved" ? "E0408" : "E0407";
    Location at{file->file->path, static_cast<int>(use.line), static_cast<int>(use.column)};
    out.differences.push_back({{severity, code, message, std::move(at), hint, {}},
                               std::move(kind),
                               std::move(change),
                               use.name,
                               std::move(old_text),
                               std::move(new_text)});
  }

  bool visible(const Found& found, const std::vector<bool>& seen) const {
    return std::ranges::any_of(found, [&](const Declaration* each) { return is_seen(each->file, seen); });
  }
  static bool is_seen(int number, const std::vector<bool>& seen) {
    return number >= 0 && static_cast<std::size_t>(number) < seen.size() && seen[static_cast<std::size_t>(number)];
  }

  std::string was_in(const std::string& header) const {
    return fmt::format("; {} has it in <{}>", before.version(), header);
  }

  /// Of what is not where it was: where there is something of its name.
  std::string elsewhere(const std::string& name, bool is_type) {
    const std::string word = last(name), scope = last(parent(name));
    after.read_all_with(word);
    for (const auto& where : after.scopes_of(word)) {
      if (is_type && !scope.empty() && last(where) != scope && !after.is_namespace(where)) continue;
      if (!after.is_namespace(where) && (scope.empty() || last(where) != scope)) continue;
      const Found found = after.members(where, word);
      if (found.empty()) continue;
      return fmt::format("there is '{}' in <{}>", found[0]->qualified(), after.name_of(found[0]->file));
    }
    if (after.macro(word) != nullptr)
      return fmt::format("there is a macro of that name in <{}>", after.name_of(after.macro(word)->back().file));
    return "look at the release notes of PyTorch for what replaces it";
  }

  void header(const Use& use) {
    if (!Headers::is_own(use.name) || !before.has(use.name)) return;
    compared.insert(use.name);
    if (after.has(use.name)) return;
    const auto others = after.named(fs::path(use.name).filename().string());
    report(use, "header", others.empty() ? "gone" : "moved",
           fmt::format("PyTorch {} has no header <{}>", after.version(), use.name),
           others.empty() ? "find out what declares now what this file uses" : fmt::format("there is <{}>", others[0]));
  }

  void macro(const Use& use) {
    const auto* old_one = own_macros.contains(use.name) ? nullptr : before.macro(use.name);
    if (old_one == nullptr) return;
    const bool was_seen =
        std::ranges::any_of(*old_one, [&](const MacroAt& each) { return is_seen(each.file, seen_before); });
    if (!was_seen) return;
    compared.insert(use.name);
    const std::string where = before.name_of(old_one->back().file);
    const auto* new_one = after.macro(use.name);
    if (new_one == nullptr) {
      const std::string hint = elsewhere(use.name, false);  // reads more headers
      const bool moved = after.macro(use.name) != nullptr;
      return report(use, "macro", moved ? "moved" : "gone",
                    fmt::format("'{}' isn't a macro of the headers that are included, in PyTorch {}{}", use.name,
                                after.version(), was_in(where)),
                    moved ? fmt::format("#include <{}>", after.name_of(after.macro(use.name)->back().file)) : hint);
    }
    const bool now_seen =
        std::ranges::any_of(*new_one, [&](const MacroAt& each) { return is_seen(each.file, seen_after); });
    if (!now_seen)
      return report(use, "macro", "moved",
                    fmt::format("'{}' is in another header of PyTorch {}{}", use.name, after.version(), was_in(where)),
                    fmt::format("#include <{}>", after.name_of(new_one->back().file)));
    const auto fits = [&](const MacroAt& each) {
      if (use.arguments < 0) return true;
      const auto& parameters = each.macro.parameters;
      if (!each.macro.is_function) return true;
      const auto count = static_cast<std::size_t>(use.arguments);
      const bool any = !parameters.empty() && parameters.back().ends_with("...");
      return any ? count + 1 >= parameters.size()
                 : count == parameters.size() || (count == 0 && parameters.size() == 1);
    };
    if (std::ranges::any_of(*old_one, fits) && !std::ranges::any_of(*new_one, fits))
      report(use, "macro", "changed",
             fmt::format("'{}' takes {} arguments in PyTorch {}, and {} here", use.name,
                         new_one->back().macro.parameters.size(), after.version(), use.arguments),
             fmt::format("look at its definition in <{}>", after.name_of(new_one->back().file)));
  }

  /// All signatures of functions, sorted, with one that the other release lacks first.
  static std::vector<std::string> signatures(const Found& found) {
    std::vector<std::string> all;
    for (const Declaration* each : found)
      if (is_function(each)) all.push_back(each->signature.result + "(" + each->signature.parameters + ")");
    std::ranges::sort(all);
    return all;
  }
  static std::string shown_unless(const Found& found, const std::vector<std::string>& others) {
    for (const Declaration* each : found)
      if (is_function(each) && !contains(others, each->signature.result + "(" + each->signature.parameters + ")"))
        return each->signature.shown;
    return found.empty() ? "" : found[0]->signature.shown;
  }

  /// Functions of one name in both releases.
  void functions(const Use& use, const std::string& kind, const std::string& name, const Found& old_ones,
                 const Found& new_ones) {
    const auto old_list = signatures(old_ones), new_list = signatures(new_ones);
    if (old_list.empty() || new_list.empty() || old_list == new_list) return;
    const bool lost = std::ranges::any_of(old_list, [&](const auto& each) { return !contains(new_list, each); });
    if (!lost) return;
    const bool breaks = use.arguments >= 0 && takes(old_ones, use.arguments) && !takes(new_ones, use.arguments);
    report(use, kind, "changed",
           breaks ? fmt::format("'{}' takes no {} in PyTorch {}", name, count_of(use.arguments), after.version())
                  : fmt::format("'{}' has another signature in PyTorch {}", name, after.version()),
           breaks ? "call it as it is declared now" : "compare the call with what is declared now",
           shown_unless(old_ones, new_list), shown_unless(new_ones, old_list),
           breaks ? Severity::Error : Severity::Note);
  }
  static std::string count_of(int arguments) {
    return fmt::format("{} argument{}", arguments, arguments == 1 ? "" : "s");
  }

  void qualified(const Use& use, const std::string& name) {
    const Found old_ones = before.resolve(name);
    if (old_ones.empty()) {
      if (!before.is_namespace(name)) return;
      compared.insert(name);
      if (!after.is_namespace(name))
        report(use, "name", "gone", fmt::format("PyTorch {} has no namespace '{}'", after.version(), name),
               "look at the release notes of PyTorch for what replaces it");
      return;
    }
    compared.insert(name);
    const Found new_ones = after.resolve(name);
    const Declaration& old_one = *old_ones[0];
    const std::string where = before.name_of(old_one.file);
    if (new_ones.empty()) {
      const std::string hint = elsewhere(name, old_one.kind != Declaration::Function);
      const Found now = after.resolve(name);
      if (now.empty())
        return report(use, "name", "gone",
                      fmt::format("PyTorch {} has no '{}'{}", after.version(), name, was_in(where)), hint,
                      old_one.signature.shown);
      return moved(use, name, where, now);
    }
    if (visible(old_ones, seen_before) && !visible(new_ones, seen_after)) return moved(use, name, where, new_ones);
    functions(use, "name", name, old_ones, new_ones);
  }
  void moved(const Use& use, const std::string& name, const std::string& where, const Found& now) {
    report(use, "name", "moved",
           fmt::format("'{}' is in another header of PyTorch {}{}", name, after.version(), was_in(where)),
           fmt::format("#include <{}>", after.name_of(now[0]->file)));
  }

  const Member& member_of(const std::string& name) {
    const auto [at, is_new] = members.try_emplace(name);
    if (!is_new || before.scopes_of(name).empty()) return at->second;
    Member& found = at->second;
    for (const auto& [type, declaration] : types) {
      const Found had = before.members(type, name);
      if (had.empty()) continue;
      const Declaration* now = after.class_of(type);
      const Found has = now == nullptr ? Found() : after.members(now->qualified(), name);
      found.old_ones.insert(found.old_ones.end(), had.begin(), had.end());
      found.new_ones.insert(found.new_ones.end(), has.begin(), has.end());
      if (found.owner.empty() && has.empty() && now != nullptr) found.owner = type;
    }
    return found;
  }

  void member(const Use& use) {
    const auto& [old_ones, new_ones, owner] = member_of(use.name);
    if (old_ones.empty()) {  // of a class that the tree doesn't name
      const auto& scopes = before.scopes_of(use.name);
      const auto* type = find_if_class(scopes);
      if (type == nullptr || !after.scopes_of(use.name).empty() || own_members.contains(use.name)) return;
      compared.insert("." + use.name);
      return report(use, "member", "gone",
                    fmt::format("no class of the included headers has '{}' in PyTorch {}; '{}' had it", use.name,
                                after.version(), *type),
                    "look whether this is a member of that class", {}, {}, Severity::Note);
    }
    compared.insert("." + use.name);
    const bool sure = new_ones.empty() && !own_members.contains(use.name);
    if (!owner.empty())
      return report(use, "member", "gone",
                    fmt::format("'{}' has no member '{}' in PyTorch {}", owner, use.name, after.version()),
                    sure ? "look at the class for what replaces it" : "look whether this is a member of that class",
                    old_ones[0]->signature.shown, {}, sure ? Severity::Error : Severity::Note);
    if (!own_members.contains(use.name)) functions(use, "member", use.name, old_ones, new_ones);
  }
  const std::string* find_if_class(const std::vector<std::string>& scopes) const {
    for (const auto& scope : scopes)
      if (!before.is_namespace(scope)) return &scope;
    return nullptr;
  }

  void one(const Use& use) {
    switch (use.kind) {
      case Use::Header:
        return header(use);
      case Use::Macro:
        return macro(use);
      case Use::Member:
        return member(use);
      case Use::Name:
        break;
    }
    if (includes(use.name, "::") || before.is_namespace(use.name)) return qualified(use, use.name);
    for (const auto& scope : file->opened)
      if (!before.members(scope, use.name).empty()) return qualified(use, scope + "::" + use.name);
  }

  void run() {
    for (const auto& [name, list] : uses.declared.macros) own_macros.insert(name);
    for (const Declaration& each : uses.declared.declarations)
      if (!uses.declared.namespaces.contains(each.scope)) own_members.insert(each.name);
    const auto read = [](Headers& headers, const FileUses& each) {
      std::vector<int> numbers;
      for (const auto& name : each.includes)
        if (const auto number = headers.read(name)) numbers.push_back(*number);
      return numbers;
    };
    std::vector<std::pair<std::vector<int>, std::vector<int>>> included;
    for (const FileUses& each : uses.files) included.emplace_back(read(before, each), read(after, each));
    for (const FileUses& each : uses.files)
      for (const Use& use : each.uses)
        if (use.kind == Use::Name && includes(use.name, "::"))
          if (const Declaration* type = before.class_of(use.name)) types[type->qualified()] = type;
    for (std::size_t i = 0; i < uses.files.size(); ++i) {
      if (included[i].first.empty()) continue;  // it has nothing of PyTorch
      file = &uses.files[i];
      seen_before = before.closure(included[i].first);
      seen_after = after.closure(included[i].second);
      reported.clear();
      for (const Use& use : file->uses) one(use);
    }
    out.names += compared.size();
  }
};

}  // namespace

std::size_t ApiDrift::breaks() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(differences, [](const Difference& each) { return each.what.severity == Severity::Error; }));
}

void compare_cpp(const std::vector<SourceFile>& files, Headers& before, Headers& after, ApiDrift& out) {
  const TreeUses uses = read_uses(files, after.version());
  Comparison{uses, before, after, out}.run();
  compare_virtuals(uses, before, after, out);
  std::set<std::string> headers;
  for (const FileUses& each : uses.files)
    for (const Use& use : each.uses)
      if (use.kind == Use::Header && before.has(use.name)) headers.insert(use.name);
  out.headers += headers.size();
}

void sort_differences(ApiDrift& drift) {
  std::ranges::stable_sort(drift.differences, [](const Difference& a, const Difference& b) {
    return std::tie(a.what.severity, a.what.at.file, a.what.at.line, a.what.at.column) <
           std::tie(b.what.severity, b.what.at.file, b.what.at.line, b.what.at.column);
  });
}

}  // namespace openreg_gen::api
