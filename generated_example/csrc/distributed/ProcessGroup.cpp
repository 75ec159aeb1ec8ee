// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/ProcessGroup.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <ATen/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include "distributed/Call.h"
#include "runtime/Capturing.h"
#include "runtime/Functions.h"

namespace openreg::distributed {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "") != 0 && std::strcmp(value, "0") != 0;
}

bool sends_or_receives(c10d::OpType type) { return c10d::isP2POp(type); }

std::string text_of(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) {
    return "";
  }
  const at::Tensor& first = tensors.front();
  const std::string rest = tensors.size() > 1 ? c10::str(" and ", tensors.size() - 1, " more") : "";
  return c10::str(first.scalar_type(), first.sizes(), rest);
}

}  // namespace

at::Tensor Plan::input(const at::Tensor& tensor) {
  held_.push_back(tensor.contiguous());
  return held_.back();
}

at::Tensor Plan::output(const at::Tensor& tensor, bool read) {
  if (tensor.is_contiguous()) {
    return tensor;
  }
  at::Tensor dense = read ? tensor.contiguous() : at::empty(tensor.sizes(), tensor.options());
  copies_.emplace_back(std::vector<at::Tensor>{tensor}, dense);
  return dense;
}

at::Tensor Plan::input(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) {
    flat.push_back(tensor.reshape(-1));
  }
  held_.push_back(flat.size() == 1 ? flat.front().contiguous() : at::cat(flat));
  return held_.back();
}

at::Tensor Plan::output(const std::vector<at::Tensor>& tensors) {
  if (tensors.size() == 1) {
    return output(tensors.front());
  }
  int64_t count = 0;
  for (const at::Tensor& tensor : tensors) {
    count += tensor.numel();
  }
  at::Tensor flat = at::empty({count}, tensors.front().options());
  copies_.emplace_back(tensors, flat);
  return flat;
}

Transfer& Plan::move(Move move, const at::Tensor& in, const at::Tensor& out) {
  Transfer transfer{.move = move};
  if (in.defined()) {
    transfer.in = in.const_data_ptr();
    transfer.in_bytes = in.nbytes();
    transfer.in_storage = in.storage().getWeakStorageImpl();
    transfer.dtype = in.scalar_type();
  }
  if (out.defined()) {
    transfer.out = out.mutable_data_ptr();
    transfer.out_bytes = out.nbytes();
    transfer.out_storage = out.storage().getWeakStorageImpl();
  }
  transfers.push_back(std::move(transfer));
  return transfers.back();
}

void Plan::reduce(Move move, const at::Tensor& in, const at::Tensor& out, Reduction reduction, int root) {
  Transfer& transfer = this->move(move, in, out);
  transfer.reduction = reduction;
  transfer.peer = root;
}

void Plan::copy_back() {
  for (const auto& [tensors, flat] : copies_) {
    int64_t at = 0;
    for (const at::Tensor& tensor : tensors) {
      tensor.copy_(flat.reshape(-1).narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
  }
}

// A reference count is nothing to copy, and what PyTorch declares would warn.
GroupOptions::GroupOptions(const GroupOptions& other) : GroupOptions(other.timeout) {
  group_name = other.group_name;
  group_desc = other.group_desc;
  global_ranks_in_group = other.global_ranks_in_group;
}

ProcessGroupOpenReg::ProcessGroupOpenReg(
    std::unique_ptr<Transport> transport, TransportOptions options, c10::intrusive_ptr<GroupOptions> named)
    : Backend(options.rank, options.size), options_(std::move(options)), named_(std::move(named)), transport_(std::move(transport)), blocking_wait_(is_set("OPENREGCCL_BLOCKING_WAIT")) {
  options_.gloo.reset();  // the transport's
  init();
}

ProcessGroupOpenReg::~ProcessGroupOpenReg() = default;

void ProcessGroupOpenReg::setTimeout(std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_.timeout = named_->timeout = timeout;
}

void ProcessGroupOpenReg::eagerConnectSingleDevice(at::Device device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_device_ = device.index();
  streams_.get(device.index(), CommStreams::kCollectives);
}

uint64_t ProcessGroupOpenReg::getSequenceNumberForGroup() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return collectives_;
}

c10d::ErrorType ProcessGroupOpenReg::getError() {
  return options_.journal->error();
}

void ProcessGroupOpenReg::abort() {
  options_.journal->fail(c10::str("rank ", getRank(), " of group '", options_.journal->group, "' aborted it"));
  transport_->abort();
}

void ProcessGroupOpenReg::shutdown() {}

c10::intrusive_ptr<c10d::Backend> ProcessGroupOpenReg::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks, const c10::intrusive_ptr<Options>& options) {
  const auto place = std::find(ranks.begin(), ranks.end(), getRank());
  auto journal = std::make_shared<Journal>();
  std::unique_ptr<Transport> transport = transport_->split(store, ranks, journal);
  if (place == ranks.end() || transport == nullptr) {
    return nullptr;
  }
  TransportOptions part = options_;
  part.store = store;
  part.rank = static_cast<int>(place - ranks.begin());
  part.size = static_cast<int>(ranks.size());
  part.journal = journal;
  auto named = c10::make_intrusive<GroupOptions>(options ? options->timeout : options_.timeout);
  if (options) {
    named->group_name = options->group_name;
    named->group_desc = options->group_desc;
    named->global_ranks_in_group = options->global_ranks_in_group;
  }
  part.timeout = named->timeout;
  journal->group = named->group_name;
  journal->rank = part.rank;
  journal->size = part.size;
  return c10::make_intrusive<ProcessGroupOpenReg>(std::move(transport), std::move(part), std::move(named));
}

