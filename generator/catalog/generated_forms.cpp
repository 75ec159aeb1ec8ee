#include "catalog/build.h"

#include "diag/failure.h"
#include "base/text.h"

#include <map>
#include <set>

namespace openreg_gen {
namespace {

bool is_written_self(const ArgumentSchema& a) { return a.name == "self" && a.is_write(); }

/// The letters for new out arguments: those that no argument uses yet.
std::vector<std::string> free_letters(const Schema& schema) {
  std::vector<std::string> letters;
  for (char c = 'a'; c <= 'z'; ++c) {
    const auto used = [&](const auto& a) { return a.annotation.starts_with(c); };
    if (std::ranges::none_of(schema.arguments, used)) letters.emplace_back(1, c);
  }
  return letters;
}

void erase_tensor_options(Schema& schema) {
  const Schema original = schema;
  std::erase_if(schema.arguments, [&](const auto& a) { return original.is_tensor_options(a); });
}

/// out form of an in-place schema: `self` is read, a new `out` of its type and annotation is written and returned.
void out_of_inplace(Schema& schema) {
  const auto self = std::ranges::find_if(schema.arguments, is_written_self);
  ArgumentSchema out = *self;
  out.name = "out";
  out.kwarg_only = true;
  self->annotation.clear();
  schema.arguments.push_back(out);
}

/// out form of a functional or mutable schema: each tensor-like return becomes a written argument.
void out_of_returns(Schema& schema, SchemaKind kind) {
  const auto letters = free_letters(schema);
  const bool only_tensors = std::ranges::all_of(schema.returns, [](const auto& r) { return r.type == "Tensor"; });
  if (kind == SchemaKind::Functional) {
    erase_tensor_options(schema);
    for (auto& a : schema.arguments) a.annotation.clear();
  }
  std::vector<ReturnSchema> returns;
  for (std::size_t i = 0; i < schema.returns.size(); ++i) {
    const auto& r = schema.returns[i];
    if (!is_tensor_like(r.type)) {
      returns.push_back(r);
      continue;
    }
    const std::string name = schema.returns.size() == 1 ? "out" : "out" + std::to_string(i);
    schema.arguments.push_back({r.type, letters.at(i) + "!", name, "", true});
    if (only_tensors) returns.push_back({r.type, letters.at(i) + "!", ""});
  }
  schema.returns = std::move(returns);
}

Schema out_form(const Schema& written) {
  const auto kind = written.kind();
  Schema schema = written;
  if (kind == SchemaKind::Inplace) {
    schema.base = written.root();
    out_of_inplace(schema);
  } else {
    out_of_returns(schema, kind);
  }
  schema.overload = written.overload.empty() ? "out" : written.overload + "_out";
  return schema;
}

/// Functional form: what was written is returned instead.
Schema functional_form(const Schema& written) {
  Schema schema;
  schema.base = written.root() + (written.kind() == SchemaKind::Mutable ? "_functional" : "");
  schema.overload = written.overload;
  schema.returns = written.returns;
  for (auto& r : schema.returns) r.annotation.clear();
  for (const auto& a : written.arguments) {
    const auto returned = [&](const auto& r) { return r.annotation == a.annotation; };
    if (a.is_write() && std::ranges::none_of(written.returns, returned))
      schema.returns.push_back({a.type, "", a.name + "_out"});
    if (a.is_out()) continue;
    schema.arguments.push_back(a);
    schema.arguments.back().annotation.clear();
  }
  return schema;
}

NativeFunction generated_from(const NativeFunction& base, Schema schema) {
  NativeFunction f;
  f.generated = true;
  f.const_ref_mutable = base.const_ref_mutable;
  f.device_guard = false;
  f.device_check = false;
  const bool out = schema.kind() == SchemaKind::Out;
  std::string kernel = schema.base;
  if (out && !schema.overload.empty()) kernel += "_" + schema.overload;
  if (base.schema.has_symint_argument()) kernel += "_symint";
  f.kernels["CompositeExplicitAutograd"] = std::move(kernel);
  f.tags = {"generated"};
  for (const char* inherited : {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"})
    if (contains(base.tags, inherited)) f.tags.emplace_back(inherited);
  f.schema = std::move(schema);
  return f;
}

/// Groups whose `autogen` lines PyTorch passes over: those that bypass the dispatcher, views, and what decomposes.
bool passed_over(const std::vector<const NativeFunction*>& group) {
  const auto tagged_core = [](const auto* f) { return std::ranges::find(f->tags, "core") != f->tags.end(); };
  const auto implicit = [](const auto* f) { return f->has_kernel("CompositeImplicitAutograd"); };
  const auto view = [](const auto* f) { return f->schema.base != "set_" && is_view_op(f->schema, f->tags); };
  return std::ranges::all_of(group, &NativeFunction::manual_cpp_binding) || std::ranges::any_of(group, view) ||
         (std::ranges::all_of(group, implicit) && std::ranges::none_of(group, tagged_core));
}

/// The form that the others of its group are derived from.
const NativeFunction& base_of(const std::vector<const NativeFunction*>& group) {
  for (const auto kind : {SchemaKind::Mutable, SchemaKind::Inplace, SchemaKind::Out, SchemaKind::Functional}) {
    for (const auto* f : group)
      if (f->schema.kind() == kind) return *f;
  }
  return *group.front();
}

}  // namespace

void add_generated_forms(std::vector<NativeFunction>& functions) {
  std::map<std::string, std::vector<const NativeFunction*>> groups;
  for (const auto& f : functions) groups[f.schema.group_key()].push_back(&f);
  std::vector<NativeFunction> added;
  for (const auto& [key, group] : groups) {
    if (passed_over(group)) continue;
    std::set<std::string> announced;
    for (const auto* f : group) announced.insert(f->autogen.begin(), f->autogen.end());
    const auto& base = base_of(group);
    for (const auto& name : announced) {
      Schema schema = out_form(base.schema);
      if (schema.name() != name) schema = functional_form(base.schema);
      if (schema.name() != name) {
        throw Failure(Exit::Environment, "E0402",
                      "native_functions.yaml: '" + base.schema.name() + "' announces '" + name +
                          "', which cannot be derived from it",
                      "openreg-gen doesn't know this PyTorch yet; use a release in its range");
      }
      added.push_back(generated_from(base, std::move(schema)));
    }
  }
  functions.insert(functions.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

}  // namespace openreg_gen
