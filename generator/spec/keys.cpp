#include "spec/keys.h"

#include "base/text.h"
#include "releases/releases.h"
#include "spec/lessons.h"
#include "spec/read_keys.h"
#include "spec/rules.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using enum KeyType;

constexpr std::string_view kOpenClTypes[] = {"any", "cpu", "gpu", "accelerator"};
constexpr std::string_view kFallbacks[] = {"none", "cpu", "copy", "alias", "graph"};
constexpr std::string_view kDtypes[] = {"bool",    "uint8",    "int8",    "int16",   "int32",     "int64",
                                        "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
constexpr std::string_view kTestChecks[] = {"forward", "out",          "inplace", "noncontiguous",
                                            "empty",   "error_inputs", "backward"};
constexpr std::string_view kAutograds[] = {"none", "formula", "function"};
constexpr std::string_view kProfiles[] = {"minimal", "standard", "full"};
constexpr std::string_view kPresets[] = {"cuda", "none"};
constexpr std::string_view kAmpDtypes[] = {"float16", "bfloat16"};
constexpr std::string_view kIdentifier = "^[A-Za-z][A-Za-z0-9_]*$";
constexpr std::string_view kOperator = "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)?$";
constexpr std::string_view kSelection = "^-?(@[a-z]+(:.+)?|[A-Za-z0-9_.*?\\[\\]!-]+)$";
constexpr std::string_view kTestName = "^[A-Za-z_][A-Za-z0-9_]*(\\.test[A-Za-z0-9_]*)?$";
constexpr std::string_view kLine = "^[^\\u0000-\\u001f\\u007f]*$";
constexpr std::int64_t kTiB = std::int64_t{1} << 40;

/// The words of a list of values: of all strategies, say.
template <const auto& List>
std::span<const std::string_view> words() {
  static const auto all = mapped(List(), [](const auto& each) { return each.word; });
  return all;
}

template <const auto& List>
std::string_view about() {
  static const std::string text = about_each(List());
  return text;
}

/// The value of a member by its path: at<&Spec::torch, &TorchSpec::min>.
template <typename Owner, typename Member>
Owner owner_of(Member Owner::*);
template <auto First, auto... Rest>
constexpr Into<decltype(owner_of(First))> at =
    [](auto& owner, const Node& value, const Key& key) { read_value(((owner.*First).*....*Rest), value, key); };
constexpr Into<Spec> at_policy = [](Spec& spec, const Node& value, const Key& key) {
  read_value(spec.amp.add[std::string(last_part(key.path))], value, key);
};

// clang-format off
const Key kKeys[] = {
    {.path = "", .type = Map, .description = "The spec of a PyTorch backend."},
    {.path = "spec_version", .type = Integer, .into = at<&Spec::spec_version>, .fallback = "1", .description = "Version of this format.", .example = "1", .min = 1, .max = 1},

    {.path = "backend", .type = Map, .description = "Identity of the backend.", .required = true},
    {.path = "backend.name", .type = Text, .into = at<&Spec::backend, &BackendSpec::name>, .description = "The device type, as in `torch.device()`. Lower-case letters and underscores, at most 30; not a name that PyTorch, C++, Python or the C library uses.", .example = "openreg", .rule = rules::backend_name, .pattern = "^[a-z](_?[a-z])*$", .required = true},
    {.path = "backend.package", .type = Text, .into = at<&Spec::backend, &BackendSpec::package>, .fallback = "torch_<name>", .description = "The Python package.", .example = "torch_openreg", .rule = rules::package, .pattern = "^[a-z_][a-z0-9_]*$"},
    {.path = "backend.namespace", .type = Text, .into = at<&Spec::backend, &BackendSpec::cpp_namespace>, .fallback = "<name>", .description = "The C++ namespace.", .example = "openreg", .rule = rules::cpp_namespace, .pattern = kIdentifier},
    {.path = "backend.class_prefix", .type = Text, .into = at<&Spec::backend, &BackendSpec::class_prefix>, .fallback = "<Name>", .description = "Prefix of C++ classes: `OpenRegStream`, `OpenRegGuardImpl`.", .example = "OpenReg", .rule = rules::class_prefix, .pattern = kIdentifier},
    {.path = "backend.api_prefix", .type = Text, .into = at<&Spec::backend, &BackendSpec::api_prefix>, .fallback = "<theName>", .unset = "`<name>`, in lower camel case", .description = "Prefix of the device's C API, as in `orMalloc`; must begin with a lower-case letter.", .example = "or", .rule = rules::api_prefix, .pattern = "^[a-z][A-Za-z0-9_]*$"},
    {.path = "backend.vendor", .type = Text, .into = at<&Spec::backend, &BackendSpec::vendor>, .fallback = "The <name> authors", .description = "Who makes it: one line.", .example = "The OpenReg authors", .rule = rules::line, .pattern = kLine},
    {.path = "backend.description", .type = Text, .into = at<&Spec::backend, &BackendSpec::description>, .fallback = "A PyTorch backend for the <name> device.", .description = "What it is: one line.", .example = "A simulated accelerator for PyTorch.", .rule = rules::line, .pattern = kLine},
    {.path = "backend.version", .type = Text, .into = at<&Spec::backend, &BackendSpec::version>, .fallback = "0.1.0", .description = "Version of the package (PEP 440).", .example = "0.1.0", .rule = rules::version},
    {.path = "backend.license", .type = Text, .into = at<&Spec::backend, &BackendSpec::license>, .fallback = "BSD-3-Clause", .description = "SPDX licence expression of the package.", .example = "Apache-2.0 OR MIT", .rule = rules::license, .pattern = "^[A-Za-z0-9.+() -]+$"},

    {.path = "profile", .type = Word, .into = at<&Spec::profile>, .fallback = "full", .values = kProfiles, .description = "Which [components](components.md) the tree has. `minimal`: enough to bring up a device. `standard`: everything that users of a device expect; the default of `new`. `full`: everything.", .example = "minimal"},
    {.path = "components", .type = Map, .description = "Overrides of the profile: components to add (`true`) or leave out (`false`).", .example = "{caching: true, examples: false}"},

    {.path = "torch", .type = Map, .description = "The PyTorch releases that the backend supports."},
    {.path = "torch.min", .type = Text, .into = at<&Spec::torch, &TorchSpec::min>, .fallback = kOldestTorchQuoted, .description = "The oldest minor release, in quotes (YAML reads 2.10 as 2.1).", .example = "\"2.13\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},
    {.path = "torch.max", .type = Text, .into = at<&Spec::torch, &TorchSpec::max>, .fallback = kNewestTorchQuoted, .description = "The newest minor release; all its patch releases are included.", .example = "\"2.14\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},

    {.path = "device", .type = Map, .description = "The device behind the backend."},
    {.path = "device.api", .type = Word, .into = at<&Spec::device, &DeviceSpec::api>, .fallback = "emulator", .values = words<device_kinds>(), .description = about<device_kinds>(), .example = "external"},
    {.path = "device.kernels", .type = Word, .into = at<&Spec::device, &DeviceSpec::kernels>, .unset = "none; OpenCL C with `api: opencl`", .values = words<kernel_languages>(), .description = "With `external`: the language of the device's kernels, if the port builds and launches programs. Expressions in the spec, copies and fills then become kernels in it.", .example = "opencl_c"},
    {.path = "device.count", .type = Integer, .into = at<&Spec::device, &DeviceSpec::count>, .fallback = "2", .description = "Number of emulated devices.", .example = "4", .min = 1, .max = 64},
    {.path = "device.memory", .type = Size, .into = at<&Spec::device, &DeviceSpec::memory>, .fallback = "1GiB", .description = "Memory per emulated device; with `opencl`, an upper limit per device (default: all of it). Bytes, or a number with KiB, MiB, GiB, TiB, KB, MB, GB, TB.", .example = "512MiB", .min = 1 << 20, .max = 64 * kTiB},
    {.path = "device.platform", .type = Text, .into = at<&Spec::device, &DeviceSpec::platform>, .unset = "the first that has a device", .description = "With `opencl`: part of the name of the platform to use. The environment variables NAME_PLATFORM, NAME_DEVICE_TYPE and NAME_SUB_DEVICES override this key and the next two.", .example = "Portable Computing Language", .rule = rules::line, .pattern = kLine},
    {.path = "device.type", .type = Word, .into = at<&Spec::device, &DeviceSpec::type>, .fallback = "any", .values = kOpenClTypes, .description = "With `opencl`: which of the platform's devices to use.", .example = "gpu"},
    {.path = "device.sub_devices", .type = Integer, .into = at<&Spec::device, &DeviceSpec::sub_devices>, .fallback = "1", .description = "With `opencl`: split each device into so many equal devices, if it can be split.", .example = "2", .min = 1, .max = 64},
    {.path = "device.streams_per_pool", .type = Integer, .into = at<&Spec::device, &DeviceSpec::streams_per_pool>, .fallback = "4", .description = "Streams per priority in each device's pool.", .example = "8", .min = 1, .max = 32},

    {.path = "allocator", .type = Map, .description = "How memory is allocated."},
    {.path = "allocator.device", .type = Word, .into = at<&Spec::allocator, &AllocatorSpec::device>, .fallback = "caching", .unset = "`caching`; `direct` without the component `caching`", .values = words<allocator_kinds>(), .description = about<allocator_kinds>(), .example = "direct"},
    {.path = "allocator.alignment", .type = Size, .into = at<&Spec::allocator, &AllocatorSpec::alignment>, .fallback = "64", .description = "Alignment of allocations: a power of two.", .example = "256", .min = 1, .max = 1 << 20},
    {.path = "allocator.max_split_size_mb", .type = Integer, .into = at<&Spec::allocator, &AllocatorSpec::max_split_size_mb>, .unset = "no limit", .description = "The caching allocator does not split larger blocks. This key and the next three set defaults; PYTORCH_ALLOC_CONF has settings with the same names, which override them.", .example = "128", .min = 20, .max = 1 << 20},
    {.path = "allocator.garbage_collection_threshold", .type = Number, .into = at<&Spec::allocator, &AllocatorSpec::garbage_collection_threshold>, .unset = "never", .description = "A share of the process's memory limit. Above it, cached blocks that were unused for long are freed. Between 0 and 1.", .example = "0.8", .max = 1},
    {.path = "allocator.roundup_power2_divisions", .type = Integer, .into = at<&Spec::allocator, &AllocatorSpec::roundup_power2_divisions>, .unset = "none", .description = "Sizes are rounded up to a multiple of a power of two divided by this number, itself a power of two.", .example = "4", .min = 1, .max = 64},
    {.path = "allocator.expandable_segments", .type = Boolean, .into = at<&Spec::allocator, &AllocatorSpec::expandable_segments>, .fallback = "false", .description = "Segments that grow in place, if the device has the functions for virtual memory.", .example = "true"},

    {.path = "fallback", .type = Map, .unset = "`cpu`; `graph` with `api: compiler`", .description = "What happens to operators without a kernel: a word, or a map.", .example = "none", .shorthand = "kind"},
    {.path = "fallback.kind", .type = Word, .into = at<&Spec::fallback, &FallbackSpec::kind>, .fallback = "cpu", .unset = "`cpu`; `graph` with `api: compiler`", .values = kFallbacks, .description = "`cpu`: the CPU kernel runs, directly on device memory if launched functions can reach it, otherwise on copies. `alias`, `copy`: always the one or the other. `none`: an error. `graph`, only with `api: compiler`: a graph of one node is compiled and kept; if the compiler refuses it, the CPU kernel runs on copies.", .example = "alias"},
    {.path = "fallback.warn_once", .type = Boolean, .into = at<&Spec::fallback, &FallbackSpec::warn_once>, .fallback = "false", .description = "Whether each operator warns the first time it falls back.", .example = "true"},

    {.path = "ops", .type = Table, .description = "Operators that the backend registers: a map from operator to strategy (or to the keys below), or a list of operators and such maps. A key may also be a selection, which stands for many operators: a name without overload, a glob (`add.*`, `*_backward`), a set (`@minimal`, `@core`, `@pointwise`, `@amp`, `@tag:NAME`, `@model:FILE`), or one of these with a minus, which removes them again. See [operators](operators.md#selections).", .example = "{abs.out: stub, relu: native}", .pattern = kSelection},
    {.path = "ops.*", .type = Map, .description = "An operator with its overload, or a selection.", .example = "native", .shorthand = "strategy"},
    {.path = "ops.*.strategy", .type = Word, .into = at<&OpSpec::strategy>, .fallback = "native", .example = "pointwise"},
    {.path = "ops.*.expr", .type = Text, .into = at<&OpSpec::expr>, .description = "`pointwise`: a C++ expression over the operator's arguments.", .example = "std::sqrt(self * self + other * other)"},
    {.path = "ops.*.map", .type = Text, .into = at<&OpSpec::map>, .fallback = "self", .description = "`reduction`: an expression over `self`, applied to each element first.", .example = "self * self"},
    {.path = "ops.*.combine", .type = Text, .into = at<&OpSpec::combine>, .description = "`reduction`: combines two values, `a` and `b`; must be associative and commutative.", .example = "a + b"},
    {.path = "ops.*.init", .type = Text, .into = at<&OpSpec::init>, .description = "`reduction`: the result for no elements; may use `lowest` and `highest`.", .example = "0"},
    {.path = "ops.*.finish", .type = Text, .into = at<&OpSpec::finish>, .fallback = "acc", .description = "`reduction`: computes the result from `acc` and `count`.", .example = "acc / count"},
    {.path = "ops.*.prefer", .type = Text, .into = at<&OpSpec::prefer>, .description = "`reduction` whose result is an index (`argmax.out`, `argmin.out`, `max.dim_max`, `min.dim_min`), instead of `combine` and `init`: whether `a` wins over `b`. In a tie the first one wins.", .example = "a > b || a != a"},
    {.path = "ops.*.dtypes", .type = List, .into = at<&OpSpec::dtypes>, .unset = "by the operator", .description = "`pointwise`, `reduction`, `stub`: the dtypes of the kernel.", .example = "[float32, float64]"},
    {.path = "ops.*.dtypes[]", .type = Word, .values = kDtypes, .description = "A dtype."},
    {.path = "ops.*.override", .type = Boolean, .into = at<&OpSpec::override_composite>, .fallback = "false", .description = "Registers an operator that PyTorch composes from others; you then have to write its gradient.", .example = "true"},
    {.path = "ops.*.reason", .type = Text, .into = at<&OpSpec::reason>, .description = "`unsupported`: the reason that the error shows; one line.", .example = "the device has no Poisson sampler", .rule = rules::line, .pattern = kLine},
    {.path = "ops.*.fallback", .type = Word, .into = at<&OpSpec::fallback>, .unset = "as `fallback.kind`", .values = kFallbacks, .description = "How this operator falls back; overrides the key `fallback`. With `pointwise`, `reduction` and `stub` it is for dtypes that the kernel doesn't take, and `none` makes those an error. Without a strategy it implies `cpu_fallback`.", .example = "alias"},
    {.path = "ops.*.tests", .type = Map, .unset = "`true`", .description = "How the operator is tested: `false` for no tests, or a map.", .example = "{dtypes: [float32], rtol: 1.0e-3, atol: 1.0e-5}", .shorthand = "run"},
    {.path = "ops.*.tests.run", .type = Boolean, .into = at<&OpSpec::tests, &OpTests::run>, .fallback = "true", .description = "Whether tests are rendered for the operator.", .example = "false"},
    {.path = "ops.*.tests.dtypes", .type = List, .into = at<&OpSpec::tests, &OpTests::dtypes>, .unset = "those of the kernel", .description = "The dtypes that are tested.", .example = "[float32, int64]"},
    {.path = "ops.*.tests.dtypes[]", .type = Word, .values = kDtypes, .description = "A dtype."},
    {.path = "ops.*.tests.rtol", .type = Number, .into = at<&OpSpec::tests, &OpTests::rtol>, .unset = "by dtype", .description = "Relative tolerance against the CPU's result; needs `atol`.", .example = "1.0e-3", .max = 1'000'000},
    {.path = "ops.*.tests.atol", .type = Number, .into = at<&OpSpec::tests, &OpTests::atol>, .unset = "by dtype", .description = "Absolute tolerance; needs `rtol`.", .example = "1.0e-5", .max = 1'000'000},
    {.path = "ops.*.tests.skip", .type = List, .description = "Checks that are left out, each with its reason.", .example = "[{check: backward, dtype: float16, reason: the gradient needs float32}]"},
    {.path = "ops.*.tests.skip[]", .type = Map, .description = "One check, of one dtype or of all."},
    {.path = "ops.*.tests.skip[].check", .type = Word, .into = at<&TestSkip::check>, .values = kTestChecks, .description = "The check to skip.", .example = "backward", .required = true},
    {.path = "ops.*.tests.skip[].dtype", .type = Word, .into = at<&TestSkip::dtype>, .unset = "all", .values = kDtypes, .description = "The dtype to skip it for.", .example = "float16"},
    {.path = "ops.*.tests.skip[].reason", .type = Text, .into = at<&TestSkip::reason>, .description = "Why: one line, shown with the skipped test.", .example = "the gradient needs float32", .rule = rules::line, .pattern = kLine, .required = true},
    {.path = "ops.*.since", .type = Text, .into = at<&OpSpec::since>, .description = "The first minor release of PyTorch that the entry is for, in quotes. Earlier releases ignore the entry.", .example = "\"2.14\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},
    {.path = "ops.*.until", .type = Text, .into = at<&OpSpec::until>, .description = "The last minor release that the entry is for.", .example = "\"2.13\"", .rule = rules::torch_version, .pattern = "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"},

    {.path = "custom_ops", .type = List, .description = "The backend's own operators: `torch.ops.<name>.<op>`."},
    {.path = "custom_ops[]", .type = Map, .description = "One operator.", .shorthand = "schema"},
    {.path = "custom_ops[].schema", .type = Text, .into = at<&CustomOpSpec::schema>, .description = "Its schema, without namespace.", .example = "custom_abs(Tensor self) -> Tensor", .required = true},
    {.path = "custom_ops[].expr", .type = Text, .into = at<&CustomOpSpec::expr>, .description = "A C++ expression that becomes an elementwise kernel; without it the kernel is yours to write.", .example = "std::abs(self)"},
    {.path = "custom_ops[].autograd", .type = Word, .into = at<&CustomOpSpec::autograd>, .fallback = "none", .values = kAutograds, .description = "`formula`: in C++, at AutogradPrivateUse1. `function`: through `torch.autograd.Function`, in Python.", .example = "formula"},
    {.path = "custom_ops[].backward", .type = Text, .into = at<&CustomOpSpec::backward>, .description = "With `expr` and `autograd`: the gradient, over `grad` and the arguments.", .example = "self < 0 ? -grad : grad"},

    {.path = "custom_ops[].surrogate", .type = Boolean, .into = at<&CustomOpSpec::surrogate>, .fallback = "false", .description = "`backward` is not the derivative of `expr`, on purpose, as that of a straight-through estimator: the tests compare it with the CPU alone.", .example = "true"},
    {.path = "tests", .type = Map, .description = "The generated tests of operators; see [testing](testing.md)."},
    {.path = "tests.samples", .type = Integer, .into = at<&Spec::tests, &TestsSpec::samples>, .fallback = "3", .description = "Samples per operator, dtype and check; an environment variable of the tests asks for all.", .example = "5", .min = 1, .max = 1000},
    {.path = "tests.tolerances", .type = List, .unset = "those of `torch.testing.assert_close`", .description = "Tolerances by dtype.", .example = "[{dtype: float16, rtol: 1.0e-2, atol: 1.0e-3}]"},
    {.path = "tests.tolerances[]", .type = Map, .description = "Those of one dtype."},
    {.path = "tests.tolerances[].dtype", .type = Word, .into = at<&TestsSpec::Tolerance::dtype>, .values = kDtypes, .description = "The dtype of the result.", .example = "float16", .required = true},
    {.path = "tests.tolerances[].rtol", .type = Number, .into = at<&TestsSpec::Tolerance::rtol>, .description = "Relative tolerance.", .example = "1.0e-2", .max = 1'000'000, .required = true},
    {.path = "tests.tolerances[].atol", .type = Number, .into = at<&TestsSpec::Tolerance::atol>, .description = "Absolute tolerance.", .example = "1.0e-3", .max = 1'000'000, .required = true},
    {.path = "tests.exclude", .type = List, .description = "Tests in PyTorch's own test files to skip on the device.", .example = "[{test: TestTorchDeviceType.test_pin_memory, reason: the device pins nothing}]"},
    {.path = "tests.exclude[]", .type = Map, .description = "One test, or a whole class."},
    {.path = "tests.exclude[].test", .type = Text, .into = at<&TestsSpec::Exclusion::test>, .description = "`Class.test_name`, as written in the file, for all dtypes; `Class.test_name_device_dtype` for one; or `Class`.", .example = "TestTorchDeviceType.test_pin_memory", .rule = rules::test_name, .pattern = kTestName, .required = true},
    {.path = "tests.exclude[].reason", .type = Text, .into = at<&TestsSpec::Exclusion::reason>, .description = "Why: one line.", .example = "the device pins nothing", .rule = rules::line, .pattern = kLine, .required = true},

    {.path = "amp", .type = Map, .description = "Automatic mixed precision."},
    {.path = "amp.dtypes", .type = List, .into = at<&Spec::amp, &AmpSpec::dtypes>, .fallback = "[float16, bfloat16]", .description = "What `get_amp_supported_dtype()` returns.", .example = "[bfloat16]"},
    {.path = "amp.dtypes[]", .type = Word, .values = kAmpDtypes, .description = "A dtype."},
    {.path = "amp.preset", .type = Word, .into = at<&Spec::amp, &AmpSpec::preset>, .fallback = "cuda", .values = kPresets, .description = "`cuda`: PyTorch's own lists of autocast rules. `none`: only the rules under `add`.", .example = "none"},
    {.path = "amp.add", .type = Map, .description = "Operators added to the preset, by policy."},
    {.path = "amp.add.lower_precision_fp", .type = List, .into = at_policy, .description = "Run in the autocast dtype.", .example = "[bmm]"},
    {.path = "amp.add.lower_precision_fp[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.fp32", .type = List, .into = at_policy, .description = "Run in float32.", .example = "[linalg_inv]"},
    {.path = "amp.add.fp32[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.fp32_set_opt_dtype", .type = List, .into = at_policy, .description = "Run in float32 unless the call gives a dtype.", .example = "[sum]"},
    {.path = "amp.add.fp32_set_opt_dtype[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.add.promote", .type = List, .into = at_policy, .description = "Run in the widest dtype among the arguments.", .example = "[atan2]"},
    {.path = "amp.add.promote[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},
    {.path = "amp.remove", .type = List, .into = at<&Spec::amp, &AmpSpec::remove>, .description = "Operators removed from the preset: they run in the dtypes that they get, and may refuse a mix.", .example = "[rnn_tanh_cell]"},
    {.path = "amp.remove[]", .type = Text, .description = "An operator.", .rule = rules::operator_name, .pattern = kOperator},

    {.path = "compile", .type = Boolean, .into = at<&Spec::compile>, .unset = "as the profile", .description = "Whether `torch.compile` works on the device, with PyTorch's Inductor; see [compile](compile.md).", .example = "false"},
    {.path = "profiler", .type = Boolean, .into = at<&Spec::profiler>, .unset = "as the profile", .description = "Whether `torch.profiler` shows the device's work; see [profiling](profiling.md).", .example = "false"},
    {.path = "graphs", .type = Boolean, .into = at<&Spec::graphs>, .unset = "as the profile", .description = "Whether a stream can be captured into a graph (`torch.accelerator.Graph`, `torch.NAME.graph`); see [graphs](graphs.md).", .example = "false"},
    {.path = "distributed", .type = Map, .unset = "as the profile", .description = "Whether `torch.distributed` works on the device, over PyTorch's Gloo or a vendor's library: `true`, `false`, or a map; see [distributed](distributed.md).", .example = "false", .shorthand = "on"},
    {.path = "distributed.on", .type = Boolean, .into = at<&Spec::distributed, &DistributedSpec::on>, .unset = "as the profile", .description = "Whether the tree has a process group.", .example = "false"},
    {.path = "distributed.backend", .type = Text, .into = at<&Spec::distributed, &DistributedSpec::backend>, .fallback = "<name>ccl", .description = "The backend's name for `init_process_group()`.", .example = "openregccl", .rule = rules::distributed_backend, .pattern = "^[a-z][a-z0-9_]*$"},

    {.path = "lesson", .type = Integer, .into = at<&Spec::lesson>, .unset = "none", .description = "An exercise of [the book](../book/index.md): its file, its test and its solution are in the tree. `python -m openreg_gen.learn` raises the number.", .example = "1", .min = 1, .max = kLessons.size()},
    {.path = "templates", .type = Text, .into = at<&Spec::templates>, .description = "A folder beside the spec with templates of your own: files named like openreg-gen's take their place, rows of a `templates.yaml` in it add outputs. See [templates](templates.md).", .example = "templates", .rule = rules::folder},
};
// clang-format on

/// "components.sweep" and what is said of it, for each component.
struct ComponentKey {
  std::string path, about;
};
const std::vector<ComponentKey>& component_keys() {
  static const auto keys = [] {
    std::vector<ComponentKey> out;
    for (const Component& component : all_components()) {
      std::string needs;
      for (const std::string_view need : words_of(component.needs))
        needs += fmt::format("{}`{}`", needs.empty() ? " Needs " : ", ", need);
      std::string about(component.about);
      about[0] = to_upper(about[0]);
      out.push_back({fmt::format("components.{}", component.name),
                     fmt::format("{}.{}{} In profile `{}` and larger.", about, needs, needs.empty() ? "" : ".",
                                 to_string(component.since))});
    }
    return out;
  }();
  return keys;
}

}  // namespace

std::span<const Key> all_keys() {
  static const auto keys = [] {
    std::vector<Key> all;
    for (const Key& key : kKeys) {
      all.push_back(key);
      if (key.path == "components") {
        for (const ComponentKey& component : component_keys())
          all.push_back(
              {.path = component.path, .type = Boolean, .unset = "as the profile", .description = component.about});
      }
    }
    return all;
  }();
  return keys;
}

const Key* find_key(std::string_view path) { return find_by(all_keys(), path, &Key::path); }

std::vector<const Key*> child_keys(std::string_view path) {
  std::vector<const Key*> children;
  for (const Key& key : all_keys()) {
    std::string_view rest = key.path;
    if (rest.size() <= path.size() || !rest.starts_with(path)) continue;
    rest.remove_prefix(path.size());
    if (!path.empty() && !rest.starts_with('.')) continue;
    if (!path.empty()) rest.remove_prefix(1);
    if (rest.find_first_of(".[*") == std::string_view::npos) children.push_back(&key);
  }
  return children;
}

std::string_view default_text(const Key& key) { return key.unset.empty() ? key.fallback : key.unset; }

Node default_node(const Key& key, std::string_view name) {
  Node node;
  std::string text(key.fallback);
  if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
  replace_all(text, "<name>", std::string(name));
  replace_all(text, "<Name>", camel_case(name));
  replace_all(text, "<theName>", lower_camel_case(name));
  node.kind = key.type == List ? Node::Kind::List : Node::Kind::String;
  for (std::size_t from = 1; node.kind == Node::Kind::List && from < text.size();) {  // "[float16, bfloat16]"
    const std::size_t end = text.find_first_of(",]", from);
    node.items.push_back({.kind = Node::Kind::String, .text = text.substr(from, end - from)});
    from = end + 2;
  }
  node.text = std::move(text);
  return node;
}

std::string_view last_part(BorrowedText path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace openreg_gen
