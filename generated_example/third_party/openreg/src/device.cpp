// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "device.h"

#include <atomic>
#include <new>
#include <utility>

#include "config.h"
#include "memory_debug.h"
#include "memory_file.h"
#include "process.h"

namespace openreg::driver {
namespace {

std::atomic<Devices*> used_devices{nullptr};

}  // namespace

Device::Device(int number, char* memory, std::size_t range, std::size_t capacity, Isolation& isolation)
    : number_(number),
      isolation_(isolation),
      heap_(memory, range, capacity, config().memory_debug),
      default_stream_(std::make_shared<Stream>(number, 0, Stream::kLeastPriority, isolation)) {
  streams_.push_back(default_stream_);
}

void* Device::allocate(std::size_t size) {
  void* pointer = heap_.allocate(size);
  if (pointer == nullptr) return nullptr;
  note_live(pointer, size);
  return pointer;
}

void Device::note_live(void* pointer, std::size_t size) {
  MemoryDebug* debug = MemoryDebug::get();
  if (debug == nullptr) return;
  const std::size_t pages = (size + Heap::kPage - 1) / Heap::kPage * Heap::kPage;
  debug->allocated(static_cast<char*>(pointer), size, pages, number_);
  isolation_.set_live(pointer, pages, true);
}

bool Device::retire(const void* pointer, Allocation* allocation) {
  if (!heap_.retire(pointer, allocation)) return false;
  if (MemoryDebug* debug = MemoryDebug::get()) debug->freed(pointer);
  return true;
}

void Device::release(const Allocation& allocation) {
  isolation_.set_live(allocation.base, allocation.pages * Heap::kPage, false);
  heap_.release(allocation);
}

void* Device::adopt(std::size_t size, int file, std::size_t offset) {
  void* pointer = heap_.adopt(size);
  if (pointer == nullptr) return nullptr;
  if (!isolation_.map_file(pointer, size, file, offset)) {
    disown(pointer);
    return nullptr;
  }
  note_live(pointer, size);
  return pointer;
}

bool Device::disown(void* pointer) {
  Allocation allocation{};
  if (!heap_.retire_foreign(pointer, &allocation)) return false;
  if (MemoryDebug* debug = MemoryDebug::get()) debug->freed(pointer);
  const FilePlace place = place_of(pointer);
  isolation_.map_file(pointer, allocation.pages * Heap::kPage, place.file, place.offset);
  isolation_.set_live(pointer, allocation.pages * Heap::kPage, false);
  heap_.release(allocation);
  return true;
}

std::shared_ptr<Stream> Device::make_stream(int priority) {
  std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>(number_, ++made_, priority, isolation_);
  std::erase_if(streams_, [](const std::weak_ptr<Stream>& old) { return old.expired(); });
  streams_.push_back(stream);
  return stream;
}

std::vector<std::shared_ptr<Stream>> Device::streams() {
  std::vector<std::shared_ptr<Stream>> alive;
  std::lock_guard lock(mutex_);
  for (const std::weak_ptr<Stream>& stream : streams_) {
    if (auto shared = stream.lock()) alive.push_back(std::move(shared));
  }
  return alive;
}

void Device::wait() {
  std::vector<Allocation> freed;
  {
    // Taken first: what is freed from here on may still be in use by what is queued from here on.
    std::lock_guard lock(mutex_);
    freed.swap(to_release_);
  }
  for (const auto& stream : streams()) stream->wait();
  for (const Allocation& allocation : freed) release(allocation);
}

bool Device::take_failure() {
  bool failed = false;
  for (const auto& stream : streams()) failed = stream->take_failure() || failed;
  return failed;
}

void Device::drain(Stream::Clock::time_point deadline) {
  for (const auto& stream : streams()) stream->wait_until(deadline);
}

void Device::release_later(const Allocation& allocation) {
  std::lock_guard lock(mutex_);
  to_release_.push_back(allocation);
}

Devices::Devices() {
  const auto count = static_cast<std::size_t>(config().device_count);
  if (count == 0) return;
  const std::size_t page = Heap::kPage;
  const std::size_t capacity = (config().memory + page - 1) / page * page;
  // More addresses than memory, against fragmentation and to be reserved; as many as the system lets us have.
  for (std::size_t times = 16; times > 0 && base_ == nullptr; times /= 2) {
    range_ = times * capacity;
    base_ = reserve_memory(count * range_);
  }
  if (base_ == nullptr) throw std::bad_alloc();
  isolation_ = std::make_unique<Isolation>(config().isolation, base_, count * range_, config().memory_debug);
  for (std::size_t i = 0; i < count; ++i) {
    char* memory = base_ + i * range_;
    devices_.push_back(std::make_unique<Device>(static_cast<int>(i), memory, range_, capacity, *isolation_));
  }
}

Devices& Devices::get() {
  static Devices& instance = [&]() -> Devices& {
    auto* devices = new Devices;
    note_use();
    used_devices.store(devices, std::memory_order_release);
    return *devices;
  }();
  return instance;
}

Devices* Devices::if_used() noexcept { return used_devices.load(std::memory_order_acquire); }

int Devices::device_of(const void* pointer) const noexcept {
  const auto* address = static_cast<const char*>(pointer);
  if (address < base_ || address >= base_ + devices_.size() * range_) return -1;
  return static_cast<int>(static_cast<std::size_t>(address - base_) / range_);
}

Heap::Lookup Devices::try_find(const void* pointer, Allocation* allocation) const noexcept {
  const int device = device_of(pointer);
  if (device < 0) return Heap::Lookup::kNo;
  return devices_[static_cast<std::size_t>(device)]->heap().try_find(pointer, allocation);
}

void Devices::wait() {
  for (const auto& device : devices_) device->wait();
}

void Devices::drain(Stream::Clock::time_point deadline) {
  for (const auto& device : devices_) device->drain(deadline);
}

}  // namespace openreg::driver
