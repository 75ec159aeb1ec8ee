#include "tree/migrate.h"

#include "base/text.h"
#include "tree/kernel_signature.h"
#include "tree/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace openreg_gen {
namespace {

constexpr const char* kOnlyKnows = ": this kernel only knows the default of '";
constexpr const char* kRaises = "; the kernel raises an error unless it has its default";

/// "const Tensor & " and "Tensor & " are both "Tensor ".
std::string bare(const std::string& type) {
  std::string out;
  for (std::size_t i = 0; i < type.size();) {
    const std::size_t end = type.find(' ', i);
    const std::string token = type.substr(i, end - i);
    if (token != "const" && token != "&") out += token + " ";
    i = end + 1;
  }
  return out;
}

/// For each parameter of `now`, the place in `was` of the one that it was; none for a new one. By name; then, if
/// exactly one of a type is left in both, it was renamed. Of several, any may be the new one.
std::vector<std::optional<std::size_t>> origins(const KernelFunction& was, const KernelFunction& now) {
  std::vector<std::optional<std::size_t>> out(now.parameters.size());
  std::vector<bool> used(was.parameters.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < used.size() && !out[i]; ++j) {
      const std::string& name = was.parameters[j].name;
      if (!used[j] && !name.empty() && name == now.parameters[i].name) out[i] = j, used[j] = true;
    }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<std::size_t> olds, news;
    const std::string& type = now.parameters[i].type;
    for (std::size_t j = 0; j < used.size(); ++j)
      if (!used[j] && was.parameters[j].type == type) olds.push_back(j);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (!out[k] && now.parameters[k].type == type) news.push_back(k);
    if (!out[i] && olds.size() == 1 && news.size() == 1) out[i] = olds[0], used[olds[0]] = true;
  }
  return out;
}

/// Why the kernel is refused, whose parameter `old` has no partner among those of `now`.
std::string without_partner(const KernelParameter& old, const KernelFunction& now,
                            const std::vector<std::optional<std::size_t>>& from) {
  std::vector<std::string> choices;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!from[i] && now.parameters[i].type == old.type) choices.push_back("'" + now.parameters[i].name + "'");
  if (choices.empty()) return fmt::format("'{}' is gone", old.name);
  return fmt::format("'{}' is gone, or it is now {}", old.name, fmt::join(choices, " or "));
}

std::string text_of(std::string_view text, const KernelParameter& parameter) {
  return std::string(trimmed(text.substr(parameter.begin, parameter.end - parameter.begin)));
}

/// The owner's name and comments with another type: "at::Tensor& x" becomes "const at::Tensor& x".
std::string with_type(std::string_view signature, const KernelParameter& now, const std::string& name) {
  std::string text = text_of(signature, now);
  const std::size_t at = now.name.empty() ? std::string::npos : text.rfind(now.name);
  if (at == std::string::npos) return text + (name.empty() ? "" : " " + name);
  return text.substr(0, at) + name + text.substr(at + now.name.size());
}

/// In one line if it fits there, else a line each.
std::string joined(const std::vector<std::string>& parameters, std::size_t column) {
  constexpr std::size_t kWidth = 120;
  std::size_t width = column;
  bool comments = false;
  for (const std::string& each : parameters) {
    width += each.size() + 2;
    comments |= each.find("//") != std::string::npos || each.find('\n') != std::string::npos;
  }
  std::string out;
  for (const std::string& each : parameters) {
    // A comment to the end of the line would take in the comma.
    const bool open = out.find("//", out.rfind('\n') + 1) != std::string::npos;
    if (!out.empty()) out += open ? "\n    ," : ",";
    out += width > kWidth || comments ? "\n    " : out.empty() ? "" : " ";
    out += each;
  }
  if (!parameters.empty() && parameters.back().find("//") != std::string::npos) out += "\n";
  return out;
}

/// Whether the name is used in `code`, other than as a member or in a namespace.
bool uses(std::string_view code, std::string_view name) {
  for (std::size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_word(code[at - 1])) || (end < code.size() && is_word(code[end]))) continue;
    const std::string_view before = trimmed(code.substr(0, at));
    if (!before.ends_with('.') && !before.ends_with("->") && !before.ends_with("::")) return true;
  }
  return false;
}