void ProcessGroupOpenReg::startCoalescing() {
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(batch_ == nullptr, "a batch of operations has begun already");
  batch_ = std::make_unique<Batch>();
}

ProcessGroupOpenReg::WorkPtr ProcessGroupOpenReg::endCoalescing() {
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(batch_ != nullptr, "no batch of operations has begun");
  const std::unique_ptr<Batch> batch = std::move(batch_);
  return batch->calls.empty() ? nullptr : queue(*batch);
}

ProcessGroupOpenReg::WorkPtr ProcessGroupOpenReg::run(Call call, std::function<void(Plan&)> prepare) {
  call.prepare = std::move(prepare);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (batch_ != nullptr) {
    add(*batch_, std::move(call));
    return batch_->work;
  }
  Batch batch;
  add(batch, std::move(call));
  return queue(batch);
}

void ProcessGroupOpenReg::add(Batch& batch, Call call) {
  const Journal& journal = *options_.journal;
  TORCH_CHECK_WITH(DistBackendError, !journal.failed(), call.title, ": the group can't go on, since ", journal.failure(),
      ". Destroy it and make another one.");
  std::optional<c10::DeviceIndex> device;
  for (const Tensors* tensors : {&call.inputs, &call.outputs}) {
    for (const at::Tensor& tensor : *tensors) {
      TORCH_CHECK(tensor.is_privateuseone(), call.title, " takes tensors on openreg, not on ", tensor.device(),
          ". A group for both has backend=\"cpu:gloo,openreg:openregccl\".");
      TORCH_CHECK(tensor.layout() == at::kStrided, call.title, " takes strided tensors, not ", tensor.layout());
      TORCH_CHECK(!device || *device == tensor.device().index(), call.title, " takes tensors of one device");
      device = tensor.device().index();
    }
  }
  if (!device) {
    device = used_device_ ? *used_device_ : current_device();
  }
  {
    const c10::DeviceGuard guard(c10::Device(c10::DeviceType::PrivateUse1, *device));
    check_not_capturing(call.title);
  }
  if (batch.operation == nullptr) {
    const bool single = sends_or_receives(call.type);
    auto operation = batch.operation = std::make_shared<Operation>();
    operation->name = std::strchr(call.title, ':') + 1;
    operation->what = text_of(call.inputs.empty() ? call.outputs : call.inputs);
    operation->group = journal.group;
    operation->sequence = single ? ++messages_ : ++collectives_;
    operation->rank = getRank();
    operation->size = getSize();
    operation->device = *device;
    operation->timeout = call.timeout.count() < 0 ? options_.timeout : call.timeout;
    batch.work = c10::make_intrusive<Work>(
        call.type, call.title, call.inputs, operation, call.waits_on_host || blocking_wait_);
  }
  TORCH_CHECK(batch.operation->device == *device, call.title, ": all tensors of a batch are of one device");
  used_device_ = device;
  const OpenRegStream current = getCurrentStream(*device);
  if (std::find(batch.behind.begin(), batch.behind.end(), current) == batch.behind.end()) {
    batch.behind.push_back(current);
  }
  batch.calls.push_back(std::move(call));
}

ProcessGroupOpenReg::WorkPtr ProcessGroupOpenReg::queue(Batch& batch) {
  int use = batch.calls.front().stream;
  if (batch.calls.size() > 1) {
    const bool messages = std::all_of(batch.calls.begin(), batch.calls.end(), [](const Call& call) { return sends_or_receives(call.type); });
    use = messages ? CommStreams::kBatches : CommStreams::kCollectives;
    batch.operation->what += c10::str(" in a batch of ", batch.calls.size());
  }
  const OpenRegStream stream = streams_.get(batch.operation->device, use);
  for (const OpenRegStream& before : batch.behind) {
    OpenRegEvent event;
    event.record(before);
    event.block(stream);
  }
  // Before anything is queued there: whatever throws below, the caller may free its tensors while the stream uses them.
  Tensors outputs;
  for (const Call& call : batch.calls) {
    for (const Tensors* tensors : {&call.inputs, &call.outputs}) {
      for (const at::Tensor& tensor : *tensors) {
        tensor.record_stream(stream.unwrap());
      }
    }
    outputs.insert(outputs.end(), call.outputs.begin(), call.outputs.end());
  }
  const c10::StreamGuard guard(stream.unwrap());
  Plan plan;
  for (const Call& call : batch.calls) {
    call.prepare(plan);
  }
  options_.journal->add(batch.operation);
  transport_->run(std::move(plan.transfers), stream, batch.operation);
  plan.copy_back();
  batch.work->end_here(stream, std::move(outputs));
  return batch.work;
}

c10::intrusive_ptr<ProcessGroupOpenReg> new_process_group(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
    std::chrono::milliseconds timeout, c10::intrusive_ptr<c10d::Backend> gloo, const std::string& name,
    const std::vector<uint64_t>& global_ranks) {
  auto journal = std::make_shared<Journal>();
  journal->group = name;
  journal->rank = rank;
  journal->size = size;
  TransportOptions options{store, rank, size, timeout, std::move(gloo), journal};
  auto named = c10::make_intrusive<GroupOptions>(timeout);
  named->group_name = name;
  named->global_ranks_in_group = global_ranks;
  auto transport = new_transport(options);
  return c10::make_intrusive<ProcessGroupOpenReg>(std::move(transport), std::move(options), std::move(named));
}

}  // namespace openreg::distributed
