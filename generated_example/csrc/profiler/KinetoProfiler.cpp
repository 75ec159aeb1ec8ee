// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `profiler` in the spec changes it, then `openreg-gen generate`.
#include "profiler/KinetoProfiler.h"

#include <openreg.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

// The header declares nothing without it, and formats with a library of which PyTorch ships the headers alone.
#define USE_KINETO
#define FMT_HEADER_ONLY
#include <libkineto.h>
#include <output_base.h>
#include <time_since_epoch.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include "runtime/Functions.h"

namespace openreg {
namespace {

using libkineto::ActivityType;
using libkineto::GenericTraceActivity;

std::atomic<int> recording{0};  // sessions between start() and stop()

std::atomic<uint64_t> sessions{0};  // ever begun

/// What the thread is doing, as PyTorch numbers it: operators, and ranges of record_function(). PyTorch says what ends only
/// while a session lasts, so what a session leaves behind is nothing to the next.
struct Doing {
  uint64_t session = 0;
  std::vector<uint64_t> operators;
  std::vector<uint64_t> ranges;
  static Doing& of_this_thread() {
    thread_local Doing doing;
    const uint64_t session = sessions.load(std::memory_order_relaxed);
    if (doing.session != session) {
      doing = Doing{session, {}, {}};
    }
    return doing;
  }
  /// Both in one number, which comes back with each record.
  void correlate() const {
    const uint64_t op = operators.empty() ? 0 : operators.back();
    const uint64_t range = ranges.empty() ? 0 : ranges.back();
    orActivityCorrelate(range << 32U | (op & 0xffffffffU));
  }
};
int32_t operator_of(const orActivity& record) { return static_cast<int32_t>(record.correlation & 0xffffffffU); }
int32_t range_of(const orActivity& record) { return static_cast<int32_t>(record.correlation >> 32U); }

/// The device's clock against Kineto's, which is the system's, in nanoseconds.
struct ClockPair {
  uint64_t device = 0;
  int64_t system = 0;
  static ClockPair now() {
    // The reading that took least time is the one that lies closest to the system's.
    ClockPair best;
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
      const auto before = libkineto::timeSinceEpoch(std::chrono::system_clock::now());
      uint64_t device = 0;
      orActivityTime(&device);
      const auto after = libkineto::timeSinceEpoch(std::chrono::system_clock::now());
      if (after - before < least) {
        least = after - before;
        best = {device, before + (after - before) / 2};
      }
    }
    return best;
  }
};

const char* name_of(orMemcpyKind copy, bool pageable) {
  switch (copy) {
    case orMemcpyHostToDevice:
      return pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)";
    case orMemcpyDeviceToHost:
      return pageable ? "Memcpy DtoH (Device -> Pageable)" : "Memcpy DtoH (Device -> Pinned)";
    case orMemcpyDeviceToDevice:
      return "Memcpy DtoD (Device -> Device)";
    case orMemcpyHostToHost:
      return "Memcpy HtoH";
  }
  return "Memcpy";
}

/// "add_kernel" for a kernel that aten::add queued.
std::string name_of_kernel(const libkineto::ITraceActivity* op) {
  std::string name = op == nullptr ? "" : op->name();
  const size_t colons = name.rfind("::");
  name = colons == std::string::npos ? name : name.substr(colons + 2);
  std::replace(name.begin(), name.end(), '.', '_');
  return name.empty() ? "kernel" : name + "_kernel";
}

std::string name_of(const orActivity& record, const libkineto::ITraceActivity* op) {
  if (record.name != nullptr) {
    return record.name;
  }
  switch (record.kind) {
    case orActivityMemcpy:
      return name_of(record.copy, record.pageable != 0);
    case orActivityMemset:
      return "Memset (Device)";
    case orActivityKernel:
      break;
  }
  return name_of_kernel(op);
}

const char* name_of_call(const orActivity& record) {
  if (record.replayed != 0) {
    return "orGraphLaunch";
  }
  switch (record.kind) {
    case orActivityMemcpy:
      return "orMemcpyAsync";
    case orActivityMemset:
      return "orMemsetAsync";
    case orActivityKernel:
      break;
  }
  return "orLaunchKernel";
}

ActivityType type_of(orActivityKind kind) {
  switch (kind) {
    case orActivityMemcpy:
      return ActivityType::GPU_MEMCPY;
    case orActivityMemset:
      return ActivityType::GPU_MEMSET;
    case orActivityKernel:
      break;
  }
  return ActivityType::CONCURRENT_KERNEL;
}

