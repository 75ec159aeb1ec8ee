// The spec as plain structs; every value knows where it was written. See specs/openreg.yaml and docs/reference/spec.md.
//
// spec/keys.cpp holds the one table of keys: the parser, the JSON Schema and the reference page derive from it.
#pragma once

#include "diag/diagnostic.h"
#include "schema/schema.h"
#include "spec/component.h"
#include "spec/expr.h"
#include "spec/kernel_language.h"
#include "spec/kinds.h"
#include "spec/vocabulary.h"
#include "system/files.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

enum class FallbackKind { None, Cpu, Copy, Alias };

struct BackendSpec {
  Located<std::string> name;  // "openreg"
  Located<std::string> package;
  Located<std::string> cpp_namespace;  // key "namespace"
  Located<std::string> class_prefix;
  Located<std::string> api_prefix;  // prefix of the device's C API
  Located<std::string> vendor;
  Located<std::string> description;
  Located<std::string> version;
  Located<std::string> license;  // SPDX expression
};

struct TorchSpec {
  Located<std::string> min, max;  // the first and the last minor release
};

struct DeviceSpec {
  Located<const DeviceKind*> api;
  Located<const KernelLanguage*> kernels;  // null: the device takes none
  Located<int> count;                      // of the kinds that have it: DeviceKind::keys
  Located<std::uint64_t> memory;           // bytes a device
  Located<std::string> platform, type;
  Located<int> sub_devices;
  Located<int> streams_per_pool;
};

struct AllocatorSpec {
  Located<const AllocatorKind*> device;
  Located<std::uint64_t> alignment;  // power of two
  // Defaults of the caching allocator's settings, where given.
  Located<int> max_split_size_mb;
  Located<double> garbage_collection_threshold;
  Located<int> roundup_power2_divisions;
  Located<bool> expandable_segments;
};

struct FallbackSpec {
  Located<FallbackKind> kind;
  Located<bool> warn_once;
};

enum class TestCheck { Forward, Out, Inplace, Noncontiguous, Empty, ErrorInputs, Backward };

/// A check that is left out.
struct TestSkip {
  Located<TestCheck> check;
  Located<std::string> dtype;  // not given: all dtypes
  Located<std::string> reason;
};

/// `ops.*.tests`. rtol and atol are given both or not at all.
struct OpTests {
  Located<bool> run;  // `tests: false`: no tests
  Located<std::vector<Located<std::string>>> dtypes;
  Located<double> rtol, atol;
  std::vector<TestSkip> skip;
};

/// `tests:`: settings for all operators, and for PyTorch's own test files.
struct TestsSpec {
  struct Tolerance {
    Located<std::string> dtype;
    Located<double> rtol, atol;
  };
  struct Exclusion {
    Located<std::string> test;  // "Class.test_name" or "Class"
    Located<std::string> reason;
  };
  Located<int> samples;
  std::vector<Tolerance> tolerances;  // one a dtype
  std::vector<Exclusion> exclude;
};

/// One entry of `ops:`, an operator or a selection; resolve/resolve.h turns it into operators.
struct OpSpec {
  OpSpec();  // the defaults

  Located<std::string> name;            // "add.Tensor"; also "add", "*_backward", "@core", "-add.*": see selector.h
  Located<std::string> strategy;        // a word of the vocabulary
  Located<Expr> expr;                   // pointwise: over the op's argument names
  Located<Expr> map;                    // reduction: each element, over `self`; default `self`
  Located<Expr> combine, init, finish;  // reduction: over `a` and `b`; a constant; over `acc` and `count`
  Located<Expr> prefer;                 // reduction to a place: whether `a` is taken before `b`
  Located<std::vector<Located<std::string>>>
      dtypes;                        // pointwise, stub: at::ScalarType names; default depends on the op
  Located<bool> override_composite;  // key "override"
  Located<std::string> reason;       // unsupported: the reason that the error gives
  // cpu_fallback, and kernels for some dtypes: overrides the spec's `fallback` for this operator; if given
  Located<FallbackKind> fallback;
  OpTests tests;
  Located<std::string> since, until;  // releases of PyTorch that the entry is for, both included; empty: no bound
};

enum class CustomAutograd { None, Formula, Function };

/// One entry of `custom_ops:`.
struct CustomOpSpec {
  Located<std::string> schema;       // "custom_abs(Tensor self) -> Tensor", without namespace
  Schema parsed;                     // the same
  Located<Expr> expr;                // optional pointwise kernel body
  Located<CustomAutograd> autograd;  // none | formula | function (torch.autograd.Function in Python)
  // When autograd is given with expr: of each Tensor argument, over `grad` and the arguments; some may be left out.
  Located<std::vector<std::optional<Expr>>> backward;
};

struct AmpSpec {
  Located<std::vector<Located<std::string>>> dtypes;
  Located<std::string> preset;
  // policy ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "promote") -> ops added to it
  std::map<std::string, std::vector<Located<std::string>>> add;
  std::vector<Located<std::string>> remove;  // ops taken out of the preset's lists
};

struct DistributedSpec {
  Located<bool> on;
  Located<std::string> backend;  // its name in torch.distributed
};

struct Spec {
  Spec();  // the defaults

  fs::path path;     // as given
  std::string text;  // the bytes that were read
  int spec_version = 1;
  Located<Profile> profile;
  ComponentSet components;  // of the profile, `components` and the keys that say the same
  BackendSpec backend;
  TorchSpec torch;
  DeviceSpec device;
  AllocatorSpec allocator;
  FallbackSpec fallback;
  std::vector<OpSpec> ops;  // in the spec's order
  std::vector<CustomOpSpec> custom_ops;
  TestsSpec tests;
  AmpSpec amp;
  Located<bool> compile;
  Located<bool> profiler;
  Located<bool> graphs;
  DistributedSpec distributed;
  Located<int> lesson;             // an exercise of the book, by its number in kLessons; 0: none
  Located<std::string> templates;  // folder of templates of its own, relative to the spec; empty: none
};

/// The key of the spec's top level that turns the component of this name on and off; null if it has none.
template <class S>
auto switch_of(S& spec, std::string_view component) -> decltype(&spec.compile) {
  if (component == "compile") return &spec.compile;
  if (component == "profiler") return &spec.profiler;
  if (component == "graphs") return &spec.graphs;
  return component == "distributed" ? &spec.distributed.on : nullptr;
}

/// Parses YAML or JSON (by content). Appends to `diagnostics` and returns what could be read; an unreadable file
/// gives an error there too. Never throws for bad input. Does not look at the catalogue: see resolve/resolve.h.
Spec parse_spec(const fs::path& path, const Vocabulary& vocabulary, Diagnostics& diagnostics);
/// The same on a text in memory; `path` is used in locations only.
Spec parse_spec_text(std::string text, const fs::path& path, const Vocabulary& vocabulary, Diagnostics& diagnostics);

}  // namespace openreg_gen
