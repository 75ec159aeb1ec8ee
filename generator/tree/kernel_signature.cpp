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

/// "const at::Tensor& self = {}" -> "const Tensor &".
std::string type_of(std::string_view parameter, bool named) {
  std::vector<std::string> list = tokens(parameter);
  list.erase(std::ranges::find(list, "="), list.end());
  if (const auto open = std::ranges::find(list, "[["); open != list.end()) {
    const auto close = std::find(open, list.end(), "]]");
    list.erase(open, close == list.end() ? close : close + 1);
  }
  std::erase_if(list, [](const std::string& t) { return t == "static" || t == "inline" || t == "virtual"; });
  if (named && list.size() > 1 && word(list.back()) && !needs_a_noun(list[list.size() - 2])) list.pop_back();
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool qualifies = i + 1 < list.size() && list[i + 1] == "::" && word(list[i]) && list[i] != "const";
    if (list[i] == "::" || qualifies) continue;
    std::string token = list[i];
    if (token == "SymInt") token = "int64_t";
    if (token == "SymIntArrayRef") token = "IntArrayRef";
    if (token == "OptionalSymIntArrayRef") token = "OptionalIntArrayRef";
    out += token + " ";
  }
  return out;
}

struct Function {
  std::size_t at = 0, close = 0;  // of its name, of its ')'
  std::vector<std::string> types;
  std::string returns;
  bool defined = false;
};

/// The function or call whose name ends at the '(' at `open`.
Function read_function(std::string_view text, std::size_t at, std::size_t open) {
  Function out;
  out.at = at;
  int depth = 0;
  std::size_t begin = open + 1, i = open;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    const bool closes = c == ')' || c == '>' || c == ']' || c == '}';
    if (closes) --depth;
    if ((c == ',' && depth == 1) || (closes && depth == 0)) {
      std::string type = type_of(text.substr(begin, i - begin), true);
      if (!type.empty()) out.types.push_back(std::move(type));
      begin = i + 1;
      if (closes) break;
    }
  }
  out.close = i;
  std::size_t after = std::min(i + 1, text.size());
  while (after < text.size() && is_space(text[after])) ++after;
  out.defined = after < text.size() && text[after] == '{';
  std::size_t before = at;
  while (before > 0 && !contains(std::string_view(";{}#"), text[before - 1])) --before;
  out.returns = type_of(text.substr(before, at - before), false);
  return out;
}

}  // namespace

KernelPlace find_kernel(std::string_view text, std::string_view signature) {
  const std::size_t open = signature.find('(');
  if (open == std::string_view::npos) return {};
  std::size_t start = open;
  while (start > 0 && (is_word(signature[start - 1]) || signature[start - 1] == ':')) --start;
  const std::string_view name = signature.substr(start, open - start);
  const Function wanted = read_function(signature, start, open);

  const std::string code = without_comments(text);
  KernelPlace place;
  bool definition = false;
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    std::size_t paren = at + name.size();
    if (at > 0 && is_word(code[at - 1])) continue;
    while (paren < code.size() && is_space(code[paren])) ++paren;
    if (paren >= code.size() || code[paren] != '(') continue;
    std::size_t from = at;  // "mine::relu(" is the function, too
    while (from > 0 && (code[from - 1] == ':' || (from < at && is_word(code[from - 1])))) --from;
    const Function found = read_function(code, from, paren);
    const bool fits = found.types == wanted.types && (found.returns == wanted.returns || found.returns == "auto ");
    if (place.line == 0 || fits || (found.defined && !definition)) {
      place.line = static_cast<int>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
      place.fits = fits;
      definition = found.defined;
    }
    if (fits) break;
  }
  return place;
}

}  // namespace openreg_gen