class Session : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    read_all();  // of who profiled before
    records_.clear();
    sessions.fetch_add(1);
    Doing::of_this_thread().correlate();
    begun_ = ClockPair::now();
    if (orActivityEnable(1) != orSuccess) {
      orGetLastError();
      TORCH_WARN_ONCE("openreg: the device keeps no record of its activities (orActivityEnable), so the profile has those of the CPU alone");
      status_ = libkineto::TraceStatus::WARNING;
      return;
    }
    enabled_ = true;
    recording.fetch_add(1);
    status_ = libkineto::TraceStatus::RECORDING;
  }

  // The profiler has synchronized the device before, so what was queued is recorded.
  void stop() override {
    if (!enabled_) {
      return;
    }
    enabled_ = false;
    if (recording.fetch_sub(1) == 1) {
      orActivityEnable(0);
    }
    ended_ = ClockPair::now();
    read_all();
    status_ = libkineto::TraceStatus::PROCESSING;
  }

  std::vector<std::string> errors() override {
    return lost_ == 0 ? std::vector<std::string>{}
                      : std::vector<std::string>{std::to_string(lost_) + " activities of openreg were lost: out of memory"};
  }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(logger, [](int32_t) -> const libkineto::ITraceActivity* { return nullptr; }, 0, INT64_MAX);
  }

  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked, int64_t start,
      int64_t end) override {
    trace_ = std::make_unique<libkineto::CpuTraceBuffer>();
    trace_->span = libkineto::TraceSpan(start, end, "openreg");
    trace_->gpuOpCount = static_cast<int>(records_.size());
    std::map<std::pair<int, int>, int64_t> rows;  // device and stream: when it began
    std::map<std::pair<std::pair<int, int>, int32_t>, std::pair<int64_t, int64_t>> spans;  // of ranges, on a row
    std::map<std::pair<int, uint64_t>, uint32_t> launches;  // of graphs, by thread and time: all parts have one call
    uint32_t flows = 0;
    for (const orActivity& record : records_) {
      const int64_t begin = system_time(record.start);
      if (begin < start || begin > end) {
        continue;  // of a warm-up, or after the schedule's active steps
      }
      const auto row = std::pair(record.device, record.stream);
      rows.try_emplace(row, begin);
      const libkineto::ITraceActivity* const op = operator_of(record) == 0 ? nullptr : linked(operator_of(record));
      uint32_t flow = flows + 1;
      if (record.replayed != 0) {
        flow = launches.try_emplace({record.thread, record.queueStart}, flow).first->second;
      }
      if (flow > flows) {
        flows = flow;
        add_call(record, op, flow);
      }
      add_activity(record, op, flow);
      if (range_of(record) != 0) {
        auto& span = spans.try_emplace({row, range_of(record)}, begin, begin).first->second;
        span.second = std::max(span.second, system_time(record.end));
      }
    }
    for (const auto& [where, span] : spans) {
      add_range(where.first, linked(where.second), span);
    }
    describe_rows(logger, rows);
    for (const auto& activity : trace_->activities) {
      activity->log(logger);
    }
  }

  // Rows are described in processTrace(), since one session has several devices.
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(trace_); }

  void pushCorrelationId(uint64_t id) override { push(&Doing::operators, id); }
  void popCorrelationId() override { pop(&Doing::operators); }
  void pushUserCorrelationId(uint64_t id) override { push(&Doing::ranges, id); }
  void popUserCorrelationId() override { pop(&Doing::ranges); }

 private:
  static void push(std::vector<uint64_t> Doing::* stack, uint64_t id) {
    Doing& doing = Doing::of_this_thread();
    (doing.*stack).push_back(id);
    doing.correlate();
  }
  static void pop(std::vector<uint64_t> Doing::* stack) {
    Doing& doing = Doing::of_this_thread();
    if (!(doing.*stack).empty()) {
      (doing.*stack).pop_back();
      doing.correlate();
    }
  }

  void read_all() {
    constexpr size_t kAtOnce = 4096;
    std::vector<orActivity> some(kAtOnce);
    for (size_t count = kAtOnce; count == kAtOnce;) {
      size_t lost = 0;
      if (orActivityRead(some.data(), some.size(), &count, &lost) != orSuccess) {
        orGetLastError();
        return;
      }
      records_.insert(records_.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
      lost_ += lost;
    }
  }

  /// Between the two readings of both clocks; they may run at slightly different speeds.
  int64_t system_time(uint64_t device) const {
    const auto since = static_cast<int64_t>(device - begun_.device);
    const auto device_span = static_cast<double>(ended_.device - begun_.device);
    const double speed = device_span > 0 ? static_cast<double>(ended_.system - begun_.system) / device_span : 1;
    return begun_.system + static_cast<int64_t>(static_cast<double>(since) * speed);
  }

  GenericTraceActivity& add(ActivityType type, const std::string& name, int64_t begin, int64_t end) {
    trace_->emplace_activity(trace_->span, type, name);
    GenericTraceActivity& activity = *trace_->activities.back();
    activity.startTime = begin;
    activity.endTime = std::max(begin, end);
    return activity;
  }

  /// The call that queued it, on the row of its thread.
  void add_call(const orActivity& record, const libkineto::ITraceActivity* op, uint32_t flow) {
    GenericTraceActivity& call = add(ActivityType::PRIVATEUSE1_RUNTIME, name_of_call(record), system_time(record.queueStart), system_time(record.queueEnd));
    call.device = static_cast<int32_t>(getpid());
    call.resource = record.thread;
    call.threadId = record.thread;
    finish(call, op, flow, true);
  }

  void add_activity(const orActivity& record, const libkineto::ITraceActivity* op, uint32_t flow) {
    GenericTraceActivity& activity = add(type_of(record.kind), name_of(record, op), system_time(record.start), system_time(record.end));
    activity.device = record.device;
    activity.resource = record.stream;
    activity.addMetadata("device", record.device);
    activity.addMetadata("stream", record.stream);
    activity.addMetadata("queued (us)", static_cast<double>(record.start - record.queueEnd) / 1000);
    if (record.kind != orActivityKernel) {
      activity.addMetadata("bytes", record.bytes);
      const auto nanoseconds = static_cast<double>(std::max<uint64_t>(1, record.end - record.start));
      activity.addMetadata("memory bandwidth (GB/s)", static_cast<double>(record.bytes) / nanoseconds);
    }
    finish(activity, op, flow, false);
  }

  /// What a record_function() range queued, from its first to its last kernel, above the kernels of the row.
  void add_range(const std::pair<int, int>& row, const libkineto::ITraceActivity* range, const std::pair<int64_t, int64_t>& span) {
    if (range == nullptr) {
      return;
    }
    GenericTraceActivity& activity = add(ActivityType::GPU_USER_ANNOTATION, range->name(), span.first, span.second);
    activity.device = row.first;
    activity.resource = row.second;
  }

  static void finish(GenericTraceActivity& activity, const libkineto::ITraceActivity* op, uint32_t flow, bool begins) {
    activity.id = static_cast<int32_t>(flow);
    activity.linked = op;
    activity.flow.id = flow;
    activity.flow.type = libkineto::kLinkAsyncCpuGpu;
    activity.flow.start = begins ? 1 : 0;
    activity.addMetadata("correlation", flow);
    if (op != nullptr) {
      activity.addMetadata("External id", op->correlationId());
    }
  }

  static void describe_rows(libkineto::ActivityLogger& logger, const std::map<std::pair<int, int>, int64_t>& rows) {
    std::set<int> devices;
    for (const auto& [row, begin] : rows) {
      const auto [device, stream] = row;
      const std::string name = "openreg:" + std::to_string(device);
      if (devices.insert(device).second) {
        logger.handleDeviceInfo({device, libkineto::kExceedMaxPid + device, name, name}, begin);
      }
      // With the device's name: Kineto itself names the first 16 devices of a trace GPU 0, GPU 1, ..., whatever they are.
      logger.handleResourceInfo({stream, stream, device, name + " stream " + std::to_string(stream) + (stream == 0 ? " (default)" : "")}, begin);
    }
  }

  bool enabled_ = false;
  ClockPair begun_;
  ClockPair ended_;
  std::vector<orActivity> records_;
  size_t lost_ = 0;
  std::unique_ptr<libkineto::CpuTraceBuffer> trace_;
};

class Profiler : public libkineto::IActivityProfiler {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::set<ActivityType>& availableActivities() const override { return types_; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& types, const libkineto::Config& /*config*/) override {
    // Asked for the CPU alone, PyTorch names the types of calls, but none of what devices do.
    const bool wanted = types.count(ActivityType::CONCURRENT_KERNEL) != 0;
    return wanted ? std::make_unique<Session>() : nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t /*start_ms*/, int64_t /*duration_ms*/,
      const std::set<ActivityType>& types, const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  std::string name_ = "openreg";
  std::set<ActivityType> types_{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
      ActivityType::GPU_USER_ANNOTATION, ActivityType::PRIVATEUSE1_RUNTIME};
};

REGISTER_PRIVATEUSE1_PROFILER(Profiler);

}  // namespace

void name_next_kernel(const char* name) {
  if (recording.load(std::memory_order_relaxed) != 0) {
    orActivityName(name);
  }
}

}  // namespace openreg
