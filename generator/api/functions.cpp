// Functions with their signatures, and variables.
#include "api/reader.h"

#include "base/text.h"

#include <array>

namespace openreg_gen::api {
namespace {

constexpr std::array<std::string_view, 8> kSpecifiers{"virtual",  "static", "inline", "constexpr",
                                                      "explicit", "extern", "friend", "mutable"};
constexpr std::array<std::string_view, 7> kWithBrackets{"__attribute__", "alignas",    "decltype", "noexcept",
                                                        "explicit",      "__declspec", "requires"};

}  // namespace

/// A function, a variable, or what is not understood.
void Reader::generic() {
  const std::size_t begin = at;
  const Token* last = nullptr;
  const auto variable = [&] {
    if (last != nullptr) add(Declaration::Name, last->text, *last);
  };
  while (more()) {
    const Token& token = tokens[at];
    if (token.is("}")) return;
    if (token.is(";") || token.is("=") || token.is(":")) {
      variable();
      return skip_statement();
    }
    if (token.is("{")) {
      variable();
      skip("{", "}");
      accept(";");
      return;
    }
    if (token.is(",")) variable();
    if (token.is("operator")) return read_function(begin, true);
    if (token.is("<")) {
      skip_angles();
      continue;
    }
    if (token.is("[")) {
      skip("[", "]");
      continue;
    }
    if (token.is("(")) {
      const bool named = at > begin && tokens[at - 1].kind == Token::Word;
      const std::string_view before = named ? tokens[at - 1].text : std::string_view();
      if (named && (contains(kWithBrackets, before) ||
                    (is_capital(before) && last != nullptr && at - 1 > begin && !is_end_of_name()))) {
        skip("(", ")");
        continue;
      }
      if (named && !next_is("*")) return read_function(begin, false);
      for (std::size_t i = at + 1; i < tokens.size() && !tokens[i].is(")") && !tokens[i].is(";"); ++i)
        if (tokens[i].kind == Token::Word) last = &tokens[i];
      variable();  // a pointer to a function
      return skip_statement();
    }
    if (token.kind == Token::Word && !is_specifier(token.text)) last = &token;
    ++at;
  }
}

/// Whether what the brackets here enclose is followed by the end of a declaration: then a capital word is its name.
bool Reader::is_end_of_name() {
  std::size_t level = 0, i = at;
  for (; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++level;
    if (tokens[i].is(")") && --level == 0) break;
  }
  return i + 1 < tokens.size() && (tokens[i + 1].is(";") || tokens[i + 1].is("{") || tokens[i + 1].is("const"));
}

bool Reader::is_specifier(std::string_view word) { return contains(kSpecifiers, word); }

void Reader::read_function(std::size_t begin, bool is_operator) {
  std::size_t name_at = is_operator ? at : at - 1;
  Declaration declaration = made(Declaration::Function, tokens[name_at].text, tokens[name_at]);
  if (is_operator) {
    const std::size_t from = at++;
    if (is("(")) at += 2;  // operator()
    while (more() && !is("(") && !is(";")) ++at;
    declaration.name = joined(tokens.begin() + from, tokens.begin() + at);
  }
  const bool of_class = name_at > begin && tokens[name_at - 1].is("::");
  if (name_at > begin && tokens[name_at - 1].is("~")) declaration.name = "~" + declaration.name, --name_at;
  const std::size_t open = at;
  skip("(", ")");
  Signature& signature = declaration.signature;
  if (at > open + 1) read_parameters(tokens.begin() + open + 1, tokens.begin() + at - 1, signature);
  std::size_t first = begin;
  for (std::size_t i = begin; i < name_at; ++i) {
    const Token& token = tokens[i];
    declaration.is_virtual = declaration.is_virtual || token.is("virtual");
    const bool attribute = token.kind == Token::Word && is_capital(token.text) && i + 1 < name_at;
    if (i == first && (attribute || is_specifier(token.text))) ++first;
    if (i == first && token.is("[") && i + 1 < name_at && tokens[i + 1].is("["))
      while (first + 1 < name_at && !(tokens[first++].is("]") && tokens[first].is("]"))) {
      }
    if (i == first && token.is("]")) ++first;
  }
  signature.result = plain_type(tokens.begin() + first, tokens.begin() + name_at);
  const std::size_t end = trailers(declaration);
  signature.shown = joined(tokens.begin() + first, tokens.begin() + end);
  if (!of_class) out.declarations.push_back(std::move(declaration));
}

/// What follows the parameters, and the body; the end of what belongs to the signature.
std::size_t Reader::trailers(Declaration& declaration) {
  std::string& qualifiers = declaration.signature.qualifiers;
  std::size_t end = at;
  while (more()) {
    if (is("const") || is("volatile") || is("&") || is("&&")) {
      qualifiers += (qualifiers.empty() ? "" : " ") + std::string(tokens[at++].text);
      end = at;
    } else if (accept("noexcept")) {
      qualifiers += qualifiers.empty() ? "noexcept" : " noexcept";
      if (is("(")) skip("(", ")");
      end = at;
    } else if (accept("override")) {
      declaration.is_override = declaration.is_virtual = true;
    } else if (accept("final")) {
      declaration.is_final = declaration.is_virtual = true;
    } else if (accept("->")) {
      const std::size_t from = at;
      while (more() && !is(";") && !is("{") && !is("=") && !is("override") && !is("final")) ++at;
      declaration.signature.result = plain_type(tokens.begin() + from, tokens.begin() + at);
      end = at;
    } else if (accept("=")) {
      declaration.is_pure = is("0");
      skip_statement();
      return end;
    } else if (accept(";")) {
      return end;
    } else if (is("{")) {
      skip("{", "}");
      return end;
    } else if (is("}")) {
      return end;
    } else if (accept(":")) {
      initialisers();
    } else if (is("(")) {
      skip("(", ")");
    } else {
      ++at;
    }
  }
  return end;
}

/// Of a constructor: each with its brackets, up to the body.
void Reader::initialisers() {
  while (more() && !is(";") && !is("}")) {
    if (is("<")) {
      skip_angles();
    } else if (is("(")) {
      skip("(", ")");
    } else if (is("{")) {
      const Token& before = tokens[at - 1];
      if (before.kind != Token::Word && !before.is(">")) return;  // the body
      skip("{", "}");
    } else {
      ++at;
    }
  }
}

}  // namespace openreg_gen::api
