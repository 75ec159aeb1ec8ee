#include "api/declarations.h"

#include "api/reader.h"
#include "base/text.h"

namespace openreg_gen::api {
namespace {

constexpr int kMostExpansions = 6;

}  // namespace

void Reader::run() {
  while (more()) {
    if (accept(";")) continue;
    if (accept("}"))
      leave();
    else if (tokens[at].kind == Token::Word || is("~") || is("[") || is("::"))
      declaration();
    else if (is("{"))
      skip("{", "}");
    else
      ++at;
  }
}

bool Reader::next_is(std::string_view text, std::size_t ahead) const {
  return at + ahead < tokens.size() && tokens[at + ahead].is(text);
}

void Reader::declaration() {
  const Token& first = tokens[at];
  const std::string_view word = first.text;
  if ((word == "public" || word == "private" || word == "protected") && next_is(":")) {
    at += 2;
  } else if (word == "namespace" || (word == "inline" && next_is("namespace"))) {
    read_namespace();
  } else if (word == "extern" && at + 1 < tokens.size() && tokens[at + 1].kind == Token::Text) {
    at += 2;
    if (accept("{")) frames.push_back({in_class, scope.size()});
  } else if (word == "template") {
    ++at;
    if (is("<")) skip_angles();
  } else if (word == "using") {
    read_using();
  } else if (word == "typedef") {
    read_typedef();
  } else if (word == "friend") {
    read_friend();
  } else if (word == "static_assert") {
    skip_statement();
  } else if (word == "enum") {
    read_enum();
  } else if ((word == "class" || word == "struct" || word == "union") && read_class()) {
  } else if (word == "HIDDEN_NAMESPACE_BEGIN" && next_is("(")) {
    ++at;
    std::string names;
    for (const auto& each : arguments_at(tokens, at)) names += (names.empty() ? "" : "::") + each;
    enter(names, false);
  } else if (word == "HIDDEN_NAMESPACE_END" && next_is("(")) {
    ++at;
    skip("(", ")");
    leave();
  } else if (first.kind == Token::Word && next_is("(") && (is_capital(word) || is_macro(word))) {
    macro_call();
  } else {
    generic();
  }
}

bool Reader::is_macro(std::string_view word) const {
  const auto found = out.macros.find(std::string(word));
  return found != out.macros.end() && !found->second.empty() && found->second.back().macro.is_function;
}

void Reader::read_namespace() {
  const bool is_inline = accept("inline");
  ++at;
  std::string name;
  while (is_word() || is("::")) {
    if (is("inline") || is_capital(tokens[at].text))
      ++at;  // an attribute
    else
      name += tokens[at++].text;
  }
  while (is("[")) skip("[", "]");
  if (accept("=")) {
    out.renamed.emplace_back(inside(name), qualified_name());
    accept(";");
    return;
  }
  if (!accept("{")) return;
  if (is_inline || name.empty()) out.opened.emplace_back(scope, inside(name));
  enter(name, false);
}

void Reader::read_using() {
  ++at;
  if (accept("namespace")) {
    out.opened.emplace_back(scope, qualified_name());
    return skip_statement();
  }
  accept("typename");
  const Token& name = tokens[std::min(at, tokens.size() - 1)];
  if (is_word() && next_is("=")) {
    at += 2;
    Declaration alias = made(Declaration::Name, name.text, name);
    accept("typename");
    const std::size_t from = at;
    alias.target = qualified_name();
    at = from;
    skip_statement();
    if (at > from) alias.signature.result = plain_type(tokens.begin() + from, tokens.begin() + at - 1);
    out.declarations.push_back(std::move(alias));
    return;
  }
  do {
    accept("typename");
    const Token& where = tokens[std::min(at, tokens.size() - 1)];
    const std::string target = qualified_name();
    const auto colon = target.rfind("::");
    if (colon == std::string::npos) break;
    Declaration alias = made(Declaration::Using, target.substr(colon + 2), where);
    alias.target = target;
    out.declarations.push_back(std::move(alias));
  } while (accept(","));
  skip_statement();
}

void Reader::read_typedef() {
  const std::size_t begin = at;
  skip_statement();
  for (std::size_t i = begin + 1; i + 1 < at; ++i)  // typedef R (*name)(...)
    if (tokens[i].is("*") && tokens[i - 1].is("(") && tokens[i + 1].kind == Token::Word)
      return add(Declaration::Name, tokens[i + 1].text, tokens[i + 1]);
  if (at >= begin + 3 && tokens[at - 2].kind == Token::Word)
    add(Declaration::Name, tokens[at - 2].text, tokens[at - 2]);
}

void Reader::read_friend() {
  while (more()) {
    if (accept(";")) return;
    if (is("}")) return;
    if (is("(")) {
      skip("(", ")");
    } else if (is("{")) {
      skip("{", "}");
      return;
    } else {
      ++at;
    }
  }
}

void Reader::read_enum() {
  const std::size_t begin = at++;
  const bool scoped = accept("class") || accept("struct");
  std::string_view name;
  const Token* where = &tokens[begin];
  while (is_word()) {
    name = tokens[at].text;
    where = &tokens[at++];
    if (is("(")) skip("(", ")");
  }
  if (accept(":"))
    while (more() && !is("{") && !is(";")) ++at;
  if (!is("{")) {
    at = begin + 1;
    if (is("class") || is("struct")) ++at;
    return generic();  // an opaque declaration, or a variable
  }
  ++at;
  if (!name.empty()) add(Declaration::Name, name, *where);
  const std::string outer = scope;
  if (!name.empty()) scope = inside(name);
  enumerators(*this, outer, scoped || name.empty());
  scope = outer;
}

/// Up to the closing bracket, or the end of an expanded macro.
void Reader::enumerators(Reader& where, const std::string& outer, bool scoped) {
  while (more() && !accept("}")) {
    if (!is_word()) {
      ++at;
      continue;
    }
    const Token& name = tokens[at];
    if (next_is("(") && is_macro(name.text) && depth < kMostExpansions) {
      const Macro macro = out.macros[std::string(name.text)].back().macro;
      ++at;
      const std::string text = expanded(macro, arguments_at(tokens, at));
      const Tokens inner = tokens_of(text);
      Reader reader{inner,
                    file,
                    out,
                    on_include,
                    scope,
                    in_class,
                    depth + 1,
                    depth == 0 ? name.line : line,
                    depth == 0 ? name.column : column};
      reader.enumerators(where, outer, scoped);
      continue;
    }
    ++at;
    Declaration declaration = made(Declaration::Enumerator, name.text, name);
    if (!scoped) {
      Declaration beside = declaration;
      beside.scope = outer;
      out.declarations.push_back(std::move(beside));
    }
    out.declarations.push_back(std::move(declaration));
    while (more() && !is(",") && !is("}")) {  // its value
      if (is("("))
        skip("(", ")");
      else if (is("{"))
        skip("{", "}");
      else
        ++at;
    }
  }
}

/// False, and where it was, if no class is defined here.
bool Reader::read_class() {
  const std::size_t begin = at++;
  std::string name;
  const Token* where = &tokens[begin];
  while (more()) {
    if (is("[")) {
      skip("[", "]");
    } else if (is_word() && (next_is("(") || is("alignas"))) {
      ++at;
      if (is("(")) skip("(", ")");
    } else if (is_word() && !is("final")) {
      where = &tokens[at];
      name = qualified_name();
    } else {
      break;
    }
  }
  const bool is_final = accept("final");
  if (!is("{") && !is(":")) {
    if (accept(";")) return true;  // declared, not defined
    at = begin;
    ++at;
    return generic(), true;
  }
  Declaration declaration = made(Declaration::Class, name, *where);
  declaration.is_final = is_final;
  if (accept(":")) {
    while (more() && !is("{") && !is(";")) {
      if (is_word() && !is("public") && !is("private") && !is("protected") && !is("virtual")) {
        declaration.bases.push_back(qualified_name());
        if (is("(")) skip("(", ")");
      } else {
        ++at;
      }
    }
  }
  if (!accept("{")) return true;
  if (!name.empty()) out.declarations.push_back(std::move(declaration));
  enter(name, true);
  return true;
}

void Reader::macro_call() {
  const Token& name = tokens[at++];
  const auto arguments = arguments_at(tokens, at);
  if (is_macro(name.text) && depth < kMostExpansions) {
    const Macro macro = out.macros[std::string(name.text)].back().macro;
    const std::string text = expanded(macro, arguments);
    const Tokens inner = tokens_of(text);
    Reader reader{inner,
                  file,
                  out,
                  on_include,
                  scope,
                  in_class,
                  depth + 1,
                  depth == 0 ? name.line : line,
                  depth == 0 ? name.column : column};
    reader.run();
  } else {
    for (const auto& each : arguments)
      if (is_identifier(each)) add(Declaration::Name, each, name);
  }
  if (is("{")) skip("{", "}");
  accept(";");
}

void read_declarations(const Tokens& tokens, int file, Declared& out, const OnInclude& on_include) {
  Reader reader{tokens, file, out, on_include, {}};
  reader.run();
}

}  // namespace openreg_gen::api
