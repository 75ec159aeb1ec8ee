#include "catalog/build.h"

#include <algorithm>
#include <array>

namespace openreg_gen {
namespace {

/// Makes its result from nothing but options: takes dtype, layout, device and pin_memory, and returns a new tensor.
bool is_factory(const Op& op) {
  constexpr std::array<std::string_view, 4> options = {"dtype", "layout", "device", "pin_memory"};
  return op.kind == SchemaKind::Functional && std::ranges::all_of(options, [&](std::string_view name) {
           return std::ranges::any_of(op.arguments, [&](const auto& a) { return a.kwarg_only && a.name == name; });
         });
}

}  // namespace

bool is_view_op(const Schema& schema, const std::vector<std::string>& tags) {
  const auto aliases = [](const auto& r) { return !r.annotation.empty() && !r.is_write(); };
  if (std::ranges::any_of(schema.returns, aliases)) return true;
  const auto wildcard = [](const auto& a) { return a.annotation.find("-> *") != std::string::npos; };
  if (std::ranges::any_of(schema.arguments, wildcard)) return true;
  const auto name = schema.name();
  return std::ranges::find(tags, "inplace_view") != tags.end() && name != "resize_" && name != "resize_as_";
}

/// Several may hold; the one that says most about what a backend has to do comes first.
///  1. structured: one kernel serves the group, whatever else is true of it.
///  2. composite, if PyTorch decomposes it under autograd as well: there is nothing to do, and registering it does
///     harm. `reshape` is a view and `dropout` is random, but each is made of ops that carry that class themselves.
///  3. view, factory, random: before the rest, since they have to be the device's own: a view of its memory, a tensor
///  on
///     it, a generator of it. Many also have a default, which
///     Op::has_default says.
///  4. composite, by any other default.
///  5. native: what is left has to be written, or falls back.
OpClass classify(const Op& op) {
  if (op.in_structured_group()) return OpClass::Structured;
  if (op.composite_implicit) return OpClass::Composite;
  if (op.is_view) return OpClass::View;
  if (is_factory(op)) return OpClass::Factory;
  if (op.has_tag("nondeterministic_seeded")) return OpClass::Random;
  return op.has_default ? OpClass::Composite : OpClass::Native;
}

}  // namespace openreg_gen
