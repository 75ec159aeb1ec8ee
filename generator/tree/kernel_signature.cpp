#include "tree/kernel_signature.h"

#include "base/text.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// Comments and literals become blanks; each character keeps its place.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto erase = [&out](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && i < out.size(); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (text[i] == '"' || text[i] == '\'') {
      for (; end < text.size() && text[end] != text[i] && text[end] != '\n'; ++end) end += text[end] == '\\';
      ++end;
    } else if (is_word(text[i])) {
      const auto belongs = [&](char c) { return is_word(c) || (c == '\'' && is_digit(text[i])); };  // 1'000
      while (end < text.size() && belongs(text[end])) ++end;
      const bool raw = text.substr(end, 1) == "\"" && has_word("R LR uR UR u8R", text.substr(i, end - i));
      if (raw) {
        const std::size_t open = std::min(text.find('(', end), text.size());
        const std::string close = fmt::format("){}\"", text.substr(end + 1, open - end - 1));
        const std::size_t found = text.find(close, open);
        end = found == std::string_view::npos ? text.size() : found + close.size();
      } else {
        i = end;
        continue;
      }
    } else {
      ++i;
      continue;
    }
    erase(i, end);
    i = end;
  }
  return out;
}

/// What of `#if` ... `#else` ... `#endif` is code: each branch, only first ones, only `#else`, or only `#else` where
/// there is one.
enum class Branches { All, First, Else, Last };

/// The branches' text; directives and other branches become blanks. `code` has no comments.
std::string with_branches(std::string_view code, Branches branches) {
  struct Block {
    std::size_t place;  // in `wanted`
    bool first;
  };
  std::vector<int> wanted;    // of each `#if`, in order: 1 if it has an `#else`
  std::vector<Block> blocks;  // that are open
  std::string out;
  for (const bool counts : {true, false}) {
    std::size_t next = 0;
    out = code;
    blocks.clear();
    for (std::size_t i = 0; i < code.size();) {
      std::size_t end = std::min(code.find('\n', i), code.size());
      const std::string_view line = trimmed(code.substr(i, end - i));
      const bool directive = line.starts_with('#');
      while (directive && end < code.size() && trimmed(code.substr(i, end - i)).ends_with('\\'))
        end = std::min(code.find('\n', end + 1), code.size());
      if (directive) {
        const std::string_view word = trimmed(line.substr(1));
        if (word.starts_with("if")) {
          if (counts) wanted.push_back(0);
          blocks.push_back({next++, true});
        } else if (word.starts_with("el") && !blocks.empty()) {
          blocks.back().first = false;
          if (word.starts_with("else")) wanted[blocks.back().place] = 1;
        } else if (word.starts_with("endif") && !blocks.empty()) {
          blocks.pop_back();
        }
      }
      const bool left_out = std::ranges::any_of(blocks, [&](const Block& block) {
        const bool has_else = wanted[block.place] != 0;
        return (branches == Branches::First && !block.first) || (branches == Branches::Else && block.first) ||
               (branches == Branches::Last && block.first && has_else);
      });
      if (directive || left_out)
        for (std::size_t k = i; k < end; ++k)
          if (out[k] != '\n') out[k] = ' ';
      i = end + 1;
    }
  }
  return out;
}

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (is_space(text[i])) {
      i = end;
      continue;
    }
    if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (text.substr(i, 2) == "::" || text.substr(i, 2) == "[[" || text.substr(i, 2) == "]]") {
      end = i + 2;
    }
    out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

bool word(const std::string& token) { return is_word(token[0]); }

bool needs_a_noun(const std::string& token) {
  return token == "const" || token == "unsigned" || token == "signed" || token == "long" || token == "::";
}

/// "const at::Tensor& self = {}" -> {"const Tensor &", "self"}.
KernelParameter parameter_of(std::string_view text, bool named) {
  std::vector<std::string> list = tokens(text);
  list.erase(std::ranges::find(list, "="), list.end());
  if (const auto open = std::ranges::find(list, "[["); open != list.end()) {
    const auto close = std::find(open, list.end(), "]]");
    list.erase(open, close == list.end() ? close : close + 1);
  }
  std::erase_if(list, [](const std::string& t) { return t == "static" || t == "inline" || t == "virtual"; });
  KernelParameter out;
  if (named && list.size() > 1 && word(list.back()) && !needs_a_noun(list[list.size() - 2])) {
    out.name = list.back();
    list.pop_back();
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool qualifies = i + 1 < list.size() && list[i + 1] == "::" && word(list[i]) && list[i] != "const";
    if (list[i] == "::" || qualifies) continue;
    std::string token = list[i];
    if (token == "SymInt") token = "int64_t";
    if (token == "SymIntArrayRef") token = "IntArrayRef";
    if (token == "OptionalSymIntArrayRef") token = "OptionalIntArrayRef";
    out.type += token + " ";
  }
  return out;
}

