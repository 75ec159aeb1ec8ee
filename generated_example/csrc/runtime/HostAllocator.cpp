// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/HostAllocator.h"

#include <openreg.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/Event.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

using Block = at::HostBlock<OpenRegStream>;

struct HostAllocatorImpl final : at::CachingHostAllocatorImpl<OpenRegStream, OpenRegEvent, Block> {
  // In a bad fork the block, its events and its streams belong to the parent.
  void free(void* context) override {
    if (!isInBadFork()) {
      CachingHostAllocatorImpl::free(context);
    }
  }

  void copy_data(void* destination, const void* source, size_t size) const override {
    std::memcpy(destination, source, size);
  }

 private:
  void allocate_host_memory(size_t size, void** data) override {
    initialize();
    OPENREG_CHECK(orMallocHost(data, size));
  }

  void free_block(Block* block) override { OPENREG_CHECK(orFreeHost(block->ptr_)); }

  void record_stream(std::optional<std::vector<OpenRegEvent>>& events, OpenRegStream stream) override {
    OpenRegEvent event;
    event.record(stream);
    events->push_back(std::move(event));
  }

  bool query_event(OpenRegEvent& event) override { return event.query(); }

  // Asked only while a graph is captured.
  OpenRegStream get_current_stream() const override { return getCurrentStream(); }
  bool stream_is_capturing(OpenRegStream) const override { return false; }
};

void deleteHostMemory(void* context);

using Allocator = at::CachingHostAllocatorInterface<HostAllocatorImpl, deleteHostMemory>;

Allocator& instance() {
  static Allocator* const allocator = new Allocator();  // never destroyed: pinned tensors may outlive main()
  return *allocator;
}

void deleteHostMemory(void* context) {
  instance().free(context);
}

const at::HostAllocatorRegistry<c10::DeviceType::PrivateUse1> registered(&instance());

}  // namespace

at::HostAllocator* getHostAllocator() {
  return &instance();
}

bool isPinnedPtr(const void* data) noexcept {
  orPointerAttributes attributes{};
  if (orPointerGetAttributes(&attributes, data) != orSuccess) {
    orGetLastError();
    return false;
  }
  return attributes.type == orMemoryTypeHost;
}

}  // namespace openreg
