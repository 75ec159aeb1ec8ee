// `in_tree`: the kernel that PyTorch's own devices share.
#include "catalog/stubs.h"
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

#include <fmt/format.h>

#include <algorithm>

namespace openreg_gen {
namespace {

struct InTreeItem : OpItem {
  using OpItem::OpItem;
  std::string kernel;
  std::vector<OpItem> direct;  // its functional form, where that makes the result itself
  std::string direct_strides;
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, kernel, direct, direct_strides)("strategy", "in_tree");
  }
};

/// What serves a stub at first: the CPU's function for it, where there is one.
std::string stub_start(const Stub& stub, const std::string& ns) {
  if (stub.name == "index_put_with_sort_stub") return "&" + ns + "::host_index_put";
  return fmt::format("&{}::native::HostStub<{}, {}>::run", ns, stub.name, stub.promotes());
}

/// A file: the operators whose first stub one header declares, those of strategy `stub` too, and the stubs of that
/// header.
struct Family {
  struct StubKernel {
    std::string name, function;
    void print(Fields out) const { PRINT_FIELDS(out, name, function); }
  };
  std::string id;
  Headers headers;
  std::vector<const OpItem*> ops;
  std::map<std::string, StubKernel> stubs;
  void print(Fields out) const {
    std::vector<StubKernel> sorted;
    for (const auto& [name, stub] : stubs) sorted.push_back(stub);
    PRINT_FIELDS(out, id, ops)("stubs", sorted)("puts", stubs.contains("index_put_with_sort_stub"));
    headers.print(out);
  }
};

std::string not_in_tree(const Op& op) {
  if (auto other = served_by_delegate(op); !other.empty()) return other;
  const auto cpu = op.kernels.find("CPU");
  const auto cuda = op.kernels.find("CUDA");
  if (cpu == op.kernels.end() || cuda == op.kernels.end()) {
    return op.op_class == OpClass::Composite ? "PyTorch composes it from other operators already"
                                             : "PyTorch has no kernel for it that two kinds of devices share";
  }
  if (cpu->second != cuda->second)
    return fmt::format("PyTorch's kernels for it differ: '{}' on the CPU, '{}' on CUDA", cpu->second, cuda->second);
  if (op.op_class == OpClass::View) return "it is a view operator";
  const auto draws = [](const Argument& a) { return a.schema_type == "Generator?"; };
  if (std::ranges::any_of(op.arguments, draws)) return "it draws random numbers, and the device has its own generator";
  return in_tree_stubs(op.name) ? "" : "openreg-gen doesn't know what its kernel calls on a device";
}

std::unique_ptr<OpItem> in_tree_item(const SpecView& shown, const OpSpec&, const Op& op) {
  auto out = std::make_unique<InTreeItem>(op);
  out->kernel = shown.kernel(op, *out);
  // Made of other operators alone, each of which switches to the device of its operands itself.
  if (const auto stubs = in_tree_stubs(op.name); stubs && stubs->empty()) out->guard.clear();
  if (const std::string_view self = self_as_on_the_cpu(op.name); !self.empty() && out->calls)
    out->calls->stub_impl_args.replace(0, std::string_view("self").size(), self);
  const std::string_view strides = strides_of_result_like_self(op.name);
  if (const Op* form = shown.catalog.find(op.base);
      !strides.empty() && form != nullptr && !shown.registered.contains(form->name)) {
    out->direct.emplace_back(*form);
    out->direct_strides = strides;
  }
  return out;
}

/// Where it ends in a stub, that runs the CPU's function.
bool in_tree_on_host(const DeviceKind&, const DeviceKernels&, const Op& op) {
  const auto stubs = in_tree_stubs(op.name);
  return stubs && !stubs->empty();
}

/// A stub that another strategy serves is not given twice.
void summarise_in_tree(const SpecView& shown, StrategySummary& listed) {
  std::set<std::string> taken;
  for (const auto& [list, items] : listed.lists)
    for (const auto& each : items) taken.insert(each->stub);
  std::map<std::string, Family> families;
  const auto add = [&families](std::string_view id, const OpItem& op) {
    Family& family = families[std::string(id)];
    family.headers.add(op, op.ops_header);
    family.headers.add(op, op.native_header);
    family.ops.push_back(&op);
  };
  for (const auto& op : listed.of("stub"))
    if (!is_attention_choice(op->op)) add(find_stub(op->op)->family, *op);
  for (const auto& op : listed.of("in_tree")) {
    const auto called = in_tree_stubs(op->op).value_or(std::vector<Stub>{});
    add(called.empty() ? "Composed" : called[0].family, *op);
    for (const Stub& stub : called) {
      const std::string name(stub.name);
      if (taken.contains(name)) continue;
      Family& declares = families[std::string(stub.family)];
      declares.stubs.emplace(name, Family::StubKernel{name, stub_start(stub, *shown.spec.backend.cpp_namespace)});
      declares.headers.add(stub.header());
    }
  }
  std::vector<Family> sorted;
  for (auto& [id, family] : families) {
    family.id = id;
    sorted.push_back(std::move(family));
  }
  listed.out("in_tree_families", sorted);
}

}  // namespace

Strategy in_tree_strategy() {
  return {
      .word = "in_tree",
      .about = "the kernel that PyTorch's own devices share.",
      .component = "loops",
      .unfit = not_in_tree,
      .code = "E0221",
      .preference = 1,
      .why = "PyTorch's own kernel, shared by its devices, serves this one too",
      .starts_on_host = in_tree_on_host,
      .on_host = "computed by PyTorch's function for the CPU, and there is nothing to write",
      .item = in_tree_item,
      .summarise = summarise_in_tree,
  };
}

}  // namespace openreg_gen