/// The function or call whose name begins at `at` and whose '(' is at `open`. `text` has no comments.
KernelFunction read_function(std::string_view text, std::size_t at, std::size_t open) {
  KernelFunction out;
  out.at = at;
  out.open = open;
  int depth = 0;
  std::size_t begin = open + 1, i = open;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    const bool closes = c == ')' || c == '>' || c == ']' || c == '}';
    if (closes) --depth;
    if ((c == ',' && depth == 1) || (closes && depth == 0)) {
      KernelParameter parameter = parameter_of(text.substr(begin, i - begin), true);
      parameter.begin = begin;
      parameter.end = i;
      if (!parameter.type.empty()) out.parameters.push_back(std::move(parameter));
      begin = i + 1;
      if (closes) break;
    }
  }
  out.close = i;
  std::size_t after = std::min(i + 1, text.size());
  while (after < text.size() && is_space(text[after])) ++after;
  if (after < text.size() && text[after] == '{') {
    out.body = out.end = after;
    for (int braces = 0; out.end < text.size(); ++out.end) {
      if (text[out.end] == '{') ++braces;
      if (text[out.end] == '}' && --braces == 0) break;
    }
  }
  std::size_t before = at;
  while (before > 0 && !contains(std::string_view(";{}"), text[before - 1])) --before;
  std::string_view returns = trimmed(text.substr(before, at - before));
  if (returns.starts_with("template")) {
    std::size_t end = std::min(returns.find('<'), returns.size());
    for (int angles = 0; end < returns.size();) {
      angles += returns[end] == '<' ? 1 : returns[end] == '>' ? -1 : 0;
      ++end;
      if (angles == 0) break;
    }
    for (const std::string& token : tokens(returns.substr(0, end)))
      if (word(token) && !has_word("template class typename int bool", token)) out.generic.push_back(token);
    returns = returns.substr(end);
  }
  out.returns = parameter_of(returns, false).type;
  return out;
}

/// Where the name of a signature's function begins; `open` is the place of its '('.
std::size_t name_of(std::string_view signature, std::size_t open) {
  std::size_t start = open;
  while (start > 0 && (is_word(signature[start - 1]) || signature[start - 1] == ':')) --start;
  return start;
}

/// Calls `act` with each function, declaration or call of that name, until it returns false. `code` has no comments.
template <class Act>
void for_each_function(std::string_view code, std::string_view name, const Act& act) {
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    std::size_t paren = at + name.size();
    if (at > 0 && is_word(code[at - 1])) continue;
    while (paren < code.size() && is_space(code[paren])) ++paren;
    if (paren >= code.size() || code[paren] != '(') continue;
    std::size_t from = at;  // "mine::relu(" is the function, too
    while (from > 0 && (code[from - 1] == ':' || (from < at && is_word(code[from - 1])))) --from;
    if (!act(read_function(code, from, paren))) return;
  }
}

/// Whether a type says nothing until a template or a lambda with `auto` is used.
bool is_open(const std::string& type, const KernelFunction& of) {
  return std::ranges::any_of(tokens(type),
                             [&](const std::string& t) { return t == "auto" || contains(of.generic, t); });
}

bool same_types(const KernelFunction& found, const KernelFunction& wanted) {
  return std::ranges::equal(found.parameters, wanted.parameters,
                            [&](const auto& a, const auto& b) { return a.type == b.type || is_open(a.type, found); });
}

/// Whether the parameters in these places have their names, or none.
bool named_as(const KernelFunction& found, const KernelFunction& wanted, const std::vector<std::size_t>& places) {
  return std::ranges::all_of(places, [&](std::size_t i) {
    return found.parameters[i].name.empty() || found.parameters[i].name == wanted.parameters[i].name;
  });
}

int line_of(std::string_view code, std::size_t at) {
  return static_cast<int>(std::ranges::count(code.substr(0, at), '\n')) + 1;
}

/// What NAME_KERNEL("relu", at::_ops::relu, FN, "native") registers.
struct Registration {
  std::size_t at = 0;      // of the macro
  std::string name;        // of a function, without namespaces
  std::size_t lambda = 0;  // of its '['; 0 if it is none
};

/// The one of the function `name`, or of the operator of this name.
std::optional<Registration> registration_of(std::string_view code, std::string_view name) {
  constexpr std::string_view kMacro = "_KERNEL";
  for (std::size_t at = code.find(kMacro); at != std::string_view::npos; at = code.find(kMacro, at + 1)) {
    std::size_t begin = at, open = at + kMacro.size();
    while (begin > 0 && is_word(code[begin - 1])) --begin;
    if (open >= code.size() || code[open] != '(' || code.substr(begin, at - begin).ends_with("_STRUCTURED")) continue;
    // The operator's name is a literal, and so blank.
    const std::size_t op = code.find(',', open), function = op == std::string_view::npos ? op : code.find(',', op + 1);
    if (function == std::string_view::npos) continue;
    std::size_t from = function + 1;
    while (from < code.size() && (is_space(code[from]) || code[from] == '&' || code[from] == '+')) ++from;
    Registration found{begin, {}, from < code.size() && code[from] == '[' ? from : 0};
    while (from < code.size() && (is_word(code[from]) || code[from] == ':')) found.name += code[from++];
    if (const std::size_t colon = found.name.rfind(':'); colon != std::string::npos) found.name.erase(0, colon + 1);
    const std::string_view declared = trimmed(code.substr(op + 1, function - op - 1));
    if (found.name == name || declared == name || declared.ends_with(fmt::format("::{}", name))) return found;
  }
  return std::nullopt;
}

