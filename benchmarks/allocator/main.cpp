// Measures the caching allocator beside malloc and beside the device's own allocation; prints JSON. Sides of a
// comparison take turns, and of each the best round counts: what others do on the machine mostly cancels out.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <c10/core/CPUAllocator.h>

#include "runtime/Allocator.h"
#include "runtime/Functions.h"
#include "runtime/caching/CachingAllocator.h"
#include "traces.h"

namespace {

using Clock = std::chrono::steady_clock;

auto* allocator() { return openreg::getCachingAllocator(); }

const char* separator() {
  static bool first = true;
  return std::exchange(first, false) ? "" : ",";
}

void* keep(void* ptr) {
  asm volatile("" : : "r"(ptr) : "memory");  // else the compiler drops malloc and free
  return ptr;
}

struct Cached {
  static void* allocate(size_t bytes) { return allocator()->raw_alloc(bytes); }
  static void free(void* ptr) { allocator()->raw_delete(ptr); }
};
struct Direct {
  static void* allocate(size_t bytes) {
    void* data = nullptr;
    if (orMalloc(&data, bytes) != orSuccess) {
      std::abort();
    }
    return data;
  }
  static void free(void* ptr) {
    if (orFree(ptr) != orSuccess) {
      std::abort();
    }
  }
};
struct Malloc {
  static void* allocate(size_t bytes) { return keep(std::malloc(bytes)); }
  static void free(void* ptr) { std::free(ptr); }
};

void data_pairs(c10::Allocator* from, size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    keep(from->allocate(bytes).get());  // the DataPtr frees at once
  }
}

template <typename Memory>
void pairs(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    Memory::free(Memory::allocate(bytes));
  }
}

/// The best time of each side, in nanoseconds.
template <size_t N>
std::array<double, N> compare(int rounds, const std::array<std::function<void()>, N>& sides) {
  std::array<double, N> best;
  best.fill(1e300);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < N; ++i) {
      const auto start = Clock::now();
      sides[i]();
      best[i] = std::min(best[i], std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
  }
  return best;
}

void measure_pairs(size_t bytes) {
  constexpr int kCount = 2000;
  constexpr int kDirectCount = 100;  // it is slow
  const auto best = compare<3>(200, {[=] { pairs<Malloc>(bytes, kCount); }, [=] { data_pairs(allocator(), bytes, kCount); },
                                     [=] { pairs<Direct>(bytes, kDirectCount); }});
  std::printf("%s\n\"pair of %zu bytes\": {\"malloc_ns\": %.2f, \"cached_ns\": %.2f, \"direct_ns\": %.2f}", separator(),
              bytes, best[0] / kCount, best[1] / kCount, best[2] / kDirectCount);
}

void on_threads(int threads, const std::function<void()>& work) {
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(work);
  }
  for (std::thread& thread : running) {
    thread.join();
  }
}

/// Beside PyTorch's own allocator of the CPU as well: whoever moves a program to the device had that before.
void measure_threads(int threads) {
  constexpr int kCount = 20000;
  constexpr size_t kBytes = 1024;
  const auto best = compare<3>(15, {[=] { on_threads(threads, [] { pairs<Malloc>(kBytes, kCount); }); },
                                    [=] { on_threads(threads, [] { data_pairs(c10::GetCPUAllocator(), kBytes, kCount); }); },
                                    [=] { on_threads(threads, [] { data_pairs(allocator(), kBytes, kCount); }); }});
  const double count = static_cast<double>(kCount) * threads;
  std::printf("%s\n\"pair of %zu bytes, %d threads\": {\"malloc_ns\": %.2f, \"cpu_ns\": %.2f, \"cached_ns\": %.2f}",
              separator(), kBytes, threads, best[0] / count, best[1] / count, best[2] / count);
}

template <typename Memory>
void replay(const Trace& trace) {
  std::vector<void*> live(trace.tensors);
  for (const Event& event : trace.events) {
    void*& tensor = live[event.tensor];
    if (event.bytes != 0) {
      tensor = Memory::allocate(event.bytes);
    } else {
      Memory::free(tensor);
      tensor = nullptr;
    }
  }
  for (void* tensor : live) {  // weights live to the end
    if (tensor != nullptr) {
      Memory::free(tensor);
    }
  }
}

void measure_replay(const char* name, const Trace& trace, const char* settings) {
  openreg::setAllocatorSettings(settings);
  allocator()->emptyCache();
  allocator()->resetPeakStats(0);
  replay<Cached>(trace);
  const auto stats = allocator()->getDeviceStats(0);
  const double allocated = static_cast<double>(stats.allocated_bytes[0].peak);
  const double reserved = static_cast<double>(stats.reserved_bytes[0].peak);
  const auto best = compare<2>(5, {[&] { replay<Malloc>(trace); }, [&] { replay<Cached>(trace); }});
  allocator()->emptyCache();  // the device has no room for both
  const auto direct = compare<1>(3, {[&] { replay<Direct>(trace); }});
  const double events = static_cast<double>(trace.events.size()) * 1e9;
  std::printf(
      "%s\n\"%s%s%s\": {\"malloc_ops\": %.0f, \"cached_ops\": %.0f, \"direct_ops\": %.0f, \"peak_allocated\": %.0f, "
      "\"peak_reserved\": %.0f}",
      separator(), name, *settings == '\0' ? "" : ", ", settings, events / best[0], events / best[1],
      events / direct[0], allocated, reserved);
}

}  // namespace

int main() {
  openreg::set_device(0);
  std::printf("{");
  for (const size_t bytes : {size_t{1} << 10, size_t{1} << 20}) {
    measure_pairs(bytes);
  }
  measure_threads(8);
  const Trace gpt = gpt_trace(20);
  const Trace resnet = resnet_trace(20);
  for (const char* settings : {"", "expandable_segments:True"}) {
    measure_replay("GPT", gpt, settings);
    measure_replay("ResNet", resnet, settings);
  }
  std::puts("\n}");
}
