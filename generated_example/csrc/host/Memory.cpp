// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Memory.h"

#include <openreg.h>

#include <algorithm>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/HostAllocator.h"
#include "runtime/Rows.h"
#include "runtime/Stream.h"

namespace openreg::native {
namespace {

/// Larger copies use pageable memory, for which the driver may wait: what is pinned stays with the process.
constexpr size_t kMostPinned = size_t{64} << 20;

bool is_pinned(const HostMemory::Span& span) { return span.padding() + span.bytes <= kMostPinned; }

}  // namespace

// Devices of one driver are alike in this; asking each time would cost more than a small kernel.
static int host_access() {
  static const int access = device_properties(current_device()).hostAccessible;
  return access;
}

bool kernels_reach_memory() { return host_access() != 0; }

bool host_reaches_memory() { return host_access() == 2; }

void HostMemory::add_copied(const Operand& operand) {
  if (operand.bytes == 0) {
    return;
  }
  copies_->spans.push_back({static_cast<char*>(operand.data), operand.bytes, operand.read, nullptr, {}});
  if (operand.written) {
    copies_->written.push_back({operand, operand.layout == nullptr ? Layout{} : *operand.layout});
  }
}

void HostMemory::copy_in() {
  std::sort(copies_->spans.begin(), copies_->spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> merged;
  for (Span& span : copies_->spans) {
    if (!merged.empty() && span.begin < merged.back().begin + merged.back().bytes) {
      Span& last = merged.back();
      last.bytes = std::max(last.bytes, static_cast<size_t>(span.begin - last.begin) + span.bytes);
      last.read = last.read || span.read;
    } else {
      merged.push_back(std::move(span));
    }
  }
  copies_->spans = std::move(merged);
  const OpenRegStream stream = getCurrentStream();
  for (Span& span : copies_->spans) {
    span.memory = (is_pinned(span) ? getHostAllocator() : c10::GetCPUAllocator())->allocate(span.padding() + span.bytes);
    span.host = static_cast<char*>(span.memory.get()) + span.padding();
    if (span.read) {
      OPENREG_CHECK_LAUNCH(orMemcpyAsync(span.host, span.begin, span.bytes, orMemcpyDeviceToHost, stream.stream()));
      copies_->to_host += span.bytes;
    }
  }
  if (copies_->to_host != 0) {
    stream.synchronize();
  }
}

const HostMemory::Span* HostMemory::span(const void* device) const {
  const auto* const byte = static_cast<const char*>(device);
  auto after = std::upper_bound(
      copies_->spans.begin(), copies_->spans.end(), byte, [](const char* at, const Span& span) { return at < span.begin; });
  if (after == copies_->spans.begin()) {
    return nullptr;
  }
  --after;
  return byte < after->begin + after->bytes ? &*after : nullptr;
}

void* HostMemory::copied(const void* device) const {
  if (device == nullptr) {
    return nullptr;
  }
  const Span* const found = span(device);
  TORCH_INTERNAL_ASSERT(found != nullptr, "openreg: a function of the host asks for memory that is no operand of it");
  return found->host + (static_cast<const char*>(device) - found->begin);
}

void HostMemory::store(const Operand& operand) {
  if (operand.bytes == 0) {
    return;
  }
  auto* const device = static_cast<char*>(operand.data);
  const auto* const host = static_cast<const char*>(copied(device));
  const OpenRegStream stream = getCurrentStream();
  Rows rows;
  if (operand.layout == nullptr) {
    rows.width = operand.bytes;
  } else {
    rows = rows_of(operand.layout->sizes, {operand.layout->strides, operand.layout->strides}, operand.layout->itemsize);
  }
  copy_rows(rows, device, host, orMemcpyHostToDevice, stream);
  copies_->to_device += rows.bytes();
  if (const Span& from = *span(device); is_pinned(from)) {  // not handed out again before the stream has read it
    getHostAllocator()->record_event(from.memory.get(), from.memory.get_context(), stream);
  }
}

void HostMemory::copy_out() {
  for (const Written& written : copies_->written) {
    Operand operand = written.operand;
    operand.layout = operand.layout == nullptr ? nullptr : &written.layout;
    store(operand);
  }
}

}  // namespace openreg::native
