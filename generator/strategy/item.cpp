#include "strategy/item.h"

#include "base/text.h"
#include "releases/releases.h"
#include "schema/schema.h"
#include "spec/document.h"

namespace openreg_gen {
namespace {

/// What PyTorch's impl() takes for an argument: itself, or what meta() made of it ("dim -> int dim, int valid").
std::vector<std::string> precomputed(const Op& op, const std::string& name, const std::string& itself) {
  for (const std::string& line : op.precomputed) {
    const auto arrow = line.find(" -> ");
    if (arrow == std::string::npos || line.substr(0, arrow) != name) continue;
    std::vector<std::string> out;
    for (const auto piece : split_top_level(std::string_view(line).substr(arrow + 4), ',')) {
      const std::string text(piece);
      out.push_back("precomputed." + text.substr(text.rfind(' ') + 1));
    }
    return out;
  }
  return {itself};
}

}  // namespace

OpItem::OpItem(const Op& of) {
  const auto parameters_of = parameters(of);
  for (const Parameter& p : parameters_of)
    if (p.out) outs.push_back(p.name);
  const bool inplace = contains(of.returns, '&') && outs.empty();
  op = of.name;
  id = op_id(of);
  file = op_file(of);
  base = of.base;
  ops_struct = of.ops_struct();
  schema = of.schema;
  ops_header = "ATen/ops/" + header_root(of) + "_ops.h";
  in_place = outs.empty() && (inplace || of.returns == "void");
  returns = cpp_return(of.returns);
  params = declaration(parameters_of);
  args = names(parameters_of);
  guard = device_guard(parameters_of);
  out_args = join(outs);
  return_value = of.returns == "void" ? ""
                 : inplace            ? parameters_of.at(0).name
                 : outs.size() == 1   ? outs[0]
                                      : "{" + out_args + "}";
  structured = of.structured;
}

void OpItem::print(Fields out) const {
  PRINT_FIELDS(out, op, id, file, base, schema, ops_header, in_place, returns, params, args, guard, outs, out_args,
               return_value, structured)("struct", ops_struct)("out_count", outs.size());
  if (calls) calls->print(out);
  if (releases) releases->print(out);
}

std::string OpItem::signature() const {
  return calls ? "void " + id + "::impl(" + calls->impl_params + ")" : returns + " " + id + "(" + params + ")";
}

void StructuredTexts::print(Fields out) const {
  PRINT_FIELDS(out, meta_header, meta_struct, precomputed, meta_args, stub_impl_args, impl_params, impl_params_unnamed,
               detour_args, run_params, run_args, body_params, check_tensors, functional_forms, in_place_forms);
}

StructuredTexts SpecView::structured(const Op& op) const {
  std::vector<std::string> meta, stub_impl, detour;
  std::vector<Parameter> impl_params, run_params, body_params;
  StructuredTexts texts;
  if (!op.precomputed.empty()) {
    const std::string type = "const " + op.meta_struct + "::meta_return_ty&";
    impl_params.push_back({type, "precomputed", false});
    body_params.push_back({type, "", false});
  }
  std::size_t index = 0;
  for (const Parameter& p : parameters(op)) {
    detour.push_back(p.name);
    if (p.out) {
      const std::string output = "op.maybe_get_output(" + std::to_string(index++) + ")";
      stub_impl.push_back(output);
      impl_params.push_back({"const at::Tensor&", p.name, true});
      body_params.push_back({"const at::Tensor&", "", true});
      continue;
    }
    const std::string passed = p.optional_tensor()   ? "tensor_ref(" + p.name + ")"
                               : p.optional_scalar() ? "scalar_ref(" + p.name + ")"
                                                     : p.name;
    if (p.any_tensor() && op.device_check) texts.check_tensors.push_back(p.name);
    run_params.push_back(p);
    // Shapes and dtypes are meta()'s, and no expression reads a text.
    const bool unused = p.name == "keepdim" || p.name == "dtype" || p.type == "c10::string_view";
    body_params.push_back({(unused ? "[[maybe_unused]] " : "") + p.type, p.name, false});
    meta.push_back(passed);
    for (const std::string& text : precomputed(op, p.name, passed)) stub_impl.push_back(text);
    impl_params.push_back(p);
  }
  texts.meta_header = "ATen/ops/" + header_root(op) + "_meta.h";
  texts.meta_struct = op.meta_struct;
  texts.precomputed = !op.precomputed.empty();
  texts.meta_args = join(meta);
  texts.stub_impl_args = join(stub_impl);
  texts.impl_params = declaration(impl_params);
  texts.impl_params_unnamed = join(mapped(impl_params, &Parameter::type));
  texts.detour_args = join(detour);
  texts.run_params = declaration(run_params);
  texts.run_args = names(run_params);
  texts.body_params = declaration(body_params);
  // The functional and in-place forms, which its kernel serves.
  for (const std::string& name : op.variants) {
    const Op* form = catalog.find(name);
    if (form == nullptr || form->structured_delegate != op.name || registered.contains(name)) continue;
    (form->kind == SchemaKind::Inplace ? texts.in_place_forms : texts.functional_forms)
        .push_back({name, form->ops_struct()});
  }
  return texts;
}

std::string SpecView::kernel(const Op& op, OpItem& item) const {
  const auto kernel = op.kernels.find("CPU");
  if (op.structured) item.calls = structured(op);
  item.native_header = "ATen/ops/" + header_root(op) + "_native.h";
  return op.structured ? op.native_struct("CPU")
                       : "at::native::" + (kernel == op.kernels.end() ? op_id(op) : kernel->second);
}

bool SpecView::falls_back(const OpSpec& entry) const {
  return (entry.fallback.given() ? *entry.fallback : *spec.fallback.kind) != FallbackKind::None;
}

const std::vector<std::unique_ptr<OpItem>>& StrategySummary::of(std::string_view list) const {
  static const std::vector<std::unique_ptr<OpItem>> none;
  const auto at = lists.find(list);
  return at == lists.end() ? none : at->second;
}

std::vector<std::string> dtype_names(const OpSpec& entry) {
  return mapped(*entry.dtypes, [](const auto& dtype) { return *dtype; });
}

Location place_in(const SpecValue<Expr>& expr, std::size_t offset, const Spec& spec) {
  return place_inside({.kind = Node::Kind::String, .text = expr->text, .at = expr.at}, offset, spec.text);
}

void check_dtypes(const Spec& spec, const OpSpec& op, const SpecValue<Expr>& expr, Diagnostics& diagnostics,
                  const std::function<bool(const std::string&)>& is_element) {
  if (const auto error = dtype_error(*expr, dtype_names(op), is_element))
    diagnostics.error(error->code, place_in(expr, error->offset, spec), error->message, error->hint);
}

std::string detour_function(const OpSpec& entry) {
  return entry.fallback.given() ? "fall_back<FallbackKind::" + fallback_enumerator(*entry.fallback) + ">" : "detour";
}

DtypeTexts::DtypeTexts(const SpecView& shown, const OpSpec& entry, const OpItem& item)
    : dispatch(dispatch_types(dtype_names(entry))), takes(enumerators(dtype_names(entry))) {
  if (shown.falls_back(entry))
    other_dtypes = "detour<" + item.ops_struct + (entry.fallback.given() ? ", &" + detour_function(entry) : "") + ">";
}

std::string fallback_enumerator(FallbackKind kind) {
  constexpr const char* kEnumerators[] = {"kNone", "kCpu", "kCopy", "kAlias", "kGraph"};
  return kEnumerators[static_cast<std::size_t>(kind)];
}

void Headers::add(const OpItem& op, const std::string& header) {
  if (!header.empty()) (find_op_release(op.op) ? guarded_ : plain_).insert(header);
  limited_ = limited_ || !op.releases->when.empty();
}

void Headers::print(Fields out) const {
  std::set<std::string> guarded;
  std::ranges::set_difference(guarded_, plain_, std::inserter(guarded, guarded.end()));
  out("headers", plain_)("guarded_headers", guarded)("limited", limited_);
}

}  // namespace openreg_gen