std::size_t count_lines(std::string_view text, std::string_view start) {
  return static_cast<std::size_t>(std::ranges::count_if(
      split_lines(text), [&](std::string_view line) { return trimmed(line).starts_with(start); }));
}

/// Why more than the parameters and the beginning of the body would have to change; empty if it is not so.
std::string other_places(std::string_view text, const std::string& code, const KernelFunction& ours) {
  const std::string_view name = trimmed(std::string_view(code).substr(ours.at, ours.open - ours.at));
  const std::string_view list = text.substr(ours.open, ours.body - ours.open),
                         body = text.substr(ours.body, ours.end - ours.body);
  if (count_lines(list, "#") != 0 || count_lines(body, "#if") != count_lines(body, "#endif"))
    return "directives of the preprocessor are among its parameters, or the body ends in one of several branches";
  for (const KernelFunction& each : functions_of(code, name)) {
    const std::string_view before = trimmed(std::string_view(code).substr(0, each.at)),
                           whole = std::string_view(code).substr(each.at, each.open - each.at);
    const auto in = [&](std::string_view space) { return whole.starts_with(space); };
    if (each.at == ours.at || before.ends_with('.') || before.ends_with("->")) continue;
    if (in("at::") || in("::at::") || in("torch::") || in("c10::") || in("std::")) continue;
    return fmt::format("line {} declares or calls it, too", std::ranges::count(code.substr(0, each.at), '\n') + 1);
  }
  return {};
}

/// Parameters as they are written from now on, and checks of the new ones for the beginning of the body.
struct Rewritten {
  std::vector<std::string> parameters, checks, changes;
  std::vector<std::string> names;                // of the parameters, as the body knows them
  std::vector<std::optional<std::size_t>> from;  // where each was; none for a new one
  std::string refused;
};

Rewritten rewrite(std::string_view text, const std::string& code, const KernelFunction& ours, std::string_view was_text,
                  std::string_view now_text, std::string_view kernel, const IsDefault& is_default) {
  const KernelFunction was = *read_signature(was_text), now = *read_signature(now_text);
  Rewritten out;
  const auto refuse = [&out](std::string why) {
    out.refused = std::move(why);
    return out;
  };
  if (!std::ranges::equal(ours.parameters, was.parameters, {}, &KernelParameter::type, &KernelParameter::type))
    return refuse("the kernel has neither the old signature nor the new one");
  if (was.returns != now.returns) return refuse("it returns another type");
  if (std::string why = other_places(text, code, ours); !why.empty()) return refuse(std::move(why));
  if (std::ranges::equal(was.parameters, now.parameters, {}, &KernelParameter::type, &KernelParameter::type)) {
    // Then the types don't tell which of both signatures the kernel has.
    for (std::size_t i : moved_parameters(was, now)) {
      const auto at = std::ranges::find(was.parameters, now.parameters[i].name, &KernelParameter::name);
      const std::string& mine = ours.parameters[static_cast<std::size_t>(at - was.parameters.begin())].name;
      if (mine != at->name && !mine.empty())
        return refuse(
            fmt::format("'{}' has another place, and the kernel calls none of its own so: check the order, then "
                        "name its parameters as PyTorch does",
                        at->name));
    }
  }
  const auto from = out.from = origins(was, now);
  for (std::size_t j = 0; j < was.parameters.size(); ++j)
    if (std::ranges::find(from, std::optional(j)) == from.end())
      return refuse(without_partner(was.parameters[j], now, from));
  std::size_t expected = 0;
  bool moved = false;
  for (std::size_t i = 0; i < now.parameters.size(); ++i) {
    const KernelParameter& parameter = now.parameters[i];
    if (!from[i]) {
      const std::string condition = is_default(parameter.name);
      if (condition.empty())
        return refuse(fmt::format("'{}' is new and has no default that this kernel could stand for", parameter.name));
      for (const KernelParameter& each : ours.parameters)
        if (each.name == parameter.name)
          return refuse(fmt::format("the kernel calls another parameter '{}'", each.name));
      if (uses(std::string_view(code).substr(ours.body, ours.end - ours.body), parameter.name))
        return refuse(fmt::format("'{}' is new, and the body uses this name for something else", parameter.name));
      out.parameters.push_back(text_of(now_text, parameter));
      out.names.push_back(parameter.name);
      out.checks.push_back(fmt::format("\n  TORCH_CHECK_NOT_IMPLEMENTED({}, \"{}{}{}'\");", condition, kernel,
                                       kOnlyKnows, parameter.name));
      out.changes.push_back(fmt::format("'{}' is new{}", parameter.name, kRaises));
      continue;
    }
    const KernelParameter &old = was.parameters[*from[i]], &mine = ours.parameters[*from[i]];
    out.names.push_back(mine.name);
    moved |= *from[i] != expected;
    expected = *from[i] + 1;
    if (old.type == parameter.type) {
      out.parameters.push_back(text_of(text, mine));
    } else if (bare(old.type) == bare(parameter.type)) {
      out.parameters.push_back(with_type(now_text, parameter, mine.name));
      out.changes.push_back(
          fmt::format("'{}' is {}now", mine.name.empty() ? parameter.name : mine.name, parameter.type));
    } else {
      return refuse(fmt::format("the type of '{}' is another", parameter.name));
    }
    if (old.name != parameter.name)
      out.changes.push_back(
          fmt::format("PyTorch calls '{}' '{}' now; the kernel keeps its own name", old.name, parameter.name));
  }
  if (moved) out.changes.emplace_back("the parameters have another order");
  return out;
}

