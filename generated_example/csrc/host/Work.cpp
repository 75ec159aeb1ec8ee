// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Work.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <c10/util/Exception.h>

#include "host/Fallback.h"
#include "host/Operator.h"
#include "host/Tensors.h"
#include "runtime/Capturing.h"
#include "runtime/Stream.h"

namespace openreg {

constinit thread_local const RegisteredKernel* current_kernel = nullptr;

namespace {

/// What to do about `op`, a key of openreg.yaml (`custom`: one of the backend's own operators), whose kernel was registered with `strategy`.
std::string way_out(const std::string& op, std::string_view strategy, bool custom) {
  constexpr std::array<std::string_view, 3> kInFiles{"native", "stub", "structured"};
  std::string function = op;
  std::replace(function.begin(), function.end(), '.', '_');
  if (strategy == "matmul") {
    return "Serve these arguments in orGemm of the device's API";
  }
  if (strategy == "minimal") {
    return "Write it for the device: native::" + function + " in csrc/aten/native";
  }
  if (custom && strategy == "pointwise") {
    return "Leave `expr` out of its entry under `custom_ops:` in openreg.yaml, run `openreg-gen generate`, and write it for the device";
  }
  const std::string file = "csrc/aten/native/" + (custom ? "custom_" + function : function) + ".cpp";
  if (std::find(kInFiles.begin(), kInFiles.end(), strategy) != kInFiles.end()) {
    return "Write it for the device in " + file;
  }
  return "Put `" + op + ": native` under `ops:` in openreg.yaml, run `openreg-gen generate`, and write it for the device in " + file;
}

[[noreturn]] void refuse(const std::string& name, HostCode code, std::string_view strategy) {
  const std::string bare = name.substr(name.find("::") + 2);
  TORCH_CHECK_NOT_IMPLEMENTED(false, name, " is computed on the host, on copies of its arguments, and OPENREG_FALLBACK is none. ",
      strategy.empty() ? "Its kernel is " : "Its kernel (", strategy, strategy.empty() ? "" : ") is ",
      code == HostCode::kCpuKernel ? "PyTorch's for the CPU" : "a C++ function", ". ", way_out(bare, strategy, !name.starts_with("aten::")));
}

/// Whether operators that the host computes are named, once each.
bool logs_host_work() {
  static const bool logs = [] {
    const char* text = std::getenv("OPENREG_LOG_FALLBACK");
    return text == nullptr ? false : std::string_view(text) != "0";
  }();
  return logs;
}

void log_once(const std::string& op, const std::string& what) {
  static std::mutex mutex;
  static auto& seen = *new std::unordered_set<std::string>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!seen.insert(op).second) {
      return;
    }
  }
  TORCH_WARN(op, what);
}

/// What a run costs that begins now. Refuses it where host code is refused, and names it where it is named.
HostCost admitted(HostCode code, const c10::OperatorName* op) {
  static constexpr RegisteredKernel kUnknown{"aten::unknown", ""};
  const RegisteredKernel* const without = op == nullptr ? &kUnknown : nullptr;
  const RegisteredKernel* const kernel = current_kernel != nullptr ? current_kernel : without;
  const auto name = [&] { return kernel != nullptr ? std::string(kernel->op) : c10::toString(*op); };
  const bool moves = kernel != nullptr && kernel->moves;
  if (!moves && fallback_override() == FallbackKind::kNone) {
    refuse(name(), code, kernel != nullptr ? kernel->strategy : "");
  }
  if (!moves && logs_host_work()) {
    log_once(name(), " is computed on the host, on copies of its arguments");
  }
  return {.op = kernel != nullptr ? nullptr : op, .kernel = kernel, .code = code};
}

/// The kernels that were registered, by operator. Complete once the library is loaded.
std::unordered_map<std::string_view, const RegisteredKernel*>& kernels() {
  static auto& instance = *new std::unordered_map<std::string_view, const RegisteredKernel*>();
  return instance;
}

