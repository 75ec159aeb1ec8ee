// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Memory.h"

#include <openreg.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg::native {
namespace {

/// Calls fn(offset, bytes) for each gapless run of elements, from a dimension of `layout`, sorted, on.
template <class Fn>
void each_run(const Layout& layout, size_t dim, size_t run, size_t offset, const Fn& fn) {
  if (dim == layout.sizes.size()) {
    fn(offset, run);
    return;
  }
  for (int64_t i = 0; i < layout.sizes[dim]; ++i) {
    each_run(layout, dim + 1, run, offset + static_cast<size_t>(i * layout.strides[dim]), fn);
  }
}

/// The same elements, the slowest dimension first; those that continue an element, or are the same one, are taken out, and
/// the bytes of the run that they make are returned.
std::pair<Layout, size_t> runs_of(const Layout& layout) {
  c10::SmallVector<std::pair<int64_t, int64_t>, 5> dims;  // stride, size
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] != 1 && layout.strides[i] != 0) {
      dims.emplace_back(layout.strides[i], layout.sizes[i]);
    }
  }
  std::sort(dims.begin(), dims.end());
  size_t run = layout.itemsize;
  size_t first = 0;
  for (; first < dims.size() && std::cmp_equal(dims[first].first, run); ++first) {
    run *= static_cast<size_t>(dims[first].second);
  }
  Layout rest;
  for (size_t i = dims.size(); i > first; --i) {
    rest.strides.push_back(dims[i - 1].first);
    rest.sizes.push_back(dims[i - 1].second);
  }
  return {std::move(rest), run};
}

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
  copies_->spans.push_back({static_cast<char*>(operand.data), operand.bytes, nullptr, {}});
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
    } else {
      merged.push_back(std::move(span));
    }
  }
  copies_->spans = std::move(merged);
  if (!copies_->spans.empty()) {
    getCurrentStream().synchronize();
  }
  for (Span& span : copies_->spans) {
    span.memory = c10::GetCPUAllocator()->allocate(span.padding() + span.bytes);
    span.host = static_cast<char*>(span.memory.get()) + span.padding();
    OPENREG_CHECK_WAIT(kCurrentDevice, orMemcpy(span.host, span.begin, span.bytes, orMemcpyDeviceToHost));
    copies_->to_host += span.bytes;
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
  const auto move = [&](size_t offset, size_t bytes) {
    OPENREG_CHECK_WAIT(kCurrentDevice, orMemcpy(device + offset, host + offset, bytes, orMemcpyHostToDevice));
    copies_->to_device += bytes;
  };
  if (operand.layout == nullptr) {
    move(0, operand.bytes);
    return;
  }
  const auto [rest, run] = runs_of(*operand.layout);
  each_run(rest, 0, run, 0, move);
}

void HostMemory::copy_out() {
  for (const Written& written : copies_->written) {
    Operand operand = written.operand;
    operand.layout = operand.layout == nullptr ? nullptr : &written.layout;
    store(operand);
  }
}

}  // namespace openreg::native
