// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/operator_name.h>

#include "runtime/Export.h"

// Note [What falling back costs]
// Each call that ran a CPU kernel in place of the device's is counted under its operator: how often, the bytes copied
// to the host and back, the time. torch.openreg.fallback_report() shows it; without it a model that runs mostly on the
// CPU looks merely slow. Threads: any.

namespace openreg {

struct FallbackCount {
  std::string op;  // "aten::add.Tensor"
  bool aliased = false;  // the last call ran on device memory, without copies of its arguments
  uint64_t calls = 0;
  uint64_t bytes_to_host = 0;
  uint64_t bytes_to_device = 0;
  double seconds = 0;  // on the host, waiting included
};

/// What was counted since the process started or the last reset, by operator, in the order of names.
OPENREG_RUNTIME_API std::vector<FallbackCount> fallback_counts();
OPENREG_RUNTIME_API void reset_fallback_counts();

/// Counts one call, from construction to destruction; a call that throws counts too. Borrows `op`.
class FallbackScope {
 public:
  FallbackScope(const c10::OperatorName& op, bool aliased);
  ~FallbackScope();
  FallbackScope(const FallbackScope&) = delete;
  FallbackScope& operator=(const FallbackScope&) = delete;

  void copied(uint64_t to_host, uint64_t to_device) {
    to_host_ += to_host;
    to_device_ += to_device;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const c10::OperatorName& op_;
  const bool aliased_;
  uint64_t to_host_ = 0;
  uint64_t to_device_ = 0;
  Clock::time_point begin_;
};

}  // namespace openreg