/// The arguments of a call, trimmed. `code` is `text` without comments and literals.
std::vector<std::string> arguments_of(std::string_view text, std::string_view code) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= code.size(); ++i) {
    const char c = i < code.size() ? code[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || depth != 0) continue;
    out.emplace_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

bool contains_comment(std::string_view text) {
  return text.find("//") != std::string_view::npos || text.find("/*") != std::string_view::npos;
}

/// The body, where calls of the CPU's kernel, `host_call<at::_ops::relu>(self)`, have the new order and the new
/// parameters. `only`: such a call is all that it does. None if it uses the operator in another way.
std::optional<std::string> with_host_calls(std::string_view text, const std::string& code, const KernelFunction& ours,
                                           const Rewritten& rewritten, bool& only) {
  const std::string_view name = trimmed(std::string_view(code).substr(ours.at, ours.open - ours.at));
  const std::string op = fmt::format("at::_ops::{}", name), start = "host_call<" + op + ">(";
  const std::size_t first = ours.body + 1;
  const std::string_view body = std::string_view(code).substr(0, ours.end);
  std::string out;
  only = false;
  std::size_t done = first;
  for (std::size_t at = body.find(op, first); at != std::string_view::npos; at = body.find(op, at + 1)) {
    const std::size_t end = at + op.size();
    if (end < body.size() && is_word(body[end])) continue;
    const std::size_t call = at - std::string_view("host_call<").size(), open = call + start.size() - 1;
    if (call < done || !body.substr(call).starts_with(start)) return std::nullopt;
    int depth = 0;
    std::size_t close = open;
    for (; close < body.size(); ++close) {
      if (contains(std::string_view("([{"), body[close])) ++depth;
      if (contains(std::string_view(")]}"), body[close]) && --depth == 0) break;
    }
    if (close == body.size()) return std::nullopt;
    const std::string_view raw = text.substr(open + 1, close - open - 1);
    const auto old = arguments_of(raw, body.substr(open + 1, close - open - 1));
    if (old.size() != ours.parameters.size() || contains_comment(raw)) return std::nullopt;
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < rewritten.names.size(); ++i)
      arguments.push_back(rewritten.from[i] ? old[*rewritten.from[i]] : rewritten.names[i]);
    out += text.substr(done, open + 1 - done);
    out += fmt::format("{}", fmt::join(arguments, ", "));
    only = trimmed(body.substr(first, call - first)) == "return" && trimmed(body.substr(close + 1)) == ";";
    done = close;
  }
  return out + std::string(text.substr(done, ours.end - done));
}

