// openreg-gen explain add.out: the pages of operators, PyTorch's own and the backend's own ones.
#include "cli/explain.h"

#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "render/data_dir.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

std::string place(const Location& at) { return fmt::format("{}:{}", at.file, at.line); }

std::string_view custom_name(const CustomOpSpec& op) {
  return std::string_view(*op.schema).substr(0, op.schema->find('('));
}

}  // namespace

std::vector<std::string> custom_op_names(Question& asked) {
  return mapped(asked.tree ? asked.tree->spec.custom_ops : std::vector<CustomOpSpec>{},
                [](const CustomOpSpec& op) { return std::string(custom_name(op)); });
}

Answer explain_custom_op(Question& asked, const std::string& name) {
  const CustomOpSpec& op = *find_by(asked.tree->spec.custom_ops, name, custom_name);
  const auto autograd = find_key("custom_ops[].autograd")->values[static_cast<std::size_t>(*op.autograd)];
  const auto gradients = mapped(*op.backward, [](const auto& each) { return each ? each->text : std::string(); });
  const std::string expr = op.expr.given() ? op.expr->text : "";
  return answer_of(
      *op.schema,
      {{"class", fmt::format("custom: the backend's own, torch.ops.{}.{}", *asked.tree->spec.backend.name, name)},
       {"kernel", expr.empty() ? "yours, in csrc/aten/native"
                               : "the spec's expression, on the device, the CPU and meta: " + expr},
       {"autograd", fmt::format("{}{}{}", autograd, gradients.empty() ? "" : ": ", fmt::join(gradients, ";"))},
       {"this tree", place(op.schema.at)}});
}

const Catalog* Question::catalog() try { return &call.catalog(); } catch (const Failure& failure) {
  if (failure.exit() != Exit::Environment) throw;
  return nullptr;
}

std::vector<std::string> op_names(Question& asked) {
  std::vector<std::string> names;
  if (const Catalog* catalog = asked.catalog())
    for (const Op& op : catalog->all()) names.insert(names.end(), {op.name, op.base});
  return names;
}

Answer explain_op(Question& asked, const std::string& name) {
  const Catalog& catalog = asked.call.catalog();
  const auto overloads = catalog.overloads(name);
  const Op* op = catalog.find(name);
  if (!op && overloads.size() > 1)
    return {overloads_table(name, overloads, terminal_width()),
            {{"overloads", mapped(overloads, [](const Op* each) { return each->name; })}}};
  if (!op) op = overloads.at(0);
  const fs::path file = find_derivatives(catalog.torch_dir());
  const auto derivative = file.empty() ? std::nullopt : find_derivative(read_if_there(file), *op, catalog);
  std::optional<InSpec> in_spec;
  const Spec* here = asked.tree ? &asked.tree->spec : nullptr;
  if (asked.tree) {
    Diagnostics ignored;
    in_spec = find_in_spec(*op, expand_ops(asked.tree->spec, catalog, ignored));
  }
  const OpTrace traced = find_traced(*op, catalog, read_decompositions(find_data().specs / "decompositions.json"));
  const std::string spec = asked.tree ? asked.tree->shown_spec : "";
  return explain_op(*op, catalog, derivative, traced, spec, in_spec, here);
}

std::string about_registration(const Op& op) {
  if (is_minimal_op(op.name))
    return "PrivateUse1, in every backend: no fallback can serve it (csrc/aten/RegisterMinimal.cpp)";
  if (!op.structured_delegate.empty()) {
    return fmt::format(
        "not its own: PyTorch's default kernel for it runs meta() and '{}', which is what a backend "
        "registers at PrivateUse1",
        op.structured_delegate);
  }
  if (op.composite_implicit) {
    return "none: it is CompositeImplicitAutograd, so a call becomes calls to other operators before it reaches "
           "PrivateUse1";
  }
  if (op.default_throws())
    return "PrivateUse1, below autograd; PyTorch's CompositeExplicitAutograd kernel serves no backend, and throws";
  if (op.has_default) {
    return "none needed: PyTorch's CompositeExplicitAutograd kernel serves every backend; one at PrivateUse1 goes "
           "before "
           "it";
  }
  const std::string key = "PrivateUse1, below autograd: PyTorch's own Autograd key runs first and calls it";
  if (op.structured) return key + "; the functional and the in-place form follow from it";
  return key + (unfit(*find_strategy("cpu_fallback"), op).empty()
                    ? "; without a kernel the backend's fallback takes the call"
                    : "; without a kernel a call raises, since no fallback serves it");
}

