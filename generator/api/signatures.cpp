#include "api/declarations.h"

#include "base/text.h"

#include <array>

namespace openreg_gen::api {
namespace {

using At = Tokens::const_iterator;

constexpr std::array<std::string_view, 14> kBuiltin{"int",   "long",     "short",  "char",    "bool",
                                                    "float", "double",   "void",   "signed",  "auto",
                                                    "const", "unsigned", "size_t", "volatile"};
constexpr std::array<std::string_view, 4> kElaborated{"struct", "class", "typename", "enum"};

int nesting(const Token& token) {
  if (token.kind != Token::Sign || token.text.size() != 1) return 0;
  return includes("(<[{", token.text) ? 1 : includes(")>]}", token.text) ? -1 : 0;
}

/// Where the type of a parameter ends: its name and its default are behind it.
At end_of_type(At begin, At end) {
  int depth = 0;
  for (At at = begin; at != end; ++at) {
    depth += nesting(*at);
    if (depth == 0 && at->is("=")) {
      end = at;
      break;
    }
  }
  if (end - begin < 2 || (end - 1)->kind != Token::Word || contains(kBuiltin, (end - 1)->text) || (end - 2)->is("::"))
    return end;
  const bool type_before = std::any_of(begin, end - 1, [](const Token& token) {
    return (token.kind == Token::Word && !token.is("const") && !token.is("volatile") &&
            !contains(kElaborated, token.text)) ||
           token.is("*") || token.is("&");
  });
  return type_before ? end - 1 : end;
}

}  // namespace

bool is_capital(std::string_view word) {
  return word.size() > 1 && std::ranges::any_of(word, is_upper) &&
         std::ranges::all_of(word, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

std::string joined(At begin, At end) {
  std::string out;
  for (At at = begin; at != end; ++at) {
    if (at->kind == Token::Directive) continue;
    const bool apart = at != begin && (at - 1)->text.data() + (at - 1)->text.size() != at->text.data();
    if (apart && !out.empty() && !out.ends_with('(') && !out.ends_with("::") && !includes(",)", at->text)) out += ' ';
    out += at->text;
  }
  return out;
}

std::string plain_type(At begin, At end) {
  std::string out;
  bool word_before = false;
  for (At at = begin; at != end; ++at) {
    if (at->kind == Token::Directive || contains(kElaborated, at->text)) continue;
    if (at->kind == Token::Word && at + 1 != end && (at + 1)->is("::")) continue;
    if (at->is("::")) continue;
    const bool word = at->kind == Token::Word || at->kind == Token::Number;
    if (word && is_capital(at->text) && at + 1 != end && (at + 1)->kind == Token::Word) continue;  // an attribute
    if (word && word_before) out += ' ';
    out += at->text;
    word_before = word;
  }
  const bool by_value = !out.ends_with('&') && !includes(out, "*");
  if (by_value && out.starts_with("const ")) out.erase(0, 6);
  return out;
}

void read_parameters(At begin, At end, Signature& out) {
  std::vector<std::pair<At, At>> parts;
  int depth = 0;
  At from = begin;
  for (At at = begin; at != end; ++at) {
    depth += nesting(*at);
    if (depth == 0 && at->is(",")) parts.emplace_back(from, at), from = at + 1;
  }
  if (from != end) parts.emplace_back(from, end);
  if (parts.size() == 1 && parts[0].second - parts[0].first == 1 && parts[0].first->is("void")) parts.clear();
  for (const auto& [first, last] : parts) {
    const At type_end = end_of_type(first, last);
    if (!out.parameters.empty()) out.parameters += ',';
    out.parameters += plain_type(first, type_end);
    const bool any = std::any_of(first, last, [](const Token& token) { return token.is("."); });
    if (any) {
      out.most = -1;
      continue;
    }
    if (out.most >= 0) ++out.most;
    const bool has_default = std::any_of(type_end, last, [](const Token& token) { return token.is("="); });
    if (!has_default) ++out.least;
  }
}

std::vector<std::string> arguments_at(const Tokens& tokens, std::size_t& open) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t from = open + 1;
  const auto add = [&](std::size_t to) { out.push_back(joined(tokens.begin() + from, tokens.begin() + to)); };
  for (std::size_t at = open; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.kind != Token::Sign) continue;
    if (includes("([{", token.text)) ++depth;
    if (includes(")]}", token.text)) --depth;
    if (depth == 1 && token.is(",")) add(at), from = at + 1;
    if (depth == 0) {
      if (at > from || !out.empty()) add(at);
      open = at + 1;
      return out;
    }
  }
  open = tokens.size();
  return out;
}

std::string expanded(const Macro& macro, const std::vector<std::string>& arguments) {
  std::string out;
  const Tokens body = tokens_of(macro.body);
  bool paste = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string text(body[i].text);
    if (text == "##") {
      while (out.ends_with(' ')) out.pop_back();
      paste = true;
      continue;
    }
    for (std::size_t p = 0; p < macro.parameters.size(); ++p) {
      const bool rest = macro.parameters[p] == "...";
      if (text != (rest ? "__VA_ARGS__" : macro.parameters[p])) continue;
      text = p < arguments.size() ? arguments[p] : "";
      for (std::size_t more = p + 1; rest && more < arguments.size(); ++more) text += ", " + arguments[more];
      break;
    }
    if (!paste && !out.empty()) out += ' ';
    out += text;
    paste = false;
  }
  return out;
}

}  // namespace openreg_gen::api
