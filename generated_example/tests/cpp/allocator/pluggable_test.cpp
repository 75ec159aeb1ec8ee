// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <stdexcept>

#include "allocator_fixture.h"
#include "runtime/PluggableAllocator.h"

// An allocator of the user's functions, used by itself; the Python tests put one in the place of the process's.

namespace openreg::test {

namespace {

class PluggableTest : public AllocatorTest {
 protected:
  static void* device_malloc(size_t size, int device, orStream_t) {
    const OpenRegGuard guard(static_cast<c10::DeviceIndex>(device));
    void* data = nullptr;
    const bool made = orMalloc(&data, size) == orSuccess;
    if (!made) {
      orGetLastError();
    }
    return made ? data : nullptr;
  }
  static void device_free(void* data, size_t, int, orStream_t) { OPENREG_CHECK(orFree(data)); }

  static std::string message_of(const std::function<void()>& fails) {
    try {
      fails();
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
    return "nothing was thrown";
  }
};

TEST_F(PluggableTest, FunctionsAreToldSizeDeviceAndStream) {
  struct Call {
    void* data;
    size_t size;
    int device;
    orStream_t stream;
    bool operator==(const Call&) const = default;
  };
  std::vector<Call> made;
  std::vector<Call> freed;
  PluggableAllocator allocator(
      [&](size_t size, int device, orStream_t stream) {
        void* const data = device_malloc(size, device, stream);
        made.push_back({data, size, device, stream});
        return data;
      },
      [&](void* data, size_t size, int device, orStream_t stream) {
        freed.push_back({data, size, device, stream});
        device_free(data, size, device, stream);
      });
  const OpenRegStream stream = getStreamFromPool();
  setCurrentStream(stream);
  allocator.allocate(1000).clear();
  setCurrentStream(getDefaultStream(0));
  void* const raw = allocator.raw_alloc(2000);
  allocator.raw_delete(raw);
  EXPECT_EQ(allocator.allocate(0).get(), nullptr);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].size, 1000U);
  EXPECT_EQ(made[0].stream, stream.stream());
  EXPECT_EQ(made[1], (Call{raw, 2000, 0, nullptr}));
  EXPECT_EQ(made, freed);
}

TEST_F(PluggableTest, KeepsStatistics) {
  PluggableAllocator allocator(device_malloc, device_free);
  c10::DataPtr first = allocator.allocate(1000);
  const c10::DataPtr second = allocator.allocate(3000);
  first.clear();
  const DeviceStats now = allocator.getDeviceStats(0);
  EXPECT_EQ(now.allocation[kAll].current, 1);
  EXPECT_EQ(now.allocation[kAll].allocated, 2);
  EXPECT_EQ(now.requested_bytes[kAll].current, 3000);
  EXPECT_EQ(now.requested_bytes[kAll].peak, 4000);
}

TEST_F(PluggableTest, OptionalFunctionsAreCalled) {
  PluggableAllocator allocator(device_malloc, device_free);
  int devices = 0;
  int emptied = 0;
  void* recorded = nullptr;
  allocator.set_init_fn([&](int count) { devices += count; });
  allocator.set_reset_fn([&] { ++emptied; });
  allocator.set_record_stream_fn([&](void* data, orStream_t) { recorded = data; });
  allocator.set_cache_info_fn([](int, size_t* largest) { *largest = 77; });
  const c10::DataPtr data = allocator.allocate(1000);
  allocator.allocate(1000).clear();
  EXPECT_EQ(devices, device_count()) << "once";
  allocator.emptyCache({0, 0});
  EXPECT_EQ(emptied, 1);
  allocator.recordStream(data, getStreamFromPool());
  EXPECT_EQ(recorded, data.get());
  size_t largest = 0;
  allocator.cacheInfo(0, &largest);
  EXPECT_EQ(largest, 77U);
}

TEST_F(PluggableTest, MissingFunctionsAreClearErrors) {
  PluggableAllocator allocator(device_malloc, device_free, "mine.so");
  size_t largest = 0;
  const std::string pools = message_of([&] { allocator.beginAllocateToPool(0, {0, 1}, [](auto) { return true; }); });
  EXPECT_NE(pools.find("mine.so"), std::string::npos) << pools;
  EXPECT_NE(pools.find("set_begin_allocate_to_pool"), std::string::npos) << pools;
  EXPECT_THROW(allocator.cacheInfo(0, &largest), c10::NotImplementedError);
  EXPECT_THROW(allocator.setMemoryFraction(0.5, 0), c10::NotImplementedError);
  EXPECT_THROW(PluggableAllocator(nullptr, device_free), c10::Error);
}

TEST_F(PluggableTest, WhatFunctionsDoWrongIsAnErrorThatNamesThem) {
  PluggableAllocator empty([](size_t, int, orStream_t) -> void* { return nullptr; }, device_free);
  EXPECT_THROW(empty.raw_alloc(1000), c10::OutOfMemoryError);
  EXPECT_EQ(empty.getDeviceStats(0).num_ooms, 1);
  PluggableAllocator throws(
      [](size_t, int, orStream_t) -> void* { throw std::runtime_error("no luck"); }, device_free, "mine.so");
  const std::string message = message_of([&] { throws.raw_alloc(1000); });
  for (const char* part : {"alloc function", "mine.so", "no luck"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  void* const data = device_malloc(1000, 0, nullptr);
  PluggableAllocator repeats([=](size_t, int, orStream_t) { return data; }, device_free);
  EXPECT_EQ(repeats.raw_alloc(1000), data);
  EXPECT_NE(message_of([&] { repeats.raw_alloc(1000); }).find("still in use"), std::string::npos);
  repeats.raw_delete(data);
  EXPECT_THROW(repeats.raw_delete(data), c10::Error) << "twice";
}

TEST_F(PluggableTest, LibrariesAndSymbolsThatAreNotThere) {
  const std::string library = message_of([] { loadPluggableAllocator("/nowhere/alloc.so", "a", "b"); });
  EXPECT_NE(library.find("/nowhere/alloc.so"), std::string::npos) << library;
  const std::string symbol = message_of([] { findSymbol("libc.so.6", "no_such_function_at_all"); });
  EXPECT_NE(symbol.find("no_such_function_at_all"), std::string::npos) << symbol;
}

TEST_F(PluggableTest, ManyThreads) {
  PluggableAllocator allocator(device_malloc, device_free);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const c10::DataPtr first = allocator.allocate(1000);
        allocator.allocate(2000).clear();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(allocator.getDeviceStats(0).allocation[kAll].allocated, 800);
  EXPECT_EQ(allocator.getDeviceStats(0).allocation[kAll].current, 0);
}

}  // namespace

}  // namespace openreg::test
