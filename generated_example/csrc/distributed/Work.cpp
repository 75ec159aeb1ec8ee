// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/Work.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"

namespace openreg::distributed {

Work::Work(c10d::OpType type, const char* title, const std::vector<at::Tensor>& inputs, std::shared_ptr<Operation> operation,
    bool waits_on_host)
    : c10d::Work(operation->rank, type, title, inputs), operation_(std::move(operation)), waits_on_host_(waits_on_host) {
  const c10::Device device(c10::DeviceType::PrivateUse1, operation_->device);
  future_ = c10::make_intrusive<c10::ivalue::Future>(
      c10::ListType::create(c10::TensorType::get()), std::vector<c10::Device>{device});
}

void Work::end_here(const OpenRegStream& stream, std::vector<at::Tensor> outputs) {
  outputs_ = std::move(outputs);
  end_.record(stream);
  if (recordFunctionEndCallback_) {
    recordFunctionEndCallback_();
  }
  future_->markCompleted(outputs_);
}

void Work::check() const {
  if (const std::exception_ptr error = exception()) {
    std::rethrow_exception(error);
  }
}

bool Work::isCompleted() { return exception() != nullptr || (end_.is_created() && end_.query()); }

bool Work::isSuccess() const { return exception() == nullptr && end_.is_created() && end_.query(); }

std::exception_ptr Work::exception() const {
  return operation_->state() == Operation::State::kFailed ? operation_->error() : nullptr;
}

int Work::sourceRank() const {
  TORCH_CHECK(opType_ == c10d::OpType::RECV || opType_ == c10d::OpType::RECVANYSOURCE,
      "sourceRank() may only be called on work that comes from recv or recv-any-source");
  end_.synchronize();
  check();
  return operation_->source;
}

std::vector<at::Tensor> Work::result() { return outputs_; }

void Work::synchronize() {
  if (!end_.is_created()) {
    return;  // part of a batch that has not ended: nothing is queued, and who ends it waits
  }
  end_.block(getCurrentStream(operation_->device));
}

bool Work::wait(std::chrono::milliseconds timeout) {
  check();
  synchronize();
  if (!end_.is_created()) {
    return true;
  }
  if (waits_on_host_ || timeout != kNoTimeout) {
    wait_on_host(timeout);
  }
  return true;
}

void Work::wait_on_host(std::chrono::milliseconds timeout) {
  using std::chrono::microseconds;
  const auto start = std::chrono::steady_clock::now();
  microseconds pause(20);
  while (!isCompleted()) {
    TORCH_CHECK_WITH(DistBackendError, timeout == kNoTimeout || std::chrono::steady_clock::now() - start < timeout,
        operation_->describe(), ": wait() timed out after ", timeout.count(), " ms");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, microseconds(2000));
  }
  check();
}

void Work::abort() { TORCH_CHECK_NOT_IMPLEMENTED(false, "one operation can't be aborted: abort its group"); }

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() { return future_; }

uint64_t Work::getSequencenumber() const { return operation_->sequence; }

}  // namespace openreg::distributed