std::string about_variants(const Op& op, const Catalog& catalog) {
  std::vector<std::string> served, apart;
  for (const std::string& name : op.variants) {
    const Op* other = catalog.find(name);
    if (!other) continue;
    (other->structured_delegate == op.name ? served : apart).push_back(name);
  }
  if (!served.empty()) return fmt::format("{} end in its kernel", fmt::join(served, ", "));
  if (!op.structured_delegate.empty() || op.composite_implicit) return {};
  if (!apart.empty())
    return fmt::format("only this form; its other forms ({}) are separate operators", fmt::join(apart, ", "));
  return {};
}

std::string about_decomposition(const OpTrace& traced) {
  if (!traced.composite) return {};
  if (traced.torch.empty()) return "unknown: specs/decompositions.json is missing from openreg-gen's data";
  if (traced.into.empty())
    return fmt::format("not traced: none of PyTorch {}'s own samples calls it, or it picks its kernel by device",
                       traced.torch);
  return fmt::format(
      "into {}{} (traced with PyTorch {}, on the CPU; other inputs may take other paths)", first_of(traced.into),
      traced.ends_in.empty() ? "" : fmt::format("; in the end {}", first_of(traced.ends_in)), traced.torch);
}

std::string about_callers(const OpTrace& traced) {
  if (traced.torch.empty() || (traced.reached_from.empty() && traced.composite)) return {};
  if (traced.reached_from.empty()) return fmt::format("no composite that was traced (PyTorch {})", traced.torch);
  return fmt::format("{} (traced with PyTorch {})", first_of(traced.reached_from), traced.torch);
}

std::optional<InSpec> find_in_spec(const Op& op, const ResolvedSpec& resolved) {
  for (const std::string& name : {op.name, op.structured_delegate}) {
    for (const ResolvedOp& each : resolved.ops)
      if (each.op.name == name) return InSpec{name, *each.entry.strategy, place(each.at())};
  }
  return std::nullopt;
}

Answer explain_op(const Op& op, const Catalog& catalog, const std::optional<Derivative>& derivative,
                  const OpTrace& traced, const std::string& spec_file, const std::optional<InSpec>& in_spec,
                  const Spec* spec) {
  Page page(page_width());
  auto json = op_details(op, spec);
  page.raw(fmt::format("{}\n\n", op.schema));
  page.entry("class", about_class(op));
  page.entry("registered", json["registered"] = about_registration(op));
  page.entry("serves", json["serves"] = about_variants(op, catalog));
  page.entry("decomposes", about_decomposition(traced));
  page.entry("reached from", about_callers(traced));
  json["decomposition"] = {{"torch", traced.torch},
                           {"into", traced.into},
                           {"ends_in", traced.ends_in},
                           {"reached_from", traced.reached_from}};
  page.entry("autograd", json["autograd"] = about_autograd(op, derivative));
  json["derivative"] = nlohmann::ordered_json::object();
  for (const auto& [name, formula] : derivative ? derivative->formulas : decltype(derivative->formulas){}) {
    json["derivative"][name] = formula;
    if (op.kind != SchemaKind::Out && !op.composite_implicit) page.entry("", name + ": " + formula);
  }
  if (op.has_tag("generated"))
    page.entry("origin", "PyTorch's codegen adds this form (autogen); it has no kernel of its own");
  page.raw(strategies_table(op, terminal_width(), spec));
  if (in_spec) json["in_spec"] = {{"op", in_spec->by}, {"strategy", in_spec->strategy}, {"place", in_spec->place}};
  if (spec_file.empty()) return {page.take(), json};
  page.raw("\n");
  std::string where = fmt::format("not in {}", spec_file);
  if (in_spec) {
    where = fmt::format("{}: {}{}", in_spec->place, in_spec->strategy,
                        in_spec->by == op.name ? "" : fmt::format(", by '{}'", in_spec->by));
  } else if (is_minimal_op(op.name)) {
    where = "in every backend: the minimal set";
  } else if (op.composite_implicit) {
    where += ", and need not be";
  } else if (!op.has_default || op.default_throws() || !op.structured_delegate.empty()) {
    where += fmt::format("; `openreg-gen add {}` adds it", op.name);
  }
  page.entry("this tree", where);
  return {page.take(), json};
}

}  // namespace openreg_gen
