#include "model/coverage.h"

#include "spec/minimal_ops.h"
#include "strategy/fit.h"
#include "texts/ops_texts.h"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

namespace openreg_gen {
namespace {

using SpecEntries = std::unordered_map<std::string_view, const OpSpec*>;

std::string_view how_it_falls_back(FallbackKind kind) {
  return kind == FallbackKind::Copy    ? "by the CPU's kernel on copies"
         : kind == FallbackKind::Alias ? "by the CPU's kernel on the device's memory"
         : kind == FallbackKind::Graph ? "as a graph of one node, or by the CPU's kernel if the compiler refuses it"
                                       : "by the CPU's kernel";
}

class Cover {
 public:
  Cover(const ResolvedSpec& resolved, const DeviceKernels& kernels)
      : spec_(resolved.spec), catalog_(resolved.catalog), kernels_(kernels) {
    for (const ResolvedOp& op : resolved.ops) written_.emplace(op.op.name, &op.entry);
  }

  CoverageRow row(const Op& op) const {
    CoverageRow row{&op, Coverage::Missing, family_of(op, catalog_), {}};
    if (const auto at = written_.find(op.name); at != written_.end()) {
      entry(*at->second, row);
    } else if (is_minimal_op(op.name)) {
      row.coverage = Coverage::Native;
      row.how = "minimal set";
    } else if (!op.structured_delegate.empty()) {
      delegate(op, row);
    } else if (op.default_throws()) {
      row.how = "PyTorch's default only throws";
    } else if (op.has_default && !(is_decomposed_otherwise(op.name) && *spec_.fallback.kind != FallbackKind::None)) {
      row.coverage = Coverage::Composite;
      row.how = op.composite_implicit ? "calls other operators, gradients included" : "calls other operators";
    } else {
      rest(op, row);
    }
    foreign(op, row);
    return row;
  }

 private:
  void entry(const OpSpec& entry, CoverageRow& row) const {
    const Strategy& strategy = strategy_of(entry);
    if (strategy.runs == Strategy::Runs::Nothing) {
      row.how = fmt::format("{}: {}", strategy.word, *entry.reason);
      return;
    }
    if (entry.fallback.given() && *entry.fallback == FallbackKind::None) {
      row.how = "an error: `fallback: none`";
      return;
    }
    row.coverage = strategy.runs == Strategy::Runs::Fallback ? Coverage::Fallback : Coverage::Native;
    const bool on_host = strategy.starts_on_host != nullptr && !spec_.components.has("host_alias") &&
                         strategy.starts_on_host(**spec_.device.api, kernels_, *row.op);
    row.how = fmt::format("{}{}", strategy.word, on_host ? ", which starts on the host, on copies" : "");
    if (row.coverage != Coverage::Native) return;
    if (const std::string lack = lack_of(entry); !lack.empty())
      row.how = fmt::format("{}, on copies: {} has {}", strategy.word, kernels_.language->title, lack);
  }

  /// Why an expression becomes no kernel in the device's language; empty if it does.
  std::string lack_of(const OpSpec& entry) const {
    if (!kernels_) return {};
    if (entry.prefer.given() && !kernels_.has("pick")) return "no kernels that pick an element";
    const KernelLanguage& language = *kernels_.language;
    std::string_view function = KernelLanguage::first_of(language.lacks, *entry.expr);
    for (const auto* expr : {&entry.map, &entry.combine, &entry.init, &entry.finish, &entry.prefer})
      for (const std::string_view lacks : {language.lacks, language.lacks_in_float64})
        if (function.empty()) function = KernelLanguage::first_of(lacks, **expr);
    return function.empty() ? std::string() : fmt::format("no '{}'", function);
  }

  /// PyTorch's default for this form calls the out form's kernel.
  void delegate(const Op& op, CoverageRow& row) const {
    const Op* out = catalog_.find(op.structured_delegate);
    const CoverageRow served = out == nullptr ? CoverageRow{} : this->row(*out);
    row.coverage = served.coverage == Coverage::Native ? Coverage::Delegate : served.coverage;
    row.how = fmt::format("through '{}'{}", op.structured_delegate,
                          served.coverage == Coverage::Missing ? ": " + served.how : "");
  }

  void foreign(const Op& op, CoverageRow& row) const {
    if (written_.contains(op.name)) return;
    const bool made = row.coverage == Coverage::Composite && op.has_tag("generated");
    if (row.coverage != Coverage::Missing && row.coverage != Coverage::Fallback && !made) return;
    std::string reason = foreign_reason(op, catalog_);
    if (reason.empty()) return;
    row.coverage = Coverage::NotForYou;
    row.how = std::move(reason);
  }

  void rest(const Op& op, CoverageRow& row) const {
    if (draws_from_generator(op) && op.kernels.contains("CPU")) {
      row.coverage = Coverage::Fallback;
      row.how = "on the CPU, with the device's generator";
      return;
    }
    if (const std::string no = unfit(*find_strategy("cpu_fallback"), op); !no.empty()) {
      const bool random = op.op_class == OpClass::Random && !op.kernels.contains("CPU");
      row.how = random ? "PyTorch has no CPU kernel for it" : no;
    } else if (*spec_.fallback.kind == FallbackKind::None) {
      row.how = "no kernel, and `fallback` is none";
    } else {
      row.coverage = Coverage::Fallback;
      row.how = how_it_falls_back(*spec_.fallback.kind);
    }
  }

  const Spec& spec_;
  const Catalog& catalog_;
  const DeviceKernels& kernels_;
  SpecEntries written_;
};

}  // namespace

std::size_t CoverageTotals::all() const { return std::accumulate(count.begin(), count.end(), std::size_t{0}); }

CoverageTable cover(const ResolvedSpec& resolved, const DeviceKernels& kernels) {
  const Cover each(resolved, kernels);
  CoverageTable table;
  std::map<std::string_view, CoverageTotals> families;
  for (const Op& op : resolved.catalog.all()) {
    table.rows.push_back(each.row(op));
    table.totals.add(table.rows.back().coverage);
    families[table.rows.back().family].add(table.rows.back().coverage);
  }
  for (const auto family : all_families())
    if (const auto at = families.find(family); at != families.end()) table.families.emplace_back(family, at->second);
  return table;
}

}  // namespace openreg_gen
