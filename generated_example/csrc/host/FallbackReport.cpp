// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/FallbackReport.h"

#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/Work.h"

namespace openreg {
namespace {

struct Counts {
  std::mutex mutex;
  std::unordered_map<c10::OperatorName, FallbackCount> by_op;
  std::map<std::pair<const RegisteredKernel*, HostCode>, FallbackCount> by_kernel;
};

// Never destroyed: a thread may still count while the process exits.
Counts& counts() {
  static auto& instance = *new Counts();
  return instance;
}

/// Why an operator fell back whose kernel was registered with `strategy`.
const char* reason_to_fall_back(std::string_view strategy) {
  if (strategy.empty()) {
    return "no kernel";
  }
  const bool always = strategy == "cpu_fallback" || strategy == "minimal";
  return always ? "registered to fall back" : "arguments that its kernel does not take";
}

const char* reason_of(const RegisteredKernel& kernel, HostCode code) {
  if (kernel.moves) {
    return "copy, cast or fill";
  }
  return code == HostCode::kCpuKernel ? "its kernel is the CPU's" : "its kernel is a C++ function";
}

void add_cost(const HostCost& cost) {
  const std::lock_guard<std::mutex> lock(counts().mutex);
  FallbackCount& count = cost.op != nullptr ? counts().by_op[*cost.op] : counts().by_kernel[{cost.kernel, cost.code}];
  count.aliased = cost.aliased;
  ++count.calls;
  count.bytes_to_host += cost.bytes_to_host;
  count.bytes_to_device += cost.bytes_to_device;
  count.seconds += cost.seconds;
}

[[maybe_unused]] const bool counts_costs = (count_host_cost = &add_cost, true);

}  // namespace

std::vector<FallbackCount> fallback_counts() {
  // The forms of an operator are registered one by one, and shown as one.
  std::map<std::tuple<std::string, std::string, std::string>, FallbackCount> rows;
  const auto add = [&rows](std::string op, const char* strategy, const char* reason, const char* cause, const FallbackCount& count) {
    FallbackCount& row = rows[{op, strategy, reason}];
    row.op = std::move(op);
    row.strategy = strategy;
    row.reason = reason;
    row.cause = cause;
    row.aliased = count.aliased;
    row.calls += count.calls;
    row.bytes_to_host += count.bytes_to_host;
    row.bytes_to_device += count.bytes_to_device;
    row.seconds += count.seconds;
  };
  {
    const std::lock_guard<std::mutex> lock(counts().mutex);
    for (const auto& [name, count] : counts().by_op) {
      std::string op = c10::toString(name);
      const RegisteredKernel* const kernel = noted_kernel(op);
      const char* const strategy = kernel == nullptr ? "" : kernel->strategy;
      add(std::move(op), strategy, reason_to_fall_back(strategy), "fallback", count);
    }
    for (const auto& [key, count] : counts().by_kernel) {
      add(key.first->op, key.first->strategy, reason_of(*key.first, key.second), key.first->moves ? "move" : "kernel", count);
    }
  }
  std::vector<FallbackCount> result;
  result.reserve(rows.size());
  for (auto& [key, row] : rows) {
    result.push_back(std::move(row));
  }
  return result;
}

void reset_fallback_counts() {
  const std::lock_guard<std::mutex> lock(counts().mutex);
  counts().by_op.clear();
  counts().by_kernel.clear();
}

}  // namespace openreg
