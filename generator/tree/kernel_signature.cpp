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
  while (before > 0 && !contains(std::string_view(";{}#"), text[before - 1])) --before;
  out.returns = parameter_of(text.substr(before, at - before), false).type;
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

bool same_types(const KernelFunction& a, const KernelFunction& b) {
  return std::ranges::equal(a.parameters, b.parameters, {}, &KernelParameter::type, &KernelParameter::type);
}

}  // namespace

std::optional<KernelFunction> read_signature(std::string_view signature) {
  const std::size_t open = signature.find('(');
  if (open == std::string_view::npos) return {};
  return read_function(signature, name_of(signature, open), open);
}

std::optional<KernelFunction> find_definition(std::string_view text, std::string_view signature) {
  const auto wanted = read_signature(signature);
  if (!wanted) return {};
  const std::string code = without_comments(text);
  std::optional<KernelFunction> out;
  bool several = false;
  for_each_function(code, signature.substr(wanted->at, wanted->open - wanted->at), [&](KernelFunction found) {
    if (found.body == 0) return true;
    several = out.has_value();
    out = std::move(found);
    return !several;
  });
  return several ? std::nullopt : out;
}

KernelPlace find_kernel(std::string_view text, std::string_view signature) {
  const auto wanted = read_signature(signature);
  if (!wanted) return {};
  const std::string code = without_comments(text);
  KernelPlace place;
  bool definition = false;
  for_each_function(code, signature.substr(wanted->at, wanted->open - wanted->at), [&](const KernelFunction& found) {
    const bool fits = same_types(found, *wanted) && (found.returns == wanted->returns || found.returns == "auto ");
    if (place.line == 0 || fits || (found.body != 0 && !definition)) {
      const auto until = code.begin() + static_cast<std::ptrdiff_t>(found.at);
      place.line = static_cast<int>(std::count(code.begin(), until, '\n')) + 1;
      place.fits = fits;
      definition = found.body != 0;
    }
    return !fits;
  });
  return place;
}

}  // namespace openreg_gen
