#include "api/uses.h"

#include "base/text.h"

#include <array>
#include <map>

namespace openreg_gen::api {
namespace {

/// PyTorch's namespaces; what it declares elsewhere is its own affair.
constexpr std::array<std::string_view, 5> kRoots{"at", "c10", "torch", "c10d", "caffe2"};

/// The tree's macros with a text, each that has one definition, and PyTorch's version.
struct Known {
  std::map<std::string, std::string, std::less<>> texts;
  std::set<std::string, std::less<>> several;

  void add(const Macro& macro) {
    if (macro.is_function || macro.body.empty()) return;
    const auto [at, is_new] = texts.insert({macro.name, macro.body});
    if (!is_new && at->second != macro.body) several.insert(macro.name);
  }
  void set_version(std::string_view version) {
    for (const char* name : {"TORCH_VERSION_MAJOR", "TORCH_VERSION_MINOR", "TORCH_VERSION_PATCH"}) {
      const auto end = std::min(version.find('.'), version.size());
      const auto number = version.substr(0, end);
      const bool digits = !number.empty() && std::ranges::all_of(number, is_digit);
      if (digits) texts[name] = std::string(number);
      version.remove_prefix(std::min(end + 1, version.size()));
    }
  }
  std::optional<std::string> text(std::string_view name) const {
    const auto at = texts.find(name);
    if (at == texts.end() || several.contains(name)) return {};
    return at->second;
  }
};

struct Scan {
  const Tokens& tokens;
  FileUses& out;
  const Token* place = nullptr;  // of the #define that has these tokens
  std::size_t at = 0;

  void add(Use::Kind kind, std::string name, const Token& token, int arguments = -1) {
    const Token& where = place != nullptr ? *place : token;
    out.uses.push_back({kind, std::move(name), arguments, where.line, where.column});
  }
  bool is(std::size_t index, std::string_view text) const { return index < tokens.size() && tokens[index].is(text); }

  /// Of the call whose bracket is at `open`.
  int count_arguments(std::size_t open) const {
    if (!is(open, "(")) return -1;
    const auto arguments = arguments_at(tokens, open);
    for (const auto& each : arguments)
      if (includes(each, "...")) return -1;
    return static_cast<int>(arguments.size());
  }

  void define(const Token& token) {
    const DirectiveLine line = read_directive(token.text);
    if (line.word != "define") return;
    const auto macro = read_define(line.rest);
    if (!macro) return;
    const Tokens body = tokens_of(macro->body);
    Scan{body, out, place != nullptr ? place : &token}.run();
  }

  void name() {
    const std::size_t begin = at;
    std::string full(tokens[at++].text);
    while (is(at, "::") && at + 1 < tokens.size() && tokens[at + 1].kind == Token::Word) {
      full += "::" + std::string(tokens[at + 1].text);
      at += 2;
    }
    const bool opens = begin > 0 && tokens[begin - 1].is("namespace");
    if (opens)
      out.opened.push_back(full);
    else
      add(Use::Name, full, tokens[at - 1], count_arguments(at));
  }

  void run() {
    while (at < tokens.size()) {
      const Token& token = tokens[at];
      if (token.kind == Token::Directive) define(token);
      if (token.kind != Token::Word) {
        ++at;
        continue;
      }
      const bool pack = at > 1 && tokens[at - 1].is(".") && tokens[at - 2].is(".");
      const bool member = at > 0 && !pack && (tokens[at - 1].is(".") || tokens[at - 1].is("->"));
      const bool qualified = at > 1 && tokens[at - 1].is("::") && tokens[at - 2].kind == Token::Word;
      if (member) {
        add(Use::Member, std::string(token.text), token, count_arguments(at + 1));
      } else if (!qualified && contains(kRoots, token.text) &&
                 (is(at + 1, "::") || (at > 0 && tokens[at - 1].is("namespace")))) {
        name();
        continue;
      } else if (!qualified && !is(at + 1, "::")) {
        if (is_capital(token.text))
          add(Use::Macro, std::string(token.text), token, count_arguments(at + 1));
        else
          add(Use::Name, std::string(token.text), token, count_arguments(at + 1));
      }
      ++at;
    }
  }
};

/// The tree's own file that an #include means: beside the one that includes it, or by the end of its path.
const SourceFile* own_file(const std::vector<SourceFile>& files, const std::string& from, const std::string& name) {
  const auto beside = (fs::path(from).parent_path() / name).lexically_normal().generic_string();
  if (const auto* found = find_by(files, beside, &SourceFile::path)) return found;
  for (const SourceFile& file : files)
    if (file.path == name || file.path.ends_with("/" + name)) return &file;
  return nullptr;
}

}  // namespace

TreeUses read_uses(const std::vector<SourceFile>& files, const std::string& torch_version) {
  Known known;
  for (const SourceFile& file : files)
    for (const Token& token : tokens_of(file.text)) {
      if (token.kind != Token::Directive) continue;
      const DirectiveLine line = read_directive(token.text);
      if (line.word != "define") continue;
      if (const auto macro = read_define(line.rest)) known.add(*macro);
    }
  known.set_version(torch_version);
  const MacroText macros = [&](std::string_view name) { return known.text(name); };

  TreeUses out;
  std::vector<std::vector<const SourceFile*>> own(files.size());
  std::vector<std::vector<std::string>> direct(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileUses uses{&files[i], {}, {}, {}};
    const Tokens tokens = without_dead_branches(tokens_of(files[i].text), macros);
    const OnInclude on_include = [&](const std::string& name, bool, unsigned line, unsigned column) {
      if (const auto* file = own_file(files, files[i].path, name)) {
        own[i].push_back(file);
      } else {
        direct[i].push_back(name);
        uses.uses.push_back({Use::Header, name, -1, line, column});
      }
    };
    read_declarations(tokens, static_cast<int>(i), out.declared, on_include);
    Scan{tokens, uses}.run();
    out.files.push_back(std::move(uses));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<const SourceFile*> all{&files[i]};
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto number = static_cast<std::size_t>(all[k] - files.data());
      auto& to = out.files[i].includes;
      to.insert(to.end(), direct[number].begin(), direct[number].end());
      for (const SourceFile* other : own[number])
        if (!contains(all, other)) all.push_back(other);
    }
  }
  return out;
}

}  // namespace openreg_gen::api
