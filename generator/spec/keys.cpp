#include "spec/keys.h"

#include "catalog/releases.h"
#include "spec/rules.h"

#include <algorithm>

namespace openreg_gen {
namespace {

using enum KeyType;

constexpr std::string_view kApis[] = {"emulator", "external"};
constexpr std::string_view kAllocators[] = {"direct", "caching", "pluggable"};
constexpr std::string_view kFallbacks[] = {"none", "cpu", "copy", "alias"};
constexpr std::string_view kStrategies[] = {"structured",  "pointwise", "native",    "stub",  "cpu_fallback",
                                            "unsupported", "in_tree",   "reduction", "matmul"};
constexpr std::string_view kDtypes[] = {"bool",    "uint8",    "int8",    "int16",   "int32",     "int64",
                                        "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
constexpr std::string_view kTestChecks[] = {"forward", "out",          "inplace", "noncontiguous",
                                            "empty",   "error_inputs", "backward"};
constexpr std::string_view kAutograds[] = {"none", "formula", "function"};
constexpr std::string_view kPresets[] = {"cuda", "none"};
constexpr std::string_view kAmpDtypes[] = {"float16", "bfloat16"};
constexpr std::string_view kIdentifier = "^[A-Za-z][A-Za-z0-9_]*$";
constexpr std::string_view kOperator = "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)?$";
constexpr std::string_view kSelection = "^-?(@[a-z]+(:.+)?|[A-Za-z0-9_.*?\\[\\]!-]+)$";
constexpr std::string_view kTestName = "^[A-Za-z_][A-Za-z0-9_]*(\\.test[A-Za-z0-9_]*)?$";
constexpr std::string_view kLine = "^[^\\u0000-\\u001f\\u007f]*$";
constexpr std::int64_t kTiB = std::int64_t{1} << 40;

// clang-format off
const Key kKeys[] = {
    {.path = "", .type = Map, .description = "The spec of a PyTorch backend."},
    {.path = "spec_version", .type = Integer, .fallback = "1", .description = "Version of this format.", .example = "1", .min = 1, .max = 1},

    {.path = "backend", .type = Map, .description = "Who the backend is.", .required = true},
    {.path = "backend.name", .type = Text, .description = "The device type: what `torch.device()` parses. Lower-case letters and underscores, at most 30; no name that PyTorch, C++, Python or the C library has taken.", .example = "openreg", .rule = rules::backend_name, .pattern = "^[a-z](_?[a-z])*$", .required = true},
    {.path = "backend.package", .type = Text, .fallback = "torch_<name>", .description = "The Python package.", .example = "torch_openreg", .rule = rules::package, .pattern = "^[a-z_][a-z0-9_]*$"},
    {.path = "backend.namespace", .type = Text, .fallback = "<name>", .description = "The C++ namespace.", .example = "openreg", .rule = rules::cpp_namespace, .pattern = kIdentifier},
    {.path = "backend.class_prefix", .type = Text, .fallback = "<Name>", .description = "Prefix of C++ classes: `OpenRegStream`, `OpenRegGuardImpl`.", .example = "OpenReg", .rule = rules::class_prefix, .pattern = kIdentifier},
    {.path = "backend.api_prefix", .type = Text, .fallback = "<name>, in lower camel case", .description = "Prefix of the device's C API: `orMalloc`; begins with a lower-case letter.", .example = "or", .rule = rules::api_prefix, .pattern = "^[a-z][A-Za-z0-9_]*$"},
    {.path = "backend.vendor", .type = Text, .fallback = "The <name> authors", .description = "Who makes it: one line.", .example = "The OpenReg authors", .rule = rules::line, .pattern = kLine},
    {.path = "backend.description", .type = Text, .fallback = "A PyTorch backend for the <name> device.", .description = "What it is: one line.", .example = "A simulated accelerator for PyTorch.", .rule = rules::line, .pattern = kLine},
    {.path = "backend.version", .type = Text, .fallback = "0.1.0", .description = "Version of the package, as PEP 440 has it.", .example = "0.1.0", .rule = rules::version},
    {.path = "backend.license", .type = Text, .fallback = "BSD-3-Clause", .description = "SPDX licence expression of the package.", .example = "Apache-2.0 OR MIT", .rule = rules::license, .pattern = "^[A-Za-z0-9.+() -]+$"},

    {.path = "torch", .type = Map, .description = "The PyTorch releases the backend is for."},
    {.path = "torch.min", .type = Text, .fallback = kOldestTorchQuoted, .description = "The oldest minor release, in quotes (YAML reads 2.10 as 2.1).", .example = "\"2.13\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},
    {.path = "torch.max", .type = Text, .fallback = kNewestTorchQuoted, .description = "The newest minor release; its patch releases fit as well.", .example = "\"2.14\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},

    {.path = "device", .type = Map, .description = "The device behind the backend."},
    {.path = "device.api", .type = Word, .fallback = "emulator", .values = kApis, .description = "`emulator`: a simulated device with a C API. `external`: the same C API as a port layer, to be filled with the vendor's calls.", .example = "external"},
    {.path = "device.count", .type = Integer, .fallback = "2", .description = "Devices of the emulator.", .example = "4", .min = 1, .max = 64},
    {.path = "device.memory", .type = Size, .fallback = "1GiB", .description = "Memory of each emulated device: bytes, or a number with KiB, MiB, GiB, TiB, KB, MB, GB, TB.", .example = "512MiB", .min = 1 << 20, .max = 64 * kTiB},
    {.path = "device.streams_per_pool", .type = Integer, .fallback = "4", .description = "Streams of each priority that a device's pool holds.", .example = "8", .min = 1, .max = 32},

    {.path = "allocator", .type = Map, .description = "How memory is had."},
    {.path = "allocator.device", .type = Word, .fallback = "caching", .values = kAllocators, .description = "`caching`: freed memory is kept and handed out again. `pluggable`: the same, until a process loads an allocator of its own. `direct`: each storage is one device allocation.", .example = "direct"},
    {.path = "allocator.alignment", .type = Size, .fallback = "64", .description = "Alignment of allocations: a power of two.", .example = "256", .min = 1, .max = 1 << 20},
    {.path = "allocator.max_split_size_mb", .type = Integer, .fallback = "no limit", .description = "The caching allocator does not split larger blocks. This and the next three are the defaults of the settings that PYTORCH_ALLOC_CONF names so; the environment's win.", .example = "128", .min = 20, .max = 1 << 20},
    {.path = "allocator.garbage_collection_threshold", .type = Number, .fallback = "never", .description = "Share of the memory that a process may have, above which cached blocks that were not used for long are freed: above 0, below 1.", .example = "0.8", .max = 1},
    {.path = "allocator.roundup_power2_divisions", .type = Integer, .fallback = "none", .description = "Requests are rounded up to a fraction of a power of two: into how many parts it is divided, itself a power of two.", .example = "4", .min = 1, .max = 64},
    {.path = "allocator.expandable_segments", .type = Boolean, .fallback = "false", .description = "Segments that grow in place, where the device has the functions for virtual memory.", .example = "true"},

    {.path = "fallback", .type = Map, .fallback = "cpu", .description = "What becomes of operators without a kernel: a word, or a map.", .example = "none", .shorthand = "kind"},
    {.path = "fallback.kind", .type = Word, .fallback = "cpu", .values = kFallbacks, .description = "`cpu`: the CPU's kernel runs, on the device's memory where functions launched there reach it, else on copies. `alias`, `copy`: one of these. `none`: they raise.", .example = "alias"},
    {.path = "fallback.warn_once", .type = Boolean, .fallback = "false", .description = "Whether each operator that falls back says so, once.", .example = "true"},

    {.path = "ops", .type = Table, .description = "Operators that the backend registers: a map from operator to strategy (or to the keys below), or a list of operators and such maps. In an operator's place may stand a selection: a name without overload, a glob (`add.*`, `*_backward`), a set (`@minimal`, `@core`, `@pointwise`, `@amp`, `@tag:NAME`, `@model:FILE`), or any of these with a minus, which takes them out again. See [operators](operators.md#selections).", .example = "{abs.out: stub, relu: native}", .pattern = kSelection},
    {.path = "ops.*", .type = Map, .description = "One operator, named with its overload; or a selection.", .example = "native", .shorthand = "strategy"},
    {.path = "ops.*.strategy", .type = Word, .fallback = "native", .values = kStrategies, .description = "`structured`: shapes, dtypes and the functional form come from PyTorch. `pointwise`: `expr` becomes a kernel. `native`: a kernel with the operator's exact signature. `stub`: PyTorch's kernel, with a DispatchStub of the backend's. `cpu_fallback`: through the CPU. `unsupported`: a clear error. `in_tree`: PyTorch's kernel, which its own devices share. `reduction`: `map`, `combine` and `finish`, or `prefer`, become a kernel. `matmul`: through the device's matrix multiplication.", .example = "pointwise"},
    {.path = "ops.*.expr", .type = Text, .description = "`pointwise`: a C++ expression over the operator's arguments.", .example = "std::sqrt(self * self + other * other)"},
    {.path = "ops.*.map", .type = Text, .fallback = "self", .description = "`reduction`: what an element counts as, over `self`.", .example = "self * self"},
    {.path = "ops.*.combine", .type = Text, .description = "`reduction`: two values made one, over `a` and `b`; must be associative and commutative.", .example = "a + b"},
    {.path = "ops.*.init", .type = Text, .description = "`reduction`: the value of no elements, over `lowest` and `highest`.", .example = "0"},
    {.path = "ops.*.finish", .type = Text, .fallback = "acc", .description = "`reduction`: the result, over `acc` and `count`.", .example = "acc / count"},
    {.path = "ops.*.prefer", .type = Text, .description = "`reduction` whose result is a place (`argmax.out`, `argmin.out`, `max.dim_max`, `min.dim_min`), in the place of `combine` and `init`: whether `a` goes before `b`. Where both or neither does, the first goes.", .example = "a > b || a != a"},
    {.path = "ops.*.dtypes", .type = List, .fallback = "by the operator", .description = "`pointwise`, `reduction`, `stub`: the dtypes of the kernel.", .example = "[float32, float64]"},
    {.path = "ops.*.dtypes[]", .type = Word, .values = kDtypes, .description = "A dtype."},
    {.path = "ops.*.override", .type = Boolean, .fallback = "false", .description = "Registers an operator that PyTorch already composes of others; its autograd is then yours.", .example = "true"},
    {.path = "ops.*.reason", .type = Text, .description = "`unsupported`: what the user is told; one line.", .example = "the device has no Poisson sampler", .rule = rules::line, .pattern = kLine},
    {.path = "ops.*.fallback", .type = Word, .fallback = "as `fallback.kind`", .values = kFallbacks, .description = "How this operator falls back, whatever `fallback` says for all: of `pointwise`, `reduction` and `stub` for dtypes that the kernel does not take, where `none` makes those an error; alone it implies `cpu_fallback`.", .example = "alias"},
    {.path = "ops.*.tests", .type = Map, .fallback = "true", .description = "How the operator is tested: `false` for not at all, or a map.", .example = "{dtypes: [float32], rtol: 1.0e-3, atol: 1.0e-5}", .shorthand = "run"},
    {.path = "ops.*.tests.run", .type = Boolean, .fallback = "true", .description = "Whether tests are rendered for the operator.", .example = "false"},
    {.path = "ops.*.tests.dtypes", .type = List, .fallback = "those of the kernel", .description = "The dtypes that are tested.", .example = "[float32, int64]"},
    {.path = "ops.*.tests.dtypes[]", .type = Word, .values = kDtypes, .description = "A dtype."},
    {.path = "ops.*.tests.rtol", .type = Number, .fallback = "by dtype", .description = "Relative tolerance to the CPU's result; with `atol`.", .example = "1.0e-3", .max = 1'000'000},
    {.path = "ops.*.tests.atol", .type = Number, .fallback = "by dtype", .description = "Absolute tolerance; with `rtol`.", .example = "1.0e-5", .max = 1'000'000},
    {.path = "ops.*.tests.skip", .type = List, .description = "Checks that are left out, each with its reason.", .example = "[{check: backward, dtype: float16, reason: the gradient needs float32}]"},
    {.path = "ops.*.tests.skip[]", .type = Map, .description = "One check, of one dtype or of all."},
    {.path = "ops.*.tests.skip[].check", .type = Word, .values = kTestChecks, .description = "What is not checked.", .example = "backward", .required = true},
    {.path = "ops.*.tests.skip[].dtype", .type = Word, .fallback = "all", .values = kDtypes, .description = "The dtype that it is not checked with.", .example = "float16"},
    {.path = "ops.*.tests.skip[].reason", .type = Text, .description = "Why: one line, shown with the skipped test.", .example = "the gradient needs float32", .rule = rules::line, .pattern = kLine, .required = true},
    {.path = "ops.*.since", .type = Text, .description = "The first minor release of PyTorch that the entry is for, in quotes; before it, it is left out.", .example = "\"2.14\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},
    {.path = "ops.*.until", .type = Text, .description = "The last one.", .example = "\"2.13\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},

    {.path = "custom_ops", .type = List, .description = "Operators of the backend's own: `torch.ops.<name>.<op>`."},
    {.path = "custom_ops[]", .type = Map, .description = "One operator.", .shorthand = "schema"},
    {.path = "custom_ops[].schema", .type = Text, .description = "Its schema, without namespace.", .example = "custom_abs(Tensor self) -> Tensor", .required = true},
    {.path = "custom_ops[].expr", .type = Text, .description = "A C++ expression that becomes an elementwise kernel; without it the kernel is yours to write.", .example = "std::abs(self)"},
    {.path = "custom_ops[].autograd", .type = Word, .fallback = "none", .values = kAutograds, .description = "`formula`: in C++, at AutogradPrivateUse1. `function`: through `torch.autograd.Function`, in Python.", .example = "formula"},
    {.path = "custom_ops[].backward", .type = Text, .description = "With `expr` and `autograd`: the gradient, over `grad` and the arguments.", .example = "self < 0 ? -grad : grad"},

    {.path = "tests", .type = Map, .description = "The rendered tests of operators; see docs/testing.md."},
    {.path = "tests.samples", .type = Integer, .fallback = "3", .description = "Samples of each operator, dtype and check; an environment variable of the tests asks for all.", .example = "5", .min = 1, .max = 1000},
    {.path = "tests.tolerances", .type = List, .fallback = "those of torch.testing.assert_close", .description = "Tolerances by dtype.", .example = "[{dtype: float16, rtol: 1.0e-2, atol: 1.0e-3}]"},
    {.path = "tests.tolerances[]", .type = Map, .description = "Those of one dtype."},
    {.path = "tests.tolerances[].dtype", .type = Word, .values = kDtypes, .description = "The dtype of the result.", .example = "float16", .required = true},
    {.path = "tests.tolerances[].rtol", .type = Number, .description = "Relative tolerance.", .example = "1.0e-2", .max = 1'000'000, .required = true},
    {.path = "tests.tolerances[].atol", .type = Number, .description = "Absolute tolerance.", .example = "1.0e-3", .max = 1'000'000, .required = true},
    {.path = "tests.exclude", .type = List, .description = "Tests of PyTorch's own test files that are left out on the device.", .example = "[{test: TestTorchDeviceType.test_pin_memory, reason: the device pins nothing}]"},
    {.path = "tests.exclude[]", .type = Map, .description = "One test, or a whole class."},
    {.path = "tests.exclude[].test", .type = Text, .description = "`Class.test_name`, as it is written in the file (without device and dtype), or `Class`.", .example = "TestTorchDeviceType.test_pin_memory", .rule = rules::test_name, .pattern = kTestName, .required = true},
    {.path = "tests.exclude[].reason", .type = Text, .description = "Why: one line.", .example = "the device pins nothing", .rule = rules::line, .pattern = kLine, .required = true},

    {.path = "amp", .type = Map, .description = "Automatic mixed precision."},
    {.path = "amp.dtypes", .type = List, .fallback = "[float16, bfloat16]", .description = "What `get_amp_supported_dtype()` says.", .example = "[bfloat16]"},
    {.path = "amp.dtypes[]", .type = Word, .values = kAmpDtypes, .description = "A dtype."},
    {.path = "amp.preset", .type = Word, .fallback = "cuda", .values = kPresets, .description = "`cuda`: PyTorch's own lists of autocast rules. `none`: no rules but those added.", .example = "none"},
    {.path = "amp.add", .type = Map, .description = "Operators added to the preset, by policy."},
    {.path = "amp.add.lower_precision_fp", .type = List, .description = "Run in the autocast dtype.", .example = "[bmm]"},
    {.path = "amp.add.lower_precision_fp[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.fp32", .type = List, .description = "Run in float32.", .example = "[logaddexp]"},
    {.path = "amp.add.fp32[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.fp32_set_opt_dtype", .type = List, .description = "Run in float32 unless a dtype is asked for.", .example = "[sum]"},
    {.path = "amp.add.fp32_set_opt_dtype[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.promote", .type = List, .description = "Run in the widest dtype among the arguments.", .example = "[atan2]"},
    {.path = "amp.add.promote[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.remove", .type = List, .description = "Operators taken out of the preset.", .example = "[prelu]"},
    {.path = "amp.remove[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},

    {.path = "compile", .type = Boolean, .fallback = "true", .description = "Whether `torch.compile` works on the device, by PyTorch's Inductor; see [compile](compile.md).", .example = "false"},

    {.path = "templates", .type = Text, .description = "A folder beside the spec with templates of your own: files named like openreg-gen's take their place, rows of a `templates.yaml` in it add outputs. See [templates](templates.md).", .example = "templates", .rule = rules::folder},
};
// clang-format on

}  // namespace

std::span<const Key> all_keys() { return kKeys; }

const Key* find_key(std::string_view path) {
  const auto found = std::ranges::find(kKeys, path, &Key::path);
  return found == std::end(kKeys) ? nullptr : &*found;
}

std::vector<const Key*> child_keys(std::string_view path) {
  std::vector<const Key*> children;
  for (const Key& key : kKeys) {
    std::string_view rest = key.path;
    if (rest.size() <= path.size() || !rest.starts_with(path)) continue;
    rest.remove_prefix(path.size());
    if (!path.empty() && !rest.starts_with('.')) continue;
    if (!path.empty()) rest.remove_prefix(1);
    if (rest.find_first_of(".[*") == std::string_view::npos) children.push_back(&key);
  }
  return children;
}

std::string_view last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace openreg_gen