Migration migrate_lines(std::string_view text, std::string_view was, std::string_view now, std::string_view kernel,
                        const IsDefault& is_default) {
  Migration out;
  const auto ours = find_definition(text, was);
  if (!ours) {
    out.refused = "there is not exactly one definition of the kernel in this file";
    return out;
  }
  const std::string code = code_of(text);
  Rewritten rewritten = rewrite(text, code, *ours, was, now, kernel, is_default);
  if (!rewritten.refused.empty()) {
    out.refused = std::move(rewritten.refused);
    return out;
  }
  bool hands_on = false;
  const auto body = with_host_calls(text, code, *ours, rewritten, hands_on);
  if (!body) {
    out.refused = "the body calls this operator in a way that can't be rewritten";
    return out;
  }
  const std::size_t line = text.rfind('\n', ours->open) + 1;
  out.text = text.substr(0, ours->open + 1);
  out.text += joined(rewritten.parameters, ours->open - line);
  out.text += text.substr(ours->close, ours->body + 1 - ours->close);
  if (hands_on) {
    for (std::string& change : rewritten.changes) replace_all(change, kRaises, "; the kernel hands it on");
  } else {
    for (const std::string& check : rewritten.checks) out.text += check;
    const bool ends_here = body->starts_with('\n') || body->starts_with("\r\n");
    if (!rewritten.checks.empty() && !ends_here) out.text += "\n ";  // a body in one line
  }
  out.text += *body;
  out.text += text.substr(ours->end);
  out.changes = std::move(rewritten.changes);
  if (!find_kernel(out.text, now).fits) {
    out = {};
    out.refused = "the kernel is written in a way that can't be rewritten";
  }
  return out;
}

}  // namespace

Migration migrate_kernel(std::string_view text, std::string_view was, std::string_view now, std::string_view kernel,
                         const IsDefault& is_default) {
  if (!is_crlf(text)) return migrate_lines(text, was, now, kernel, is_default);
  std::string lines(text);
  replace_all(lines, "\r\n", "\n");
  Migration out = migrate_lines(lines, was, now, kernel, is_default);
  if (!out.text.empty()) out.text = to_crlf(out.text);
  return out;
}

std::vector<OldDefault> old_defaults(std::string_view text, std::string_view kernel, const IsDefault& is_default) {
  constexpr std::string_view kCheck = "TORCH_CHECK_NOT_IMPLEMENTED(";
  const std::string said = fmt::format("\"{}{}", kernel, kOnlyKnows);
  std::vector<OldDefault> out;
  for (std::size_t at = text.find(said); at != std::string_view::npos; at = text.find(said, at + 1)) {
    const std::size_t name = at + said.size(), check = text.rfind(kCheck, at);
    if (check == std::string_view::npos) continue;
    const std::string parameter(text.substr(name, std::min(text.find('\'', name), text.size()) - name));
    const std::string_view condition = trimmed(text.substr(check + kCheck.size(), at - check - kCheck.size()));
    // Another comparison is its owner's, and may be right.
    const std::string form = parameter + ",";
    const bool ours = condition == form || condition == "!" + form || condition.starts_with(parameter + " == ") ||
                      condition.starts_with(parameter + ".equal(") || condition == parameter + ".empty()," ||
                      condition == "!" + parameter + ".has_value(),";
    if (!ours || condition == is_default(parameter) + ",") continue;
    out.push_back({static_cast<int>(std::ranges::count(text.substr(0, at), '\n')) + 1, parameter});
  }
  return out;
}

std::string equals_default(std::string_view schema_type, std::string_view default_value, std::string_view name) {
  if (default_value.empty()) return {};
  const bool optional = schema_type.ends_with('?');
  if (default_value == "None") return optional ? fmt::format("!{}.has_value()", name) : std::string();
  if (default_value == "[]") return optional ? std::string() : fmt::format("{}.empty()", name);
  if (schema_type == "bool") return fmt::format("{}{}", default_value == "False" ? "!" : "", name);
  if (schema_type == "str") return fmt::format("{} == \"{}\"", name, default_value.substr(1, default_value.size() - 2));
  const bool number = default_value.find_first_not_of("0123456789.-+e") == std::string_view::npos;
  if (schema_type == "Scalar" && number) return fmt::format("{}.equal({})", name, default_value);
  if ((schema_type == "int" || schema_type == "SymInt" || schema_type == "float") && number)
    return fmt::format("{} == {}", name, default_value);
  if (schema_type == "int" && (default_value == "Mean" || default_value == "Sum"))
    return fmt::format("{} == at::Reduction::{}", name, default_value);
  if (schema_type == "MemoryFormat" && default_value == "contiguous_format")
    return fmt::format("{} == at::MemoryFormat::Contiguous", name);
  return {};
}

}  // namespace openreg_gen
