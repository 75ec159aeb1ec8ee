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

enum class FallbackKind { None, Cpu, Copy, Alias, Graph };

struct BackendSpec {
  SpecValue<std::string> name;  // "openreg"
  SpecValue<std::string> package;
  SpecValue<std::string> cpp_namespace;  // key "namespace"
  SpecValue<std::string> class_prefix;
  SpecValue<std::string> api_prefix;  // prefix of the device's C API
  SpecValue<std::string> vendor;
  SpecValue<std::string> description;
  SpecValue<std::string> version;
  SpecValue<std::string> license;  // SPDX expression
};

struct TorchSpec {
  SpecValue<std::string> min, max;  // the first and the last minor release
};

struct DeviceSpec {
  SpecValue<const DeviceKind*> api;
  SpecValue<const KernelLanguage*> kernels;  // null: the device takes none
  SpecValue<int> count;                      // of the kinds that have it: DeviceKind::keys
  SpecValue<std::uint64_t> memory;           // bytes a device
  SpecValue<std::string> platform, type;
  SpecValue<int> sub_devices;
  SpecValue<int> streams_per_pool;
};

struct AllocatorSpec {
  SpecValue<const AllocatorKind*> device;
  SpecValue<std::uint64_t> alignment;  // power of two
  // Defaults of the caching allocator's settings, where given.
  SpecValue<int> max_split_size_mb;
  SpecValue<double> garbage_collection_threshold;
  SpecValue<int> roundup_power2_divisions;
  SpecValue<bool> expandable_segments;
};

struct FallbackSpec {
  SpecValue<FallbackKind> kind;
  SpecValue<bool> warn_once;
};

enum class TestCheck { Forward, Out, Inplace, Noncontiguous, Empty, ErrorInputs, Backward };

/// A check that is left out.
struct TestSkip {
  SpecValue<TestCheck> check;
  SpecValue<std::string> dtype;  // not given: all dtypes
  SpecValue<std::string> reason;
};

/// `ops.*.tests`. rtol and atol are given both or not at all.
struct OpTests {
  SpecValue<bool> run;  // `tests: false`: no tests
  SpecValue<std::vector<SpecValue<std::string>>> dtypes;
  SpecValue<double> rtol, atol;
  std::vector<TestSkip> skip;
};

/// `tests:`: settings for all operators, and for PyTorch's own test files.
struct TestsSpec {
  struct Tolerance {
    SpecValue<std::string> dtype;
    SpecValue<double> rtol, atol;
  };
  struct Exclusion {
    SpecValue<std::string> test;  // "Class.test_name" or "Class"
    SpecValue<std::string> reason;
  };
  SpecValue<int> samples;
  std::vector<Tolerance> tolerances;  // one a dtype
  std::vector<Exclusion> exclude;
};

/// One entry of `ops:`, an operator or a selection; resolve/resolve.h turns it into operators.
struct OpSpec {
  OpSpec();  // the defaults

  SpecValue<std::string> name;            // "add.Tensor"; also "add", "*_backward", "@core", "-add.*": see selector.h
  SpecValue<std::string> strategy;        // a word of the vocabulary
  SpecValue<Expr> expr;                   // pointwise: over the op's argument names
  SpecValue<Expr> map;                    // reduction: each element, over `self`; default `self`
  SpecValue<Expr> combine, init, finish;  // reduction: over `a` and `b`; a constant; over `acc` and `count`
  SpecValue<Expr> prefer;                 // reduction to a place: whether `a` is taken before `b`
  SpecValue<std::vector<SpecValue<std::string>>>
      dtypes;                          // pointwise, stub: at::ScalarType names; default depends on the op
  SpecValue<bool> override_composite;  // key "override"
  SpecValue<std::string> reason;       // unsupported: the reason that the error gives
  // cpu_fallback, and kernels for some dtypes: overrides the spec's `fallback` for this operator; if given
  SpecValue<FallbackKind> fallback;
  OpTests tests;
  SpecValue<std::string> since, until;  // releases of PyTorch that the entry is for, both included; empty: no bound
};

enum class CustomAutograd { None, Formula, Function };

/// One entry of `custom_ops:`.
struct CustomOpSpec {
  SpecValue<std::string> schema;       // "custom_abs(Tensor self) -> Tensor", without namespace
  Schema parsed;                       // the same
  SpecValue<Expr> expr;                // optional pointwise kernel body
  SpecValue<CustomAutograd> autograd;  // none | formula | function (torch.autograd.Function in Python)
  // When autograd is given with expr: of each Tensor argument, over `grad` and the arguments; some may be left out.
  SpecValue<std::vector<std::optional<Expr>>> backward;
  SpecValue<bool> surrogate;  // backward is not the derivative, on purpose
};

struct AmpSpec {
  SpecValue<std::vector<SpecValue<std::string>>> dtypes;
  SpecValue<std::string> preset;
  // policy ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "promote") -> ops added to it
  std::map<std::string, std::vector<SpecValue<std::string>>> add;
  std::vector<SpecValue<std::string>> remove;  // ops taken out of the preset's lists
};

struct DistributedSpec {
  SpecValue<bool> on;
  SpecValue<std::string> backend;  // its name in torch.distributed
};

struct Spec {
  Spec();  // the defaults

  fs::path path;     // as given
  std::string text;  // the bytes that were read
  int spec_version = 1;
  SpecValue<Profile> profile;
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
  SpecValue<bool> compile;
  SpecValue<bool> profiler;
  SpecValue<bool> graphs;
  DistributedSpec distributed;
  SpecValue<int> lesson;             // an exercise of the book, by its number in kLessons; 0: none
  SpecValue<std::string> templates;  // folder of templates of its own, relative to the spec; empty: none
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
