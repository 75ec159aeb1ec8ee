// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/HostAllocator.h"

#include <openreg.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/Capturing.h"
#include "runtime/DeviceScope.h"
#include "runtime/Event.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

using Block = at::HostBlock<OpenRegStream>;

struct HostAllocatorImpl final : at::CachingHostAllocatorImpl<OpenRegStream, OpenRegEvent, Block> {
  // In a bad fork the block, its events and its streams belong to the parent. A deleter: nothing is thrown.
  void free(void* context) override {
    if (!isInBadFork()) {
      never_throw("pinned memory was freed", [&] { CachingHostAllocatorImpl::free(context); });
    }
  }

  void copy_data(void* destination, const void* source, size_t size) const override {
    std::memcpy(destination, source, size);
  }

 private:
  void allocate_host_memory(size_t size, void** data) override {
    initialize();
    refused_.retry();
    OPENREG_CHECK(orMallocHost(data, size));
  }

  // The block leaves the allocator's lists before, and those that leave with it come after: nothing is thrown.
  void free_block(Block* block) override {
    refused_.retry();
    refused_.free(block->ptr_);
  }

  // The block counts on one event per stream. Where none can be created the stream is waited for, and an event that was never
  // recorded has happened. Where that fails, too, the block is never used again: the stream may still write there.
  void record_stream(std::optional<std::vector<OpenRegEvent>>& events, OpenRegStream stream) override {
    if (stream_is_capturing(stream)) {  // nothing runs now; whoever replays keeps the memory
      events->emplace_back();
      return;
    }
    OpenRegEvent event;
    bool recorded = false;
    never_throw("a stream that used pinned memory got an event", [&] {
      event.record(stream, /*reported=*/false);
      recorded = true;
    });
    if (recorded || has_run_dry(stream)) {
      events->push_back(recorded ? std::move(event) : OpenRegEvent());
    }
  }

  // Asked while the allocator looks for memory, and for no one in particular: not known is not yet.
  bool query_event(OpenRegEvent& event) override {
    const bool happened = event.event() == nullptr || orEventQuery(event.event()) == orSuccess;
    if (!happened) {
      orGetLastError();
    }
    return happened;
  }

  static bool has_run_dry(const OpenRegStream& stream) {
    const DeviceScope scope(stream.device_index());
    const bool dry = scope.error() == orSuccess && orStreamSynchronize(stream.stream()) == orSuccess;
    if (!dry) {
      orGetLastError();
    }
    return dry;
  }

  // Pinned memory that the device did not take back; tried again before more is asked for or given back.
  class FailedFrees {
   public:
    void free(void* data) {
      const orError_t error = orFreeHost(data);
      OPENREG_WARN(error);
      if (error != orSuccess) {
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks_.push_back(data);
      }
    }
    void retry() {
      std::vector<void*> blocks;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks.swap(blocks_);
      }
      for (void* data : blocks) {
        free(data);
      }
    }

   private:
    std::mutex mutex_;
    std::vector<void*> blocks_;
  };
  FailedFrees refused_;

  // Asked only while a graph is captured.
  OpenRegStream get_current_stream() const override { return getCurrentStream(); }
  bool stream_is_capturing(OpenRegStream stream) const override {
    const DeviceScope scope(stream.device_index());
    return scope.error() == orSuccess && capture_of(stream.stream()) != 0;
  }
};

void deleteHostMemory(void* context);

using Allocator = at::CachingHostAllocatorInterface<HostAllocatorImpl, deleteHostMemory>;

Allocator& host_allocator() {
  static Allocator* const allocator = new Allocator();  // never destroyed: pinned tensors may outlive main()
  return *allocator;
}

void deleteHostMemory(void* context) {
  host_allocator().free(context);
}

const at::HostAllocatorRegistry<c10::DeviceType::PrivateUse1> host_allocator_registered(&host_allocator());

}  // namespace

at::HostAllocator* getHostAllocator() {
  return &host_allocator();
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
