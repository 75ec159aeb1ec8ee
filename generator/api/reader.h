// Reads declarations token by token: the state of api/declarations.cpp (scopes) and api/functions.cpp.
#pragma once

#include "api/declarations.h"

#include <string>
#include <vector>

namespace openreg_gen::api {

struct Frame {
  bool is_class = false;
  std::size_t scope_size = 0;  // of what surrounds it
};

struct Reader {
  const Tokens& tokens;
  int file;
  Declared& out;
  const OnInclude& on_include;
  std::string scope;
  bool in_class = false;
  int depth = 0;
  unsigned line = 0, column = 0;  // of the macro that is expanded
  std::size_t at = 0;
  std::vector<Frame> frames{};

  // --- Tokens

  bool more() {
    while (at < tokens.size() && tokens[at].kind == Token::Directive) directive(tokens[at++]);
    return at < tokens.size();
  }
  bool is(std::string_view text) { return more() && tokens[at].is(text); }
  bool is_word() { return more() && tokens[at].kind == Token::Word; }
  bool accept(std::string_view text) { return is(text) && (++at, true); }

  void directive(const Token& token) {
    const DirectiveLine line_of = read_directive(token.text);
    if (line_of.word == "define") {
      if (auto macro = read_define(line_of.rest)) out.macros[macro->name].push_back({*macro, file});
    } else if (line_of.word == "undef") {
      std::erase_if(out.macros[line_of.rest], [this](const MacroAt& each) { return each.file == file; });
    } else if (line_of.word == "include" && line_of.rest.size() > 2) {
      const bool quoted = line_of.rest[0] == '"';
      const auto end = line_of.rest.find(quoted ? '"' : '>', 1);
      if (end != std::string::npos) on_include(line_of.rest.substr(1, end - 1), quoted, token.line, token.column);
    }
  }

  /// Behind the bracket that closes the one here.
  void skip(std::string_view open, std::string_view close) {
    int level = 0;
    while (more()) {
      const Token& token = tokens[at++];
      if (token.is(open)) ++level;
      if (token.is(close) && --level == 0) return;
    }
  }
  void skip_angles() {
    int level = 0;
    while (more()) {
      if (is("(")) {
        skip("(", ")");
        continue;
      }
      if (is(";") || is("{")) return;
      const Token& token = tokens[at++];
      if (token.is("<")) ++level;
      if (token.is(">") && --level == 0) return;
    }
  }
  /// Behind the ; that ends the declaration here.
  void skip_statement() {
    while (more()) {
      if (accept(";")) return;
      if (is("}")) return;
      if (is("{"))
        skip("{", "}");
      else if (is("("))
        skip("(", ")");
      else
        ++at;
    }
  }

  // --- Scopes

  std::string inside(std::string_view name) const {
    return scope.empty() ? std::string(name) : scope + "::" + std::string(name);
  }
  void enter(std::string_view name, bool is_class) {
    frames.push_back({in_class, scope.size()});
    if (!name.empty()) scope = inside(name);
    in_class = is_class;
    if (!is_class) out.namespaces[scope] = true;
  }
  void leave() {
    if (frames.empty()) return;
    scope.resize(frames.back().scope_size);
    in_class = frames.back().is_class;
    frames.pop_back();
  }

  Declaration made(Declaration::Kind kind, std::string_view name, const Token& where) {
    Declaration declaration{kind, scope, std::string(name)};
    declaration.file = file;
    declaration.line = depth == 0 ? where.line : line;
    declaration.column = depth == 0 ? where.column : column;
    return declaration;
  }
  void add(Declaration::Kind kind, std::string_view name, const Token& where) {
    out.declarations.push_back(made(kind, name, where));
  }

  std::string qualified_name() {
    std::string name;
    accept("::");
    while (is_word()) {
      name += tokens[at++].text;
      if (is("<")) skip_angles();
      if (!is("::")) break;
      name += "::";
      ++at;
    }
    return name;
  }

  // --- Declarations

  void run();
  bool next_is(std::string_view text, std::size_t ahead = 1) const;
  void declaration();
  bool is_macro(std::string_view word) const;
  void read_namespace();
  void read_using();
  void read_typedef();
  void read_friend();
  void read_enum();
  void enumerators(Reader& where, const std::string& outer, bool scoped);
  bool read_class();
  void macro_call();

  // --- Functions and variables

  void generic();
  bool is_end_of_name();
  bool is_specifier(std::string_view word);
  void read_function(std::size_t begin, bool is_operator);
  std::size_t trailers(Declaration& declaration);
  void initialisers();
};

}  // namespace openreg_gen::api
