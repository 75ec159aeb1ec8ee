// The conditions of #if, with what is known of macros, and the branches that remain.
#include "api/tokens.h"

#include "base/text.h"

#include <charconv>
#include <set>

namespace openreg_gen::api {
namespace {

/// Macros of other systems and compilers: never defined where a tree is built.
const std::set<std::string_view> kAbsent{"_WIN32",
                                         "_WIN64",
                                         "_MSC_VER",
                                         "__APPLE__",
                                         "__CUDACC__",
                                         "__CUDA_ARCH__",
                                         "__HIPCC__",
                                         "__HIP_PLATFORM_AMD__",
                                         "USE_ROCM",
                                         "__ANDROID__",
                                         "C10_MOBILE",
                                         "__EMSCRIPTEN__",
                                         "__SYCL_DEVICE_ONLY__"};

using Value = std::optional<long long>;

/// Precedence climbing over the few operators that conditions have. An unknown operand makes the whole unknown, unless
/// && or || is decided by the other one.
struct Condition {
  const MacroText& macros;
  Tokens tokens;
  int depth = 0;
  std::size_t at = 0;

  bool accept(std::string_view sign) {
    if (at >= tokens.size() || !tokens[at].is(sign)) return false;
    ++at;
    return true;
  }
  bool accept_pair(std::string_view sign) {  // "||", "<<": two tokens
    if (at + 1 >= tokens.size() || !tokens[at].is(sign) || !tokens[at + 1].is(sign)) return false;
    at += 2;
    return true;
  }

  Value word(std::string_view name) {
    if (name == "true") return 1;
    if (name == "false" || kAbsent.contains(name)) return 0;
    const auto text = macros(name);
    if (!text || depth > 20) return {};
    return Condition{macros, tokens_of(*text), depth + 1}.whole();
  }

  Value primary() {
    if (at >= tokens.size()) return {};
    if (accept("!")) {
      const Value value = primary();
      return value ? Value(*value == 0) : Value();
    }
    if (accept("-")) {
      const Value value = primary();
      return value ? Value(-*value) : Value();
    }
    if (accept("(")) {
      const Value value = either();
      accept(")");
      return value;
    }
    const Token token = tokens[at++];
    if (token.kind == Token::Number) {
      long long number = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      return number;
    }
    if (token.is("defined")) {
      const bool closed = accept("(");
      if (at >= tokens.size()) return {};
      const std::string_view name = tokens[at++].text;
      if (closed) accept(")");
      if (kAbsent.contains(name)) return 0;
      return macros(name) ? Value(1) : Value();
    }
    if (token.kind != Token::Word) return {};
    if (at < tokens.size() && tokens[at].is("(")) {  // __has_include(...) and the like
      int open = 0;
      do {
        open += tokens[at].is("(") ? 1 : tokens[at].is(")") ? -1 : 0;
      } while (++at < tokens.size() && open > 0);
      return {};
    }
    return word(token.text);
  }

  template <class Next, class Join>
  Value joined(const Value& left, Next next, Join join) {
    const Value right = next();
    return left && right ? Value(join(*left, *right)) : Value();
  }

  Value product() {
    Value value = primary();
    for (;;) {
      if (accept("*"))
        value = joined(value, [&] { return primary(); }, [](auto a, auto b) { return a * b; });
      else if (accept("/"))
        value = joined(value, [&] { return primary(); }, [](auto a, auto b) { return b == 0 ? 0 : a / b; });
      else
        return value;
    }
  }
  Value sum() {
    Value value = product();
    for (;;) {
      if (accept("+"))
        value = joined(value, [&] { return product(); }, [](auto a, auto b) { return a + b; });
      else if (accept("-"))
        value = joined(value, [&] { return product(); }, [](auto a, auto b) { return a - b; });
      else
        return value;
    }
  }
  Value comparison() {
    const Value value = sum();
    if (accept(">=")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a >= b; });
    if (accept("<=")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a <= b; });
    if (accept("==")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a == b; });
    if (accept("!=")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a != b; });
    if (accept(">")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a > b; });
    if (accept("<")) return joined(value, [&] { return sum(); }, [](auto a, auto b) { return a < b; });
    return value;
  }
  Value both() {
    Value value = comparison();
    while (accept("&&")) {
      const Value right = comparison();
      if ((value && *value == 0) || (right && *right == 0))
        value = 0;
      else
        value = value && right ? Value(1) : Value();
    }
    return value;
  }
  Value either() {
    Value value = both();
    while (accept_pair("|")) {
      const Value right = both();
      if ((value && *value != 0) || (right && *right != 0))
        value = 1;
      else
        value = value && right ? Value(0) : Value();
    }
    return value;
  }
  Value whole() {
    const Value value = either();
    return at == tokens.size() ? value : Value();
  }
};

struct Branch {
  std::optional<bool> taken;
  Tokens tokens{};
};

bool balanced(const Tokens& tokens) {
  int round = 0, curly = 0;
  for (const Token& token : tokens) {
    if (token.kind != Token::Sign) continue;
    round += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
    curly += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
    if (round < 0 || curly < 0) return false;
  }
  return round == 0 && curly == 0;
}

void append(Tokens& out, const Tokens& more) { out.insert(out.end(), more.begin(), more.end()); }

struct Choice {
  const Tokens& tokens;
  MacroText macros;
  std::size_t at = 0;

  /// Up to the #elif, #else or #endif that ends the branch, or the end.
  Tokens branch() {
    Tokens out;
    while (at < tokens.size()) {
      const Token& token = tokens[at];
      if (token.kind != Token::Directive) {
        out.push_back(token), ++at;
        continue;
      }
      const std::string word = read_directive(token.text).word;
      if (word == "if" || word == "ifdef" || word == "ifndef")
        append(out, group());
      else if (word == "elif" || word == "else" || word == "endif")
        return out;
      else
        out.push_back(token), ++at;
    }
    return out;
  }

  std::optional<bool> condition(const DirectiveLine& line) const {
    if (line.word == "else") return true;
    if (line.word == "ifdef") return evaluate("defined(" + line.rest + ")", macros);
    if (line.word == "ifndef") return evaluate("!defined(" + line.rest + ")", macros);
    return evaluate(line.rest, macros);
  }

  Tokens group() {
    std::vector<Branch> branches;
    bool decided = false;  // an earlier branch certainly counts
    while (at < tokens.size()) {
      const DirectiveLine line = read_directive(tokens[at++].text);
      if (line.word == "endif") break;
      const auto taken = decided ? std::optional(false) : condition(line);
      Branch found{taken, branch()};
      if (taken != std::optional(false)) branches.push_back(std::move(found));
      decided = decided || taken == std::optional(true);
    }
    const bool all = std::ranges::all_of(branches, [](const Branch& each) { return balanced(each.tokens); });
    Tokens out;
    for (const Branch& each : branches) {
      append(out, each.tokens);
      if (!all) break;
    }
    return out;
  }
};

}  // namespace

std::optional<bool> evaluate(std::string_view condition, const MacroText& macros) {
  const std::string text(condition);
  const Value value = Condition{macros, tokens_of(text)}.whole();
  return value ? std::optional(*value != 0) : std::nullopt;
}

Tokens without_dead_branches(const Tokens& tokens, const MacroText& macros) {
  Choice choice{tokens, macros};
  Tokens out;
  out.reserve(tokens.size());
  while (choice.at < tokens.size()) {
    append(out, choice.branch());
    if (choice.at < tokens.size()) ++choice.at;  // an #else or #endif without its #if
  }
  return out;
}

}  // namespace openreg_gen::api
