// openreg-gen explain WHAT: an operator or a diagnostic; files and lines are in explain_tree.cpp.
#include "cli/explain.h"

#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "diag/codes.h"
#include "base/suggest.h"
#include "base/text.h"
#include "render/data_dir.h"
#include "resolve/validate.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"
#include "tree/paths.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

std::string place(const Location& at) { return fmt::format("{}:{}", at.file, at.line); }

/// "a, b and 7 more"
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const std::size_t shown = std::min(names.size(), kShown);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

struct ExplainOptions {
  std::string what;
};

void declare(CLI::App& app, Invocation& call, ExplainOptions& options) {
  app.add_option("WHAT", options.what, "PATH or PATH:LINE in a tree; an operator, add.Tensor; a code, E0203")
      ->required();
  call.add_tree(app, "The tree, or a folder in it; default: the one the file is in, or you stand in");
  call.add_torch(app);
  call.add_json(app);
}

std::optional<ExplainedTree> tree_around(const Invocation& call, const fs::path& near) {
  ExplainedTree tree;
  std::error_code error;
  try {
    const fs::path start = !call.folder.empty()      ? fs::path(call.folder)
                           : fs::exists(near, error) ? (fs::is_directory(near) ? near : near.parent_path())
                                                     : fs::path();
    tree.root = find_tree(start);
  } catch (const Failure&) {
    if (!call.folder.empty()) throw;
    return std::nullopt;
  }
  tree.manifest = parse_manifest(read_if_there(tree.root / kManifest));
  tree.shown_spec = fs::proximate(tree.root / tree.manifest.spec).string();
  Diagnostics ignored;  // a spec with faults still says what it says; `check` reports the faults
  if (auto text = read_spec_file(tree.root / tree.manifest.spec, ignored))
    tree.spec = parse_spec_text(std::move(*text), tree.shown_spec, ignored);
  return tree;
}

Exit explain_code(const Invocation& call, const std::string& given) {
  const std::string code = upper_case(given);
  const Code* found = find_code(code);
  if (!found)
    throw Failure(Exit::BadInput, "E0554", fmt::format("there is no diagnostic '{}'", code),
                  did_you_mean(code, mapped(all_codes(), &Code::code)));
  const Json json{{"code", found->code}, {"title", found->title}, {"text", found->explanation}};
  const std::string about = wrap_words(std::string(found->explanation), 2, terminal_width());
  return call.answer(json, fmt::format("{}: {}\n\n  {}\n", found->code, found->title, about), -1);
}

Exit explain_custom(const Invocation& call, const CustomOpSpec& op, const std::string& name) {
  const auto autograd = find_key("custom_ops[].autograd")->values[static_cast<std::size_t>(*op.autograd)];
  Page page(terminal_width());
  page.raw(fmt::format("{}\n\n", *op.schema));
  page.entry("class", "custom: the backend's own, torch.ops." + name);
  page.entry("kernel", op.expr.given() ? "the spec's expression, on the device, the CPU and meta: " + op.expr->text
                                       : "yours, in csrc/aten/native");
  const auto gradients = mapped(*op.backward, [](const auto& each) { return each ? each->text : std::string(); });
  page.entry("autograd", fmt::format("{}{}{}", autograd, gradients.empty() ? "" : ": ", fmt::join(gradients, ";")));
  page.entry("this tree", place(op.schema.at));
  return call.answer(Json{{"schema", *op.schema}, {"place", place(op.schema.at)}}, page.take(), -1);
}

