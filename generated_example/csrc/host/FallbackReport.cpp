// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/FallbackReport.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace openreg {
namespace {

struct Counts {
  std::mutex mutex;
  std::unordered_map<c10::OperatorName, FallbackCount> by_op;
};

// Never destroyed: a thread may still count while the process exits.
Counts& counts() {
  static auto& instance = *new Counts();
  return instance;
}

}  // namespace

FallbackScope::FallbackScope(const c10::OperatorName& op, bool aliased)
    : op_(op), aliased_(aliased), begin_(Clock::now()) {}

FallbackScope::~FallbackScope() {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::lock_guard<std::mutex> lock(counts().mutex);
  FallbackCount& count = counts().by_op[op_];
  count.aliased = aliased_;
  ++count.calls;
  count.bytes_to_host += to_host_;
  count.bytes_to_device += to_device_;
  count.seconds += seconds;
}

std::vector<FallbackCount> fallback_counts() {
  std::vector<FallbackCount> result;
  {
    const std::lock_guard<std::mutex> lock(counts().mutex);
    for (const auto& [name, count] : counts().by_op) {
      result.push_back(count);
      result.back().op = c10::toString(name);
    }
  }
  std::ranges::sort(result, {}, &FallbackCount::op);
  return result;
}

void reset_fallback_counts() {
  const std::lock_guard<std::mutex> lock(counts().mutex);
  counts().by_op.clear();
}

}  // namespace openreg