FoundKernel find_in(std::string_view code, std::string_view name, const KernelFunction& wanted,
                    const std::vector<std::size_t>& moved) {
  FoundKernel place;
  bool definition = false;
  const auto look = [&](const KernelFunction& found, std::size_t at) {
    const bool returns = found.returns == wanted.returns || is_open(found.returns, found);
    const bool fits = same_types(found, wanted) && returns && named_as(found, wanted, moved);
    if (place.line == 0 || fits || (found.body != 0 && !definition)) {
      place.line = line_of(code, at);
      place.fits = fits;
      definition = found.body != 0;
    }
    return !fits;
  };
  const auto registered = registration_of(code, name);
  const bool other = registered && registered->name != name;
  if (!other) {
    for_each_function(code, name, [&](const KernelFunction& found) { return look(found, found.at); });
  } else if (registered->lambda != 0) {
    const std::size_t captured = code.find(']', registered->lambda);
    const std::size_t open =
        captured == std::string_view::npos ? captured : code.find_first_not_of(" \t\r\n", captured + 1);
    if (open != std::string_view::npos && code[open] == '(') {
      KernelFunction lambda = read_function(code, registered->lambda, open);
      lambda.returns = "auto ";
      look(lambda, registered->at);
    }
  } else if (!registered->name.empty()) {
    for_each_function(code, registered->name, [&](const KernelFunction& found) {
      return found.body == 0 || look(found, found.at);  // a call of it says nothing
    });
  }
  if (place.line != 0) return place;
  return {registered ? line_of(code, registered->at) : 0, false, false};
}

}  // namespace

std::optional<KernelFunction> read_signature(std::string_view signature) {
  const std::size_t open = signature.find('(');
  if (open == std::string_view::npos) return {};
  return read_function(signature, name_of(signature, open), open);
}

std::string code_of(std::string_view text) { return with_branches(without_comments(text), Branches::All); }

std::vector<KernelFunction> functions_of(std::string_view code, std::string_view name) {
  std::vector<KernelFunction> out;
  for_each_function(code, name, [&](KernelFunction found) {
    out.push_back(std::move(found));
    return true;
  });
  return out;
}

std::optional<KernelFunction> find_definition(std::string_view text, std::string_view signature) {
  const auto wanted = read_signature(signature);
  if (!wanted) return {};
  std::vector<KernelFunction> found =
      functions_of(code_of(text), signature.substr(wanted->at, wanted->open - wanted->at));
  std::erase_if(found, [](const KernelFunction& each) { return each.body == 0; });
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

std::vector<std::size_t> moved_parameters(const KernelFunction& was, const KernelFunction& now) {
  std::vector<std::size_t> out, common, origin;  // places in `now`, and where they were
  for (std::size_t i = 0; i < now.parameters.size(); ++i)
    for (std::size_t j = 0; j < was.parameters.size(); ++j) {
      const KernelParameter &a = now.parameters[i], &b = was.parameters[j];
      if (a.name.empty() || a.name != b.name || a.type != b.type) continue;
      common.push_back(i);
      origin.push_back(j);
    }
  const bool same =
      std::ranges::equal(was.parameters, now.parameters, {}, &KernelParameter::type, &KernelParameter::type);
  for (std::size_t k = 0; k < common.size(); ++k) {
    bool moved = same && common[k] != origin[k];
    for (std::size_t m = 0; m < common.size(); ++m) {
      const bool alike = now.parameters[common[k]].type == now.parameters[common[m]].type;
      moved |= alike && (common[k] < common[m]) != (origin[k] < origin[m]) && k != m;
    }
    if (moved) out.push_back(common[k]);
  }
  return out;
}

FoundKernel find_kernel(std::string_view text, std::string_view signature, std::string_view was) {
  const auto wanted = read_signature(signature), before = read_signature(was);
  if (!wanted) return {};
  const std::string_view name = signature.substr(wanted->at, wanted->open - wanted->at);
  const std::vector<std::size_t> moved = before ? moved_parameters(*before, *wanted) : std::vector<std::size_t>();
  const std::string plain = without_comments(text);
  const FoundKernel place = find_in(with_branches(plain, Branches::All), name, *wanted, moved);
  if (place.fits || plain.find('#') == std::string::npos) return place;
  for (const Branches branches : {Branches::First, Branches::Else, Branches::Last})
    if (const FoundKernel other = find_in(with_branches(plain, branches), name, *wanted, moved); other.fits)
      return other;
  return place;
}

}  // namespace openreg_gen
