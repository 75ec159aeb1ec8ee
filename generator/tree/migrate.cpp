#include "tree/migrate.h"

#include "base/text.h"
#include "tree/kernel_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace openreg_gen {
namespace {

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

/// Parameters as they are written from now on, and checks of the new ones for the beginning of the body.
struct Rewritten {
  std::vector<std::string> parameters, checks, changes;
  std::vector<std::string> names;  // of the parameters, as the body knows them
  std::string refused;
};

Rewritten rewrite(std::string_view text, const KernelFunction& ours, std::string_view was_text,
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
  const auto from = origins(was, now);
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
      out.parameters.push_back(text_of(now_text, parameter));
      out.names.push_back(parameter.name);
      out.checks.push_back(
          fmt::format("\n  TORCH_CHECK_NOT_IMPLEMENTED({}, \"{}: this kernel only knows the default of '{}'\");",
                      condition, kernel, parameter.name));
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

/// The body, with the new parameters handed on by the call of the CPU's kernel that kernels start with:
/// `host_call<at::_ops::relu>(self)`. `only`: that call is all that it does.
std::string with_host_call(std::string_view body, const KernelFunction& ours, const std::vector<std::string>& names,
                           bool& only) {
  std::string out(body);
  only = false;
  const std::size_t call = out.find("host_call<at::_ops::");
  const std::size_t open = call == std::string::npos ? call : out.find(">(", call);
  const std::size_t close = open == std::string::npos ? open : out.find(')', open);
  if (close == std::string::npos) return out;
  std::vector<std::string> before;
  for (const KernelParameter& each : ours.parameters) before.push_back(each.name);
  if (out.substr(open + 2, close - open - 2) != fmt::format("{}", fmt::join(before, ", "))) return out;
  only = trimmed(body.substr(0, call)) == "return" && trimmed(body.substr(close + 1)) == ";";
  out.replace(open + 2, close - open - 2, fmt::format("{}", fmt::join(names, ", ")));
  return out;
}

}  // namespace

Migration migrate_kernel(std::string_view text, std::string_view was, std::string_view now, std::string_view kernel,
                         const IsDefault& is_default) {
  Migration out;
  const auto ours = find_definition(text, was);
  if (!ours) {
    out.refused = "there is not exactly one definition of the kernel in this file";
    return out;
  }
  Rewritten rewritten = rewrite(text, *ours, was, now, kernel, is_default);
  if (!rewritten.refused.empty()) {
    out.refused = std::move(rewritten.refused);
    return out;
  }
  const std::size_t line = text.rfind('\n', ours->open) + 1;
  out.text = text.substr(0, ours->open + 1);
  out.text += joined(rewritten.parameters, ours->open - line);
  out.text += text.substr(ours->close, ours->body + 1 - ours->close);
  bool hands_on = false;
  const std::string body =
      with_host_call(text.substr(ours->body + 1, ours->end - ours->body - 1), *ours, rewritten.names, hands_on);
  if (hands_on) {
    for (std::string& change : rewritten.changes) replace_all(change, kRaises, "; the kernel hands it on");
  } else {
    for (const std::string& check : rewritten.checks) out.text += check;
    if (!rewritten.checks.empty() && !body.starts_with('\n')) out.text += "\n ";  // a body in one line
  }
  out.text += body;
  out.text += text.substr(ours->end);
  out.changes = std::move(rewritten.changes);
  if (!find_kernel(out.text, now).fits) {
    out = {};
    out.refused = "the kernel is written in a way that can't be rewritten";
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
