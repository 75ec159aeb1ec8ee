#include "resolve/select.h"

#include "releases/releases.h"
#include "spec/minimal_ops.h"
#include "spec/rules.h"
#include "strategy/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace openreg_gen {
namespace {

enum class Rank { Selected, Bare, Named };

struct Entry {
  const OpSpec& written;
  Selector selector;
  Rank rank = Rank::Selected;
  std::vector<const Op*> ops;  // what it brings; of a minus: what it takes out
  SelectionReport report;      // of all but named ones
  bool kept = true;            // false: out of its range, or wrong
};

/// Why a selection leaves out an operator that it matches; empty if it takes it.
std::string why_left(const Op& op, const OpSpec& entry) {
  if (is_minimal_op(op.name)) return "every backend registers it: it is part of the minimal set";
  if (op.has_default && !op.default_throws() && !*entry.override_composite) {
    if (op.has_tag("generated")) return "PyTorch derives this form from another one";
    return "it works without a kernel: PyTorch composes it from other operators";
  }
  return unfit(strategy_of(entry), op);
}

std::string range_text(const OpSpec& entry) {
  std::string text;
  if (entry.since.given()) text = "since " + *entry.since;
  if (entry.until.given()) text += (text.empty() ? "until " : ", until ") + *entry.until;
  return text;
}

class Expansion {
 public:
  Expansion(ResolvedSpec& resolved, Diagnostics& diagnostics)
      : resolved_(resolved), catalog_(resolved.catalog), diagnostics_(diagnostics) {}

  void run() {
    for (const OpSpec& op : resolved_.spec.ops) {
      Entry entry{op, {}, {}, {}, {}, true};
      entry.selector = parse_selector(*entry.written.name);
      entry.report.entry = &op;
      expand(entry);
      entries_.push_back(std::move(entry));
    }
    settle();
    take_out();
    emit();
  }

 private:
  void expand(Entry& entry) {
    if (!in_release_range(entry.written, catalog_)) {
      entry.kept = false;
      entry.report.left.push_back(
          {*entry.written.name,
           fmt::format("it is for PyTorch {}, not {}", range_text(entry.written), catalog_.torch_version())});
      return;
    }
    if (!entry.selector.minus && is_named(entry)) {
      entry.rank = Rank::Named;
      if (const Op* op = catalog_.find(entry.selector.text)) entry.ops = {op};
      return;
    }
    entry.rank = entry.selector.kind == Selector::Kind::Name ? Rank::Bare : Rank::Selected;
    auto matched = match_selector(entry.selector, entry.written.name.at, resolved_, diagnostics_);
    entry.kept = matched.has_value();
    if (!matched) return;
    if (entry.selector.minus) {
      entry.ops = with_delegates(*matched);
      return;
    }
    std::set<const Op*> seen;
    for (const Op* op : *matched) {
      const Op* serving = op->structured_delegate.empty() ? op : catalog_.find(op->structured_delegate);
      if (serving == nullptr || !seen.insert(serving).second) continue;
      if (auto reason = why_left(*serving, entry.written); reason.empty())
        entry.ops.push_back(serving);
      else
        entry.report.left.push_back({serving->name, std::move(reason)});
    }
    std::ranges::sort(entry.ops, {}, &Op::name);
    if (entry.ops.empty()) nothing_taken(entry);
  }

  /// True for an entry that names one operator; what is wrong with it is reported by validate_ops().
  bool is_named(const Entry& entry) const {
    if (entry.selector.kind != Selector::Kind::Name) return false;
    if (entry.selector.is_overload()) return true;
    const Op* op = catalog_.find(entry.selector.text);
    if (op != nullptr && unfit(strategy_of(entry.written), *op).empty()) return true;
    return std::ranges::none_of(catalog_.overloads(entry.selector.text),
                                [&](const Op* other) { return why_left(*other, entry.written).empty(); });
  }

  std::vector<const Op*> with_delegates(const std::vector<const Op*>& matched) const {
    std::set<const Op*> all(matched.begin(), matched.end());
    for (const Op* op : matched)
      if (!op->structured_delegate.empty()) all.insert(catalog_.find(op->structured_delegate));
    all.erase(nullptr);
    std::vector<const Op*> result(all.begin(), all.end());
    std::ranges::sort(result, {}, &Op::name);
    return result;
  }

