#include "catalog/build.h"

#include "catalog/cpp_types.h"
#include "diag/failure.h"
#include "base/text.h"
#include "system/hash.h"

#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>

namespace openreg_gen {
namespace {

using Functions = std::unordered_map<std::string, const NativeFunction*>;
using Groups = std::unordered_map<std::string, std::vector<const NativeFunction*>>;

/// Without RegistrationDeclarations.h: what it would say, from the schema.
Declaration declare(const NativeFunction& f) {
  Declaration d;
  const CppTypeOptions options{f.in_structured_group(), f.const_ref_mutable};
  d.schema = f.schema;
  d.schema_text = "aten::" + f.schema.text();
  try {
    d.returns = cpp_return_type(f.schema.returns, options);
    for (const auto& a : f.schema.arguments) d.argument_types.push_back(cpp_argument_type(a, options));
  } catch (const std::invalid_argument& e) {
    throw Failure(Exit::Environment, "E0402", "native_functions.yaml, '" + f.schema.name() + "': " + e.what(),
                  "openreg-gen doesn't know this PyTorch yet; use a release in its range");
  }
  const bool nested = f.has_kernel("CompositeImplicitAutogradNestedTensor");
  const bool implicit = f.has_kernel("CompositeImplicitAutograd");
  // Released wheels are built without these three, and their header does not count them.
  const auto left_out = [](const auto& kernel) {
    return kernel.first == "MPS" || kernel.first == "MTIA" || kernel.first == "XPU";
  };
  const auto counted = static_cast<long>(f.kernels.size()) - std::ranges::count_if(f.kernels, left_out);
  d.has_dispatch = !(implicit && counted == (nested ? 2 : 1));
  // A structured group's out form serves the others through a kernel that codegen adds for them.
  d.has_default = implicit || f.has_kernel("CompositeExplicitAutograd") ||
                  f.has_kernel("CompositeExplicitAutogradNonFunctional") || !f.structured_delegate.empty();
  return d;
}

Op make_op(const Declaration& d) {
  Op op;
  op.name = d.schema.name();
  op.base = d.schema.base;
  op.overload = d.schema.overload;
  op.schema = d.schema_text;
  op.returns = d.returns;
  op.kind = d.schema.kind();
  op.has_default = d.has_default;
  op.has_dispatch = d.has_dispatch;
  for (const auto& r : d.schema.returns) op.schema_returns.push_back(r.annotated_type());
  for (std::size_t i = 0; i < d.schema.arguments.size(); ++i) {
    const auto& a = d.schema.arguments[i];
    op.arguments.push_back(
        {d.argument_types[i], a.name, a.annotated_type(), a.default_value, a.kwarg_only, a.is_out()});
  }
  return op;
}

/// "at::meta::structured_add_Tensor": PyTorch names it after the functional form.
std::string meta_struct(const NativeFunction& f, const std::vector<const NativeFunction*>& group) {
  if (!f.in_structured_group()) return {};
  for (const auto* g : group) {
    if (g->schema.kind() != SchemaKind::Functional) continue;
    const auto& s = g->schema;
    return "at::meta::structured_" + s.base + (s.overload.empty() ? "" : "_" + s.overload);
  }
  return {};
}

void add_structure(Op& op, const NativeFunction& f, const std::vector<const NativeFunction*>& group,
                   const std::vector<std::string>& known_tags) {
  static_cast<YamlEntry&>(op) = f;
  op.composite_implicit = f.has_kernel("CompositeImplicitAutograd");
  op.meta_struct = meta_struct(f, group);
  // Tags that PyTorch gives without their being written.
  const auto give = [&](const char* tag, bool wanted) {
    if (wanted && contains(known_tags, tag)) op.tags.emplace_back(tag);
  };
  give("pt2_compliant_tag", !f.generated);
  give("out", op.kind == SchemaKind::Out);
  give("inplace", op.kind == SchemaKind::Inplace);
  std::ranges::sort(op.tags);
  const auto repeated = std::ranges::unique(op.tags);
  op.tags.erase(repeated.begin(), repeated.end());
  for (const auto* g : group)
    if (g != &f) op.variants.push_back(g->schema.name());
  std::ranges::sort(op.variants);
  op.is_view = is_view_op(f.schema, op.tags);
}

/// Makes its result from nothing but options: takes dtype, layout, device and pin_memory, and returns a new tensor.
bool is_factory(const Op& op) {
  constexpr std::string_view options[] = {"dtype", "layout", "device", "pin_memory"};
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
  return contains(tags, "inplace_view") && name != "resize_" && name != "resize_as_";
}

/// Several may hold; the one that says most about what a backend has to do comes first.
///  1. structured: one kernel serves the group, whatever else is true of it.
///  2. composite, if PyTorch decomposes it under autograd too: nothing needs to be done, and registering it does
///     harm. `reshape` is a view and `dropout` is random, but each is made of ops that carry that class themselves.
///  3. view, factory, random: before the rest, since they have to be the device's own: a view of its memory, a tensor
///     on it, a generator of it. Many also have a default, which Op::has_default says.
///  4. composite, by any other default.
///  5. native: everything else has to be written, or falls back.
OpClass classify(const Op& op) {
  if (op.in_structured_group()) return OpClass::Structured;
  if (op.composite_implicit) return OpClass::Composite;
  if (op.is_view) return OpClass::View;
  if (is_factory(op)) return OpClass::Factory;
  if (op.has_tag("nondeterministic_seeded")) return OpClass::Random;
  return op.has_default ? OpClass::Composite : OpClass::Native;
}

Catalog build_catalog(const CatalogSources& sources) {
  Catalog catalog;
  catalog.dir_ = sources.torch;
  catalog.version_ = sources.version;
  Hash hash;
  const auto read = [](const fs::path& path) { return read_file(path, "E0402", "check the file's permissions"); };

  const auto yaml = read(sources.native_functions);
  const auto tags_yaml = read(sources.tags);
  hash.add(yaml);
  hash.add(tags_yaml);
  const auto tags = read_tags(tags_yaml, sources.tags);
  auto functions = read_native_functions(yaml, sources.native_functions);
  // Generated forms inherit this tag, so it has to be there before they are made.
  if (contains(tags, "pt2_compliant_tag"))
    for (auto& f : functions) f.tags.emplace_back("pt2_compliant_tag");
  add_generated_forms(functions);

  Functions by_name;
  Groups groups;
  for (const auto& f : functions) {
    by_name[f.schema.name()] = &f;
    groups[f.schema.group_key()].push_back(&f);
  }
  std::vector<Declaration> declarations;
  if (sources.declarations.empty()) {
    for (const auto& f : functions) declarations.push_back(declare(f));
  } else {
    const auto text = read(sources.declarations);
    hash.add(text);
    declarations = read_registration_declarations(text, sources.declarations);
  }

  catalog.ops.reserve(declarations.size());
  for (const auto& d : declarations) {
    auto op = make_op(d);
    if (const auto f = by_name.find(op.name); f != by_name.end())
      add_structure(op, *f->second, groups[f->second->schema.group_key()], tags);
    op.op_class = classify(op);
    catalog.ops.push_back(std::move(op));
  }
  std::ranges::sort(catalog.ops, {}, &Op::name);
  if (!sources.autocast.empty()) catalog.autocast = read_autocast_rules(try_read_file(sources.autocast).value_or(""));
  catalog.identity_ = fmt::format("torch-{}-{:016x}", catalog.version_, hash.value());
  return catalog;
}

}  // namespace openreg_gen