/// Throws as PyTorch does if a call has a generator of the device and tensors of others alone: the generator brings it here, and
/// draws for its own device.
void check_generator(const HostRun& call) {
  std::optional<c10::Device> elsewhere, generator;
  bool here = false;
  for (const c10::IValue& value : torch::jit::last(*call.stack, call.op.schema().arguments().size())) {
    generator = value.isGenerator() ? value.toGenerator().device() : generator;
    each_tensor(value, [&](const at::Tensor& tensor) {
      here = here || tensor.is_privateuseone();
      elsewhere = elsewhere.value_or(tensor.device());
    });
  }
  TORCH_CHECK(here || !elsewhere.has_value() || !generator.has_value() || !generator->is_privateuseone(),
      "Expected a '", elsewhere->type(), "' device type for generator but found '", generator->type(), "'");
}

/// Leaves out arguments that the CPU's kernel does not read, and yet checks: of batch normalization in eval the saved statistics,
/// which the CPU's forward does not have and that of other devices has in a wider dtype.
void leave_out_unread(const HostRun& call) {
  const c10::FunctionSchema& schema = call.op.schema();
  if (call.op.operator_name().name != "aten::native_batch_norm_backward") {
    return;
  }
  const auto argument = [&](const char* name) -> c10::IValue& {
    return (*call.stack)[call.stack->size() - schema.arguments().size() + static_cast<size_t>(*schema.argumentIndexWithName(name))];
  };
  if (!argument("train").toBool()) {
    argument("save_mean") = c10::IValue();
    argument("save_invstd") = c10::IValue();
  }
}

/// Whether the current stream is captured: then the call becomes a node of the graph, or throws c10::AcceleratorError if it needs copies.
bool is_captured(const HostRun& call) {
  if (!is_current_stream_capturing()) {
    return false;
  }
  if (call.copies) {
    const std::string what = c10::str("the CPU's kernel of ", call.op.operator_name(), ", which needs copies of device memory");
    check_not_capturing(what.c_str());
  }
  const auto& arguments = call.op.schema().arguments();
  const bool random = std::ranges::any_of(arguments, [](const c10::Argument& each) { return each.name() == "generator"; });
  (*capture_cpu_kernel)(call.op, call.stack, random ? kNumbersPerDraw : 0);
  return true;
}

void watch(const HostRun& call, c10::function_ref<CopiedBytes()> run) {
  check_generator(call);
  leave_out_unread(call);
  const c10::OperatorName& name = call.op.operator_name();
  if (call.fell_back && logs_host_work()) {
    const char* const where = call.copies ? "copies of its arguments" : "the device's memory";
    log_once(c10::toString(name), c10::str(" has no kernel for openreg and runs on the CPU, on ", where));
  }
  if (is_captured(call)) {
    return;
  }
  if (!call.fell_back && !call.copies) {  // the device's own kernel
    run();
    return;
  }
  HostCostScope cost(call.fell_back ? HostCost{.op = &name, .aliased = !call.copies} : admitted(HostCode::kCpuKernel, &name));
  if (call.copies) {
    cost.wait_for_earlier_work();
  }
  const auto [to_host, to_device] = run();
  cost.copied(to_host, to_device);
}

[[maybe_unused]] const bool watches = (watch_host_run = &watch, true);

}  // namespace

void (*capture_cpu_kernel)(const c10::OperatorHandle&, torch::jit::Stack*, uint64_t) = nullptr;

void (*count_host_cost)(const HostCost& cost) = nullptr;

void note_kernel(const char* op, const RegisteredKernel& kernel) { kernels()[op] = &kernel; }

const RegisteredKernel* noted_kernel(std::string_view op) {
  const auto found = kernels().find(op);
  return found == kernels().end() ? nullptr : found->second;
}

HostCostScope::~HostCostScope() {
  if (count_host_cost != nullptr) {
    cost_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    count_host_cost(cost_);
  }
}

void HostCostScope::wait_for_earlier_work() {
  if (count_host_cost != nullptr) {
    getCurrentStream().synchronize();
    begin_ = Clock::now();
  }
}

HostWork::HostWork(HostCode code, const c10::OperatorName* op) : cost_(admitted(code, op)) { cost_.wait_for_earlier_work(); }

}  // namespace openreg