  /// In `@minimal` and lists of models it may be that nothing needs a kernel; in other selections it is an error.
  void nothing_taken(Entry& entry) {
    const auto kind = entry.selector.kind;
    if (kind == Selector::Kind::Minimal || kind == Selector::Kind::Model) return;
    std::string reasons;
    for (std::size_t i = 0; i < entry.report.left.size() && i < 2; ++i)
      reasons += fmt::format("{}'{}': {}", i == 0 ? "" : "; ", entry.report.left[i].op, entry.report.left[i].reason);
    diagnostics_.error("E0241", entry.written.name.at,
                       fmt::format("none of the {} operators of '{}' can be registered as '{}'",
                                   entry.report.left.size(), *entry.written.name, *entry.written.strategy),
                       reasons);
  }

  /// The entry of each operator, if several entries contain it.
  void settle() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].selector.minus || !entries_[i].kept) continue;
      for (const Op* op : entries_[i].ops) {
        const auto [at, first] = owner_.try_emplace(op, i);
        if (!first && entries_[i].rank >= entries_[at->second].rank) at->second = i;
      }
    }
  }

  void take_out() {
    for (const Entry& minus : entries_) {
      if (!minus.selector.minus || !minus.kept) continue;
      bool effect = false;
      for (const Op* op : minus.ops) {
        const auto at = owner_.find(op);
        if (at == owner_.end()) continue;
        const Entry& owner = entries_[at->second];
        if (owner.rank != Rank::Named) {
          taken_out_.emplace(op, *minus.written.name);
          effect = true;
        } else if (minus.selector.kind == Selector::Kind::Name && minus.selector.text == op->name) {
          effect = true;
          diagnostics_.error(
              "E0242", minus.written.name.at,
              fmt::format("'{}' is named in line {} and removed here", op->name, owner.written.name.at.line),
              "keep one");
        }
      }
      if (!effect)
        diagnostics_.warning("E0243", minus.written.name.at,
                             fmt::format("no selection contains what '{}' removes", *minus.written.name),
                             "leave it out");
    }
  }

  void emit() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      if (entry.selector.minus) continue;
      if (entry.rank == Rank::Named && entry.kept) {
        for (const Op* op : entry.ops) resolved_.ops.push_back({entry.written, *op, false});
        if (entry.ops.empty()) resolved_.unknown.push_back(&entry.written);
        continue;
      }
      bool settled = true;
      for (const Op* op : entry.ops) {
        if (const auto other = owner_.at(op); other != i) {
          entry.report.left.push_back(
              {op->name, fmt::format("line {} says what to do", entries_[other].written.name.at.line)});
        } else if (const auto out = taken_out_.find(op); out != taken_out_.end()) {
          entry.report.left.push_back({op->name, fmt::format("'{}' removes it", out->second)});
          settled = false;
        } else {
          resolved_.ops.push_back({entry.written, *op, true});
          entry.report.taken.push_back(op->name);
          settled = false;
        }
      }
      if (settled && !entry.ops.empty())
        diagnostics_.warning("E0246", entry.written.name.at,
                             fmt::format("other entries override '{}' for every operator", *entry.written.name),
                             "leave it out");
      std::ranges::sort(entry.report.left, {}, &SelectionReport::Left::op);
      resolved_.selections.push_back(std::move(entry.report));
    }
  }

  ResolvedSpec& resolved_;
  const Catalog& catalog_;
  Diagnostics& diagnostics_;
  std::vector<Entry> entries_;
  std::unordered_map<const Op*, std::size_t> owner_;
  std::unordered_map<const Op*, std::string> taken_out_;
};

}  // namespace

bool in_release_range(const OpSpec& entry, const Catalog& catalog) {
  const auto release = torch_release(catalog.torch_version());
  if (!release) return true;
  const auto since = torch_release(*entry.since), until = torch_release(*entry.until);
  return (!since || *release >= *since) && (!until || *release <= *until);
}

ResolvedSpec expand_ops(Spec spec, const Catalog& catalog, Diagnostics& diagnostics) {
  ResolvedSpec resolved(std::move(spec), catalog);
  Expansion(resolved, diagnostics).run();
  return resolved;
}

}  // namespace openreg_gen
