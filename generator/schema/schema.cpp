#include "schema/schema.h"

#include "base/text.h"

#include <fmt/ranges.h>

#include <array>
#include <utility>

namespace openreg_gen {
namespace {

std::string annotate(const std::string& type, const std::string& annotation) {
  if (annotation.empty()) return type;
  const auto end = std::min(type.find_first_of("[?"), type.size());
  return type.substr(0, end) + "(" + annotation + ")" + type.substr(end);
}

/// The dunder operators whose "i" marks the in-place form, as in "__iadd__".
bool is_inplace_dunder(std::string_view base) {
  constexpr std::array<std::string_view, 11> names = {"add",    "sub",    "mul", "div", "mod", "pow",
                                                      "lshift", "rshift", "and", "xor", "or"};
  return base.size() > 5 && base.starts_with("__i") && base.ends_with("__") &&
         std::ranges::find(names, base.substr(3, base.size() - 5)) != names.end();
}

bool is_dunder(std::string_view base) { return base.size() > 4 && base.starts_with("__") && base.ends_with("__"); }

}  // namespace

std::string ArgumentSchema::annotated_type() const { return annotate(type, annotation); }
std::string ReturnSchema::annotated_type() const { return annotate(type, annotation); }

bool is_tensor_like(std::string_view type) {
  return type == "Tensor" || type.starts_with("Tensor?") || type.starts_with("Tensor[");
}

std::vector<std::string_view> split_top_level(BorrowedText text, char separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '<') {
      ++depth;
    } else if (c == ')' || c == ']' || (c == '>' && (i == 0 || text[i - 1] != '-'))) {
      --depth;
    } else if (c == separator && depth == 0) {
      pieces.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!trimmed(text).empty()) pieces.push_back(trimmed(text.substr(begin)));
  return pieces;
}

bool Schema::is_inplace() const {
  return is_dunder(base) ? is_inplace_dunder(base) : base.size() > 1 && base.ends_with('_');
}

std::string Schema::root() const {
  std::string root = base;
  if (is_dunder(base)) return is_inplace() ? root.erase(2, 1) : root;  // "__iadd__" -> "__add__"
  if (is_inplace()) root.pop_back();
  constexpr std::string_view suffix = "_functional";
  if (root.ends_with(suffix)) root.resize(root.size() - suffix.size());
  return root;
}

SchemaKind Schema::kind() const {
  if (is_inplace()) return SchemaKind::Inplace;
  if (std::ranges::any_of(arguments, &ArgumentSchema::is_out)) return SchemaKind::Out;
  // A written `self` doesn't count: only an in-place form may return it, which is known by its name.
  const bool writes = std::ranges::any_of(arguments, [](const auto& a) { return a.is_write() && a.name != "self"; });
  return writes ? SchemaKind::Mutable : SchemaKind::Functional;
}

bool Schema::is_tensor_options(const ArgumentSchema& argument) const {
  constexpr std::array<std::string_view, 4> names = {"dtype", "layout", "device", "pin_memory"};
  if (!argument.kwarg_only || !contains(names, argument.name)) return false;
  return std::ranges::all_of(names, [&](std::string_view name) {
    return std::ranges::any_of(arguments, [&](const auto& a) { return a.kwarg_only && a.name == name; });
  });
}

bool Schema::has_symint_argument() const {
  return std::ranges::any_of(arguments, [](const auto& a) { return a.type.starts_with("SymInt"); });
}

std::string Schema::group_key() const {
  std::string key = root() + "(";
  bool star = false;
  for (const auto& a : arguments) {
    if (a.is_out() || is_tensor_options(a)) continue;
    if (a.kwarg_only && !star) key += "*, ";
    star = star || a.kwarg_only;
    // bernoulli.p is the one operator whose default differs between its forms.
    const bool bernoulli_p = a.name == "p" && a.default_value.empty() && name() == "bernoulli.p";
    key += a.type + " " + a.name + "=" + (bernoulli_p ? "0.5" : a.default_value) + ", ";
  }
  key += ") -> ";
  for (const auto& r : returns) key += r.type + ", ";
  // What is written without being returned counts as returned: self first, then out arguments, then the others.
  const auto add_written = [&](auto&& wanted) {
    for (const auto& a : arguments) {
      const auto same = [&](const auto& r) { return r.annotation == a.annotation; };
      if (wanted(a) && a.is_write() && std::ranges::none_of(returns, same)) key += a.type + ", ";
    }
  };
  add_written([](const auto& a) { return a.name == "self" && !a.kwarg_only; });
  add_written([](const auto& a) { return a.is_out(); });
  add_written([](const auto& a) { return a.name != "self" && !a.kwarg_only; });
  return key;
}

std::string Schema::text() const {
  bool star = false;
  const auto taken = mapped(arguments, [&](const ArgumentSchema& a) {
    const bool first_keyword = a.kwarg_only && !std::exchange(star, star || a.kwarg_only);
    return fmt::format("{}{} {}{}{}", first_keyword ? "*, " : "", a.annotated_type(), a.name,
                       a.default_value.empty() ? "" : "=", a.default_value);
  });
  const auto given = mapped(returns, [](const ReturnSchema& value) {
    return value.annotated_type() + (value.name.empty() ? "" : " ") + value.name;
  });
  const std::string result = fmt::format("{}({}) -> ", name(), fmt::join(taken, ", "));
  return result + (given.size() == 1 ? given[0] : fmt::format("({})", fmt::join(given, ", ")));
}

}  // namespace openreg_gen
