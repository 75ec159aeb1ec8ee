// The spec as plain structs; every value knows where it was written. See specs/openreg.yaml and docs/spec.md.
//
// spec/keys.cpp holds the one table of keys: the parser, the JSON Schema and the reference page derive from it.
#pragma once

#include "diag/diagnostic.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

enum class DeviceApi { Emulator, External };
enum class DeviceAllocatorKind { Direct, Caching, Pluggable };
enum class FallbackKind { None, Cpu, Copy, Alias };
enum class Strategy { Structured, Pointwise, Native, Stub, CpuFallback, Unsupported, InTree, Reduction, Matmul };

struct BackendSpec {
  Located<std::string> name;           // "openreg"
  Located<std::string> package;        // default "torch_<name>"
  Located<std::string> cpp_namespace;  // key "namespace"; default <name>
  Located<std::string> class_prefix;   // default CamelCase of name
  Located<std::string> api_prefix;     // prefix of the device's C API; default lowerCamel of name
  Located<std::string> vendor;         // default "The <name> authors"
  Located<std::string> description;    // default "A PyTorch backend for the <name> device."
  Located<std::string> version;        // default "0.1.0"
  Located<std::string> license;        // SPDX expression, default "BSD-3-Clause"
};

struct TorchSpec {
  Located<std::string> min;  // the first and the last minor release; by default
  Located<std::string> max;  // those of catalog/releases.h
};

struct DeviceSpec {
  Located<DeviceApi> api;
  Located<int> count;             // emulator only; 1..64, default 2
  Located<std::uint64_t> memory;  // bytes a device; "1GiB"; default 1 GiB
  Located<int> streams_per_pool;  // 1..32, default 4
};

struct AllocatorSpec {
  Located<DeviceAllocatorKind> device;  // default caching
  Located<std::uint64_t> alignment;     // power of two, default 64
  // Defaults of the caching allocator's settings, where given.
  Located<int> max_split_size_mb;
  Located<double> garbage_collection_threshold;
  Located<int> roundup_power2_divisions;
  Located<bool> expandable_segments;
};

struct FallbackSpec {
  Located<FallbackKind> kind;  // default cpu
  Located<bool> warn_once;     // default false
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
  Located<bool> run{true, {}};  // `tests: false`: no tests
  Located<std::vector<Located<std::string>>> dtypes;
  Located<double> rtol, atol;
  std::vector<TestSkip> skip;
};

/// `tests:`: what holds for all operators, and PyTorch's own test files.
struct TestsSpec {
  struct Tolerance {
    Located<std::string> dtype;
    Located<double> rtol, atol;
  };
  struct Exclusion {
    Located<std::string> test;  // "Class.test_name" or "Class"
    Located<std::string> reason;
  };
  Located<int> samples{3, {}};
  std::vector<Tolerance> tolerances;  // one a dtype
  std::vector<Exclusion> exclude;
};

/// One entry of `ops:`: as parsed, an operator or a selection; after validate_spec() one operator.
struct OpSpec {
  Located<std::string> name;  // "add.Tensor"; as parsed also "add", "*_backward", "@core", "-add.*": see selector.h
  Located<Strategy> strategy;
  Located<std::string> expr;                   // pointwise: C++ expression over the op's argument names
  Located<std::string> map;                    // reduction: each element, over `self`; default `self`
  Located<std::string> combine, init, finish;  // reduction: over `a` and `b`; a constant; over `acc` and `count`
  Located<std::string> prefer;                 // reduction to a place: whether `a` is taken before `b`
  Located<std::vector<Located<std::string>>>
      dtypes;                        // pointwise, stub: at::ScalarType names; default depends on the op
  Located<bool> override_composite;  // key "override"
  Located<std::string> reason;       // unsupported: what the user is told
  // cpu_fallback, and kernels for some dtypes: overrides the spec's `fallback` for this operator; if given
  Located<FallbackKind> fallback;
  OpTests tests;
  Located<std::string> since, until;  // releases of PyTorch that the entry is for, both included; empty: no bound
  std::string selection;              // the entry that brought it: "@core"; empty if it was named
};

/// What one selection of `ops:` came to: see select.h.
struct SelectionReport {
  struct Left {
    std::string op, reason;
  };
  Located<std::string> entry;  // as written
  Strategy strategy = Strategy::Native;
  std::vector<std::string> taken;  // sorted
  std::vector<Left> left;          // sorted: matched, but not taken
};

/// A file that the spec names, which a tree takes along.
struct ListFile {
  std::string path;  // relative to the spec, with '/'
  std::string text;
};

enum class CustomAutograd { None, Formula, Function };

/// One entry of `custom_ops:`.
struct CustomOpSpec {
  Located<std::string> schema;       // "custom_abs(Tensor self) -> Tensor", without namespace
  Located<std::string> expr;         // optional pointwise kernel body
  Located<CustomAutograd> autograd;  // none | formula | function (torch.autograd.Function in Python)
  Located<std::string> backward;     // expression over `grad` and the inputs, when autograd is given with expr
};

struct AmpSpec {
  Located<std::vector<Located<std::string>>> dtypes;  // default [float16, bfloat16]
  Located<std::string> preset;                        // default "cuda": PyTorch's own lists; or "none"
  // policy ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "promote") -> ops added to it
  std::map<std::string, std::vector<Located<std::string>>> add;
  std::vector<Located<std::string>> remove;  // ops taken out of the preset's lists
};

struct Spec {
  std::filesystem::path path;  // as given
  std::string text;            // the bytes that were read
  int spec_version = 1;
  BackendSpec backend;
  TorchSpec torch;
  DeviceSpec device;
  AllocatorSpec allocator;
  FallbackSpec fallback;
  std::vector<OpSpec> ops;  // in the spec's order
  std::vector<CustomOpSpec> custom_ops;
  TestsSpec tests;
  AmpSpec amp;
  Located<bool> compile;                    // default true
  Located<std::string> templates;           // folder of templates of its own, relative to the spec; empty: none
  std::vector<SelectionReport> selections;  // filled in by validate_spec(), in the spec's order
  std::vector<ListFile> lists;              // as well: of `@model:FILE`, each once
};

/// Parses YAML or JSON (by content). Appends to `diagnostics` and returns what could be read; an unreadable file
/// gives an error there too. Never throws for bad input. Does not look at the catalogue: see validate.h.
Spec parse_spec(const std::filesystem::path& path, Diagnostics& diagnostics);
/// The same on a text in memory; `path` is used in locations only.
Spec parse_spec_text(std::string text, const std::filesystem::path& path, Diagnostics& diagnostics);

class Catalog;
/// Puts operators in the place of selections (select.h), then checks the spec against what PyTorch declares: op names,
/// strategies that fit each op's class, AMP rules, versions.
void validate_spec(Spec& spec, const Catalog& catalog, Diagnostics& diagnostics);

}  // namespace openreg_gen
