// What the installed PyTorch declares: every operator overload, its exact C++ signature, structure and tags.
//
// Read from include/ATen/RegistrationDeclarations.h (signatures, schemas) and
// torchgen/packaged/ATen/native/{native_functions,tags}.yaml (structure, dispatch, tags); autocast rules from
// include/ATen/autocast_mode.h. Kept in a cache keyed by the PyTorch it came from. A Catalog is immutable after loading
// and may be read from any thread.
#pragma once

#include "base/text.h"
#include "schema/schema.h"
#include "system/files.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// structured: one impl serves functional, in-place and out.  native: no default, a kernel or a fallback is needed.
/// composite: works by itself.  view, factory, random: cannot fall back to the CPU by copying. See build.cpp.
enum class OpClass { Structured, Native, Composite, View, Factory, Random };
inline std::string_view to_string(OpClass op_class) {
  return word_of("structured native composite view factory random", op_class);
}

struct Argument {
  std::string type;           // as in the C++ signature, qualified: "const at::Tensor &"
  std::string name;           // "self"
  std::string schema_type;    // as in the schema: "Tensor(a!)", "int[]?", "ScalarType?"
  std::string default_value;  // as in the schema; empty if there is none
  bool kwarg_only = false;
  bool is_out = false;  // a trailing `Tensor(a!) out`
};

/// The properties of an operator in native_functions.yaml, besides its schema.
struct YamlEntry {
  std::map<std::string, std::string> kernels;  // dispatch key -> kernel name: "CPU" -> "add_out"
  std::vector<std::string> tags;               // "core", "pointwise", ...
  bool structured = false;                     // an out variant with `structured: True`
  std::string structured_delegate;             // "add.out" for the functional and in-place forms of a structured group
  std::string structured_inherits;             // "TensorIteratorBase" or empty
  std::vector<std::string> precomputed;        // lines of `precomputed`: "dim -> int dim"
  std::string python_module;                   // "nn", "special", ...; or empty
  bool method = false;                         // also a method of at::Tensor
  bool device_guard = true;
  bool device_check = true;  // its tensors must be on one device

  bool in_structured_group() const { return structured || !structured_delegate.empty(); }
  bool has_kernel(const std::string& key) const { return kernels.contains(key); }
};

/// `tags` are sorted.
struct Op : YamlEntry {
  std::string name;      // "add.Tensor", "relu": without the namespace "aten::"
  std::string base;      // "add"; what the headers ATen/ops/<base>*.h and the symbol at::_ops::<base>_<overload> use
  std::string overload;  // "Tensor", or empty
  std::string schema;    // "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  std::string returns;   // C++ return type, dispatcher form: "at::Tensor &"
  std::vector<Argument> arguments;  // dispatcher order, out arguments last
  OpClass op_class = OpClass::Native;
  bool has_default = false;  // a composite kernel serves a backend that registers nothing
  /// Whether that kernel only throws: backends have to override such operators (convolution_overrideable).
  bool default_throws() const { return overload.empty() && base.find("_overrideable") != std::string::npos; }
  bool has_dispatch = false;  // some backend has a kernel of its own
  bool is_view = false;
  bool composite_implicit = false;    // CompositeImplicitAutograd: registering it at PrivateUse1 breaks autograd
  std::vector<std::string> variants;  // other overloads of the same group (functional, in-place, out), sorted
  SchemaKind kind = SchemaKind::Functional;
  std::string meta_struct;                  // structured groups: "at::meta::structured_add_Tensor", else empty
  std::vector<std::string> schema_returns;  // "Tensor(a!)", one a returned value

  /// C++ type of at::_ops::<base>_<overload>: "at::_ops::add_Tensor".
  std::string ops_struct() const;
  /// "at::Tensor (const at::Tensor & self, ...)" in one line, as RegistrationDeclarations.h has it.
  std::string signature() const;
  bool has_tag(std::string_view tag) const;
  /// "at::native::structured_ufunc_add_CPU": the in-tree kernel's struct for a dispatch key; empty if there is none.
  std::string native_struct(const std::string& dispatch_key) const;
};

/// The policy of operators that raise an error under autocast. A spec can remove it with `amp.remove`, but not add it.
inline constexpr std::string_view kAutocastBanned = "banned";

/// One of PyTorch's own autocast rules, and what `amp.preset: cuda` stands for.
struct AutocastRule {
  std::string policy;  // "lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned"
  std::string op;      // "conv2d", "pow.Tensor_Scalar"
  std::string arguments;  // of its macro
};

class Catalog {
 public:
  const Op* find(std::string_view name) const;     // "add.Tensor"; accepts "aten::add.Tensor"; null if there is none
  std::span<const Op> all() const { return ops; }  // sorted by name
  const AutocastRule* find_autocast(std::string_view op) const { return find_by(autocast, op, &AutocastRule::op); }
  std::vector<const Op*> overloads(std::string_view base) const;  // all with this base name
  const std::string& torch_version() const { return version_; }   // "2.13.0", without "+cpu"
  const fs::path& torch_dir() const { return dir_; }              // the folder that holds include/ and lib/
  /// "torch-2.13.0-<hash of the declaration files>": what a tree was rendered for; goes into the manifest.
  const std::string& identity() const { return identity_; }

  std::vector<Op> ops;                 // filled by the loader
  std::vector<AutocastRule> autocast;  // in the header's order; none of a folder that holds only declarations
  std::string version_, identity_;
  fs::path dir_;
};

/// The other forms of an operator that call the kernel that a backend registers for it, sorted by name: the functional
/// and in-place forms of a
/// structured out form, and forms with a composite kernel (`abs` calls `abs.out`; `zeros.out` calls `zeros`). A form
/// of another structured operator is not among them, though it has a default: it calls that operator's out form.
std::vector<std::string> served_forms(const Op& op, const Catalog& catalog);

/// Where PyTorch is: --torch DIR, else $VIRTUAL_ENV, else the Python on PATH (started only if its folder is not known
/// otherwise). Throws Failure(Environment) that says what was tried and how to fix it.
fs::path find_torch(const std::optional<fs::path>& option);

/// Loads the catalogue, from the cache where that is fresh. `torch` as find_torch gives it; a folder that holds only
/// the declaration files (torchgen/packaged/...) also serves.
Catalog load_catalog(const fs::path& torch);

}  // namespace openreg_gen
