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

void HostMemory::add(const Operand& operand) {
  if (operand.bytes == 0) {
    return;
  }
  spans_.push_back({static_cast<char*>(operand.data), operand.bytes, operand.read, nullptr, {}});
  if (operand.written) {
    written_.push_back({operand, operand.layout == nullptr ? Layout{} : *operand.layout});
  }
}

void HostMemory::fetch() {
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> merged;
  for (Span& span : spans_) {
    if (!merged.empty() && span.begin < merged.back().begin + merged.back().bytes) {
      Span& last = merged.back();
      last.bytes = std::max(last.bytes, static_cast<size_t>(span.begin - last.begin) + span.bytes);
      last.read = last.read || span.read;
    } else {
      merged.push_back(std::move(span));
    }
  }
  spans_ = std::move(merged);
  const OpenRegStream stream = getCurrentStream();
  for (Span& span : spans_) {
    span.memory = (is_pinned(span) ? getHostAllocator() : c10::GetCPUAllocator())->allocate(span.padding() + span.bytes);
    span.host = static_cast<char*>(span.memory.get()) + span.padding();
    if (span.read) {
      OPENREG_CHECK_LAUNCH(orMemcpyAsync(span.host, span.begin, span.bytes, orMemcpyDeviceToHost, stream.stream()));
      to_host_ += span.bytes;
    }
  }
  if (to_host_ != 0) {
    stream.synchronize();
  }
}

const HostMemory::Span* HostMemory::span(const void* device) const {
  const auto* const byte = static_cast<const char*>(device);
  auto after = std::upper_bound(
      spans_.begin(), spans_.end(), byte, [](const char* at, const Span& span) { return at < span.begin; });
  if (after == spans_.begin()) {
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
  TORCH_INTERNAL_ASSERT(found != nullptr, "openreg: a host function asks for memory that is not one of its operands");
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
  to_device_ += rows.bytes();
  if (const Span& from = *span(device); is_pinned(from)) {  // not handed out again before the stream has read it
    getHostAllocator()->record_event(from.memory.get(), from.memory.get_context(), stream);
  }
}

void HostMemory::write_back() {
  for (const WriteBack& written : written_) {
    Operand operand = written.operand;
    operand.layout = operand.layout == nullptr ? nullptr : &written.layout;
    store(operand);
  }
}

}  // namespace openreg::native
