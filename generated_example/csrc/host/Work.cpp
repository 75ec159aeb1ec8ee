// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Work.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include <c10/util/Exception.h>

#include "host/Fallback.h"
#include "host/Operator.h"
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
  if (!moves && logs_fallbacks()) {
    log_once(name(), " is computed on the host, on copies of its arguments");
  }
  return {.op = kernel != nullptr ? nullptr : op, .kernel = kernel, .code = code};
}

/// The kernels that were registered, by operator. Complete once the library is loaded.
std::unordered_map<std::string_view, const RegisteredKernel*>& kernels() {
  static auto& instance = *new std::unordered_map<std::string_view, const RegisteredKernel*>();
  return instance;
}

}  // namespace

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
