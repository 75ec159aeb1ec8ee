// A strategy is one way to give an operator of the spec its kernel. Each is one value in its own file,
// strategy/<word>.cpp; strategy/all.cpp lists them.
#pragma once

#include "spec/spec.h"
#include "spec/vocabulary.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace openreg_gen {

struct Op;
struct OpItem;
struct SpecView;
struct StrategySummary;

struct Strategy {
  /// What runs when the operator is called: the backend's kernel, the CPU's kernel, or nothing but an error.
  enum class Runs { Kernel, Fallback, Nothing };

  // What a spec says: see spec/vocabulary.h.
  std::string_view word;             // "pointwise"
  std::string_view about;            // of the reference page, behind the word
  std::string_view keys = {};        // of ops.*: those that go with it, but not with each strategy
  std::string_view component = {};   // without which it can't be used: see component.h
  bool compiles = false;             // only devices with a graph compiler have it: see DeviceKind
  std::string_view implied_by = {};  // the key that stands for it where `strategy` is not given
  void (*written)(const OpSpec& entry, Diagnostics& diagnostics) = nullptr;  // what the entry lacks, or has too much

  // What it can do. None of these: it fits each operator, and each entry.
  Runs runs = Runs::Kernel;
  std::string (*unfit)(const Op& op) = nullptr;                      // why it can't serve the operator; empty: it can
  std::string_view code = "E0207";                                   // of an entry that wants it all the same
  bool (*needs_no_fit)(const OpSpec& entry) = nullptr;               // the entry asks for less
  std::string (*way_out)(const Spec& spec, const Op& op) = nullptr;  // joins the hint of that error
  bool (*replaces_minimal)(const Op& op) = nullptr;                  // it may serve this operator of the minimal set
  void (*check)(const Spec& spec, const OpSpec& entry, const Op& op, Diagnostics& diagnostics) = nullptr;

  // The order of automatic choice: the lowest that fits is chosen; 0: never.
  int preference = 0;
  std::string_view why{};                         // what that means to the owner
  std::string (*why_of)(const Op& op) = nullptr;  // the same, where it depends on the operator
  /// Whether its first kernel is computed on the host, and what that means to the owner.
  bool (*starts_on_host)(const DeviceKind& device, const DeviceKernels& kernels, const Op& op) = nullptr;
  std::string_view on_host = "computed on the host until its kernel is written";

  // What templates see: see strategy/item.h.
  std::string_view lists = {};  // of `ops`, where they find its operators: its word first
  std::unique_ptr<OpItem> (*item)(const SpecView& shown, const OpSpec& entry, const Op& op) = nullptr;
  void (*summarise)(const SpecView& shown,
                    StrategySummary& listed) = nullptr;  // what they see of all its operators together

  bool takes(std::string_view key) const;
};

/// In the order of the reference page.
std::span<const Strategy> all_strategies();
/// Null for an unknown name.
const Strategy* find_strategy(std::string_view word);
inline const Strategy& strategy_of(const OpSpec& entry) { return *find_strategy(*entry.strategy); }

/// What the parser knows of them.
const Vocabulary& vocabulary();
inline Spec parse_spec(const fs::path& path, Diagnostics& diagnostics) {
  return parse_spec(path, vocabulary(), diagnostics);
}
inline Spec parse_spec_text(std::string text, const fs::path& path, Diagnostics& diagnostics) {
  return parse_spec_text(std::move(text), path, vocabulary(), diagnostics);
}

}  // namespace openreg_gen
