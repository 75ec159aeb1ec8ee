#include "cli/explain_view.h"

#include "cli/ops_view.h"
#include "cli/page.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace openreg_gen {
namespace {

std::string place(const Location& at) { return fmt::format("{}:{}", at.file, at.line); }

/// "a, b and 7 more"
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const std::size_t shown = std::min(names.size(), kShown);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

}  // namespace

std::string about_registration(const Op& op) {
  if (is_minimal_op(op.name))
    return "PrivateUse1, by every backend: no fallback can serve it (csrc/aten/RegisterMinimal.cpp)";
  if (!op.structured_delegate.empty()) {
    return fmt::format(
        "none of its own: PyTorch's default kernel of it runs meta() and '{}', which is what a backend "
        "registers at PrivateUse1",
        op.structured_delegate);
  }
  if (op.composite_implicit) {
    return "none: it is CompositeImplicitAutograd, so a call becomes calls of other operators before it reaches "
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
    return fmt::format("itself only; its other forms ({}) are operators of their own", fmt::join(apart, ", "));
  return {};
}

std::string about_decomposition(const Traced& traced) {
  if (!traced.composite) return {};
  if (traced.torch.empty()) return "unknown: specs/decompositions.json is not among openreg-gen's data";
  if (traced.into.empty())
    return fmt::format("not traced: no sample of PyTorch {}'s own tests calls it, or it picks its kernel by device",
                       traced.torch);
  return fmt::format(
      "into {}{} (traced with PyTorch {}, on the CPU; other inputs may take other ways)", first_of(traced.into),
      traced.ends_in.empty() ? "" : fmt::format("; in the end {}", first_of(traced.ends_in)), traced.torch);
}

std::string about_callers(const Traced& traced) {
  if (traced.torch.empty() || (traced.reached_from.empty() && traced.composite)) return {};
  if (traced.reached_from.empty()) return fmt::format("no composite that was traced (PyTorch {})", traced.torch);
  return fmt::format("{} (traced with PyTorch {})", first_of(traced.reached_from), traced.torch);
}

std::optional<InSpec> find_in_spec(const Op& op, const Resolved& resolved) {
  for (const std::string& name : {op.name, op.structured_delegate}) {
    for (const ResolvedOp& each : resolved.ops) {
      if (each.op.name == name) return InSpec{name, std::string(each.entry.strategy.value->word), place(each.at())};
    }
  }
  return std::nullopt;
}

std::string explain_op(const Op& op, const Catalog& catalog, const std::optional<Derivative>& derivative,
                       const Traced& traced, const std::string& spec_file, const std::optional<InSpec>& in_spec,
                       std::size_t width) {
  Page page(width);
  page.raw(fmt::format("{}\n\n", op.schema));
  page.entry("class", about_class(op));
  page.entry("registered", about_registration(op));
  page.entry("serves", about_variants(op, catalog));
  page.entry("decomposes", about_decomposition(traced));
  page.entry("reached from", about_callers(traced));
  page.entry("autograd", about_autograd(op, derivative));
  if (derivative && op.kind != SchemaKind::Out && !op.composite_implicit) {
    for (const auto& [name, formula] : derivative->formulas) page.entry("", name + ": " + formula);
  }
  if (op.has_tag("generated"))
    page.entry("origin", "PyTorch's codegen adds this form (autogen); it has no kernel of its own");
  page.raw("\n  strategies\n");
  std::string why;
  const bool served = !op.structured_delegate.empty() || op.composite_implicit;  // nothing is best registered
  const Strategy* best = served ? nullptr : &best_strategy(op, why);
  for (const auto& fit : fitting_strategies(op)) {
    const auto verdict = !fit.fits ? "no" : fit.needs_override ? "override" : fit.strategy == best ? "best" : "yes";
    auto line = fmt::format("    {:<13} {:<8}  {}", fit.strategy->word, verdict,
                            wrap_words(fit.strategy == best && fit.reason.empty() ? why : fit.reason, 28, width));
    line.erase(line.find_last_not_of(' ') + 1);
    page.raw(line + "\n");
  }
  if (spec_file.empty()) return page.take();
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
  return page.take();
}

nlohmann::ordered_json explain_op_json(const Op& op, const Catalog& catalog,
                                       const std::optional<Derivative>& derivative, const Traced& traced,
                                       const std::optional<InSpec>& in_spec) {
  auto json = op_details(op);
  json["registered"] = about_registration(op);
  json["serves"] = about_variants(op, catalog);
  json["decomposition"] = {{"torch", traced.torch},
                           {"into", traced.into},
                           {"ends_in", traced.ends_in},
                           {"reached_from", traced.reached_from}};
  json["autograd"] = about_autograd(op, derivative);
  json["derivative"] = nlohmann::ordered_json::object();
  for (const auto& [name, formula] : derivative ? derivative->formulas : decltype(derivative->formulas){})
    json["derivative"][name] = formula;
  std::string why;
  if (op.structured_delegate.empty() && !op.composite_implicit) json["best_strategy"] = best_strategy(op, why).word;
  if (in_spec) json["in_spec"] = {{"op", in_spec->by}, {"strategy", in_spec->strategy}, {"place", in_spec->place}};
  return json;
}

}  // namespace openreg_gen
