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

HostMemory::HostMemory(c10::ArrayRef<Operand> operands) : operands_(operands) {
  std::vector<Span> all;
  for (const Operand& operand : operands) {
    if (operand.bytes != 0) {
      all.push_back({static_cast<char*>(operand.data), operand.bytes, operand.read, nullptr, {}});
    }
  }
  std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (Span& span : all) {
    if (!spans_.empty() && span.begin < spans_.back().begin + spans_.back().bytes) {
      Span& last = spans_.back();
      last.bytes = std::max(last.bytes, static_cast<size_t>(span.begin - last.begin) + span.bytes);
      last.read = last.read || span.read;
    } else {
      spans_.push_back(std::move(span));
    }
  }
  const OpenRegStream stream = getCurrentStream();
  for (Span& span : spans_) {
    span.memory = (span.is_pinned() ? getHostAllocator() : c10::GetCPUAllocator())->allocate(span.padding() + span.bytes);
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

const HostMemory::Span& HostMemory::span(const void* device) const {
  const auto* const byte = static_cast<const char*>(device);
  const auto after = std::upper_bound(
      spans_.begin(), spans_.end(), byte, [](const char* at, const Span& span) { return at < span.begin; });
  TORCH_INTERNAL_ASSERT(after != spans_.begin() && byte < (after - 1)->begin + (after - 1)->bytes,
      "openreg: a host function asks for memory that is not one of its operands");
  return *(after - 1);
}

char* HostMemory::at(const void* device) const {
  const Span& found = span(device);
  return found.host + (static_cast<const char*>(device) - found.begin);
}

void HostMemory::write_back() {
  const OpenRegStream stream = getCurrentStream();
  for (const Operand& operand : operands_) {
    if (!operand.written || operand.bytes == 0) {
      continue;
    }
    Rows rows;
    if (operand.layout == nullptr) {
      rows.width = operand.bytes;
    } else {
      rows = rows_of(operand.layout->sizes, {operand.layout->strides, operand.layout->strides}, operand.layout->itemsize);
    }
    copy_rows(rows, static_cast<char*>(operand.data), at(operand.data), orMemcpyHostToDevice, stream);
    to_device_ += rows.bytes();
    if (const Span& from = span(operand.data); from.is_pinned()) {  // not handed out again before the stream has read it
      getHostAllocator()->record_event(from.memory.get(), from.memory.get_context(), stream);
    }
  }
}

}  // namespace openreg::native