Exit explain_operator(Invocation& call, const std::string& word, const std::optional<ExplainedTree>& tree) {
  if (tree) {
    const std::string& backend = *tree->spec.backend.name;
    const std::string bare = word.starts_with(backend + "::") ? word.substr(backend.size() + 2) : word;
    for (const CustomOpSpec& op : tree->spec.custom_ops)
      if (op.schema->substr(0, op.schema->find('(')) == bare) return explain_custom(call, op, backend + "." + bare);
  }
  const Catalog& catalog = call.catalog();
  const Op* op = catalog.find(word);
  if (!op) {
    const auto overloads = catalog.overloads(word);
    if (overloads.size() > 1 && !call.json) {
      print_text(overloads_table(word, overloads, terminal_width()));
      return Exit::Done;
    }
    if (overloads.size() == 1) op = overloads[0];
  }
  if (!op) {
    Diagnostics diagnostics;
    find_op({word.starts_with("aten::") ? word.substr(6) : word, {}}, catalog, "E0201", "E0202", diagnostics);
    const Diagnostic& first = diagnostics.all().at(0);
    throw Failure(Exit::BadInput, first.code, first.message, first.hint);
  }
  const fs::path file = find_derivatives(catalog.torch_dir());
  const auto derivative = file.empty() ? std::nullopt : find_derivative(read_if_there(file), *op, catalog);
  std::optional<InSpec> in_spec;
  if (tree) {
    Diagnostics ignored;
    in_spec = find_in_spec(*op, expand_ops(tree->spec, catalog, ignored));
  }
  const Traced traced = find_traced(*op, catalog, read_decompositions(find_data().specs / "decompositions.json"));
  return call.answer(
      explain_op_json(*op, catalog, derivative, traced, in_spec),
      explain_op(*op, catalog, derivative, traced, tree ? tree->shown_spec : "", in_spec, terminal_width()));
}

/// "a.cpp:12" -> "a.cpp", 12.
int split_line(std::string& path) {
  const std::size_t colon = path.rfind(':');
  if (colon == std::string::npos || colon + 1 == path.size() || path.size() - colon > 9) return 0;
  if (!std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(), is_digit)) return 0;
  const int line = std::stoi(path.substr(colon + 1));
  path.resize(colon);
  return line;
}

Exit run(Invocation& call, const ExplainOptions& options) {
  const std::string& what = options.what;
  const bool code =
      what.size() == 5 && (what[0] == 'E' || what[0] == 'e') && std::all_of(what.begin() + 1, what.end(), is_digit);
  if (code) return explain_code(call, what);
  std::string path = what;
  const int line = split_line(path);
  std::error_code error;
  const auto tree = tree_around(call, path);
  if (tree) {
    const fs::path here = fs::weakly_canonical(path, error).lexically_relative(fs::canonical(tree->root, error));
    const bool inside = !here.empty() && *here.begin() != "..";
    if (inside && (fs::is_regular_file(path, error) || tree->manifest.files.contains(here.generic_string())))
      return explain_path(call, *tree, here.generic_string(), line);
    const std::string plain = fs::path(path).lexically_normal().generic_string();
    if (tree->manifest.files.contains(plain) || contains(plain, '/') || line > 0)
      return explain_path(call, *tree, plain, line);
  } else if (contains(what, '/') || line > 0) {
    throw Failure(Exit::BadInput, "E0502", "'" + path + "' is in no generated backend",
                  "operators and diagnostics are explained anywhere; for a file, give its tree with -C");
  }
  return explain_operator(call, what, tree);
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
    for (const ResolvedOp& each : resolved.ops)
      if (each.op.name == name) return InSpec{name, std::string(each.entry.strategy.value->word), place(each.at())};
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
  std::string why;
  const bool served = !op.structured_delegate.empty() || op.composite_implicit;  // nothing is best registered
  const Strategy* best = served ? nullptr : &best_strategy(op, why);
  page.raw(strategies_table(op, best, why, width));
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

std::string read_if_there(const fs::path& path) { return try_read_file(path).value_or(""); }

Verb explain_verb() {
  return {"explain",
          "Explain a file or line of a backend, an operator, or a diagnostic",
          with_options<ExplainOptions>(declare, run),
          {"explain csrc/runtime/Guard.cpp", "explain csrc/aten/RegisterNative.cpp:42", "explain add.out",
           "explain E0203"}};
}

}  // namespace openreg_gen
