// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "allocator_fixture.h"

// Note [The random test]
// Threads allocate, use, hand over and free at random, on several streams and devices. What must hold:
// - no two live blocks share a byte;
// - what a kernel wrote is there when a kernel queued later, on any stream that the allocator knows of, looks;
// - the statistics are what counting along gives, and what the snapshot adds up to;
// - at the end nothing is allocated, and the device gets all of its memory back.
// OPENREG_ALLOCATOR_OPERATIONS says how many operations (200 thousand by default; 10 million find more).

namespace openreg::test {

namespace {

constexpr int kStreams = 4;

int64_t operations() {
  const char* text = std::getenv("OPENREG_ALLOCATOR_OPERATIONS");
  return text == nullptr ? 200'000 : std::atoll(text);
}

int threads() {
  const char* text = std::getenv("OPENREG_ALLOCATOR_THREADS");
  return text == nullptr ? 8 : std::atoi(text);
}

struct Live {
  c10::DataPtr data;
  size_t size = 0;
  c10::DeviceIndex device = 0;
  uint64_t tag = 0;
};

/// What a kernel does: writes the tag at both ends of a block, or looks whether it is still there.
struct Task {
  char* data;
  size_t size;
  uint64_t tag;
  bool writes;
  std::atomic<int64_t>* wrong;

  static void run(void* argument) {
    const std::unique_ptr<Task> task(static_cast<Task*>(argument));
    const auto at = [&](size_t offset) {
      uint64_t value = task->tag;
      if (task->writes) {
        std::memcpy(task->data + offset, &value, sizeof(value));
      } else {
        std::memcpy(&value, task->data + offset, sizeof(value));
      }
      return value == task->tag;
    };
    if (!at(0) || !at(task->size - sizeof(uint64_t))) {
      ++*task->wrong;
    }
  }
};

class Model {
 public:
  void add(const Live& live) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto start = reinterpret_cast<uintptr_t>(live.data.get());
    const auto next = ranges_.lower_bound(start);
    overlaps_ += next != ranges_.end() && next->first < start + live.size;
    overlaps_ += next != ranges_.begin() && std::prev(next)->second > start;
    ranges_.emplace(start, start + live.size);
    ++allocations_[live.device];
    requested_[live.device] += static_cast<int64_t>(live.size);
  }
  void remove(const Live& live) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ranges_.erase(reinterpret_cast<uintptr_t>(live.data.get()));
  }
  void check_at_end() const {
    EXPECT_EQ(overlaps_, 0);
    EXPECT_TRUE(ranges_.empty());
    for (const auto& [device, count] : allocations_) {
      const DeviceStats now = stats(device);
      EXPECT_EQ(now.allocation[kAll].allocated, count);
      EXPECT_EQ(now.allocation[kAll].freed, count);
      EXPECT_EQ(now.allocation[kAll].current, 0);
      EXPECT_EQ(now.requested_bytes[kAll].allocated, requested_.at(device));
      EXPECT_EQ(now.requested_bytes[kAll].current, 0);
      EXPECT_EQ(now.allocated_bytes[kAll].current, 0);
      EXPECT_EQ(now.active_bytes[kAll].current, 0);
    }
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, uintptr_t> ranges_;
  std::map<c10::DeviceIndex, int64_t> allocations_;
  std::map<c10::DeviceIndex, int64_t> requested_;
  int overlaps_ = 0;
};

class Worker {
 public:
  Worker(int seed, Model& model, const std::vector<std::vector<OpenRegStream>>& streams, std::atomic<int64_t>& wrong)
      : random_(static_cast<unsigned>(seed)), model_(model), streams_(streams), wrong_(wrong) {}

  void run(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) {
      const uint64_t dice = random_() % 1000;
      if (dice < 520 || live_.empty()) {
        allocate();
      } else if (dice < 998) {
        release();
      } else if (dice == 998) {
        stats(static_cast<c10::DeviceIndex>(random_() % streams_.size()));
      } else if (random_() % 20 == 0) {
        getDeviceAllocator()->emptyCache();
      }
      if (live_.size() > 200) {
        release_half();
      }
    }
    while (!live_.empty()) {
      release();
    }
  }

 private:
  size_t random_size() {
    const uint64_t kind = random_() % 100;
    const auto up_to = [this](size_t most) {
      return 16 + random_() % most;
    };
    if (kind < 70) {
      return up_to(8192);
    }
    if (kind < 95) {
      return up_to(kMiB);
    }
    return up_to(kind < 99 ? 4 * kMiB : 24 * kMiB);
  }

  const OpenRegStream& random_stream(c10::DeviceIndex device) {
    const auto& streams = streams_[static_cast<size_t>(device)];
    return streams[random_() % streams.size()];
  }

  void launch(const OpenRegStream& stream, const Live& live, bool writes) {
    auto task = std::make_unique<Task>(Task{static_cast<char*>(live.data.get()), live.size, live.tag, writes, &wrong_});
    const OpenRegGuard guard(stream.device_index());
    OPENREG_CHECK(orLaunchKernel(stream.stream(), &Task::run, task.get()));
    static_cast<void>(task.release());
  }

  void allocate() {
    Live live;
    live.device = static_cast<c10::DeviceIndex>(random_() % streams_.size());
    live.size = random_size();
    live.tag = random_();
    set_device(live.device);
    const OpenRegStream stream = random_stream(live.device);
    setCurrentStream(stream);
    try {
      live.data = getDeviceAllocator()->allocate(live.size);
    } catch (const c10::OutOfMemoryError&) {
      release_half();
      return;
    }
    model_.add(live);
    if (random_() % 4 == 0) {
      launch(stream, live, true);
      if (random_() % 4 == 0) {
        use_elsewhere(stream, live);
      }
    }
    live_.push_back(std::move(live));
  }

  // A kernel of another stream looks at the block after the writer, perhaps when its owner is long gone.
  void use_elsewhere(const OpenRegStream& writer, const Live& live) {
    const OpenRegStream other = random_stream(live.device);
    orEvent_t event = nullptr;
    OPENREG_CHECK(orEventCreateWithFlags(&event, orEventDisableTiming));
    OPENREG_CHECK(orEventRecord(event, writer.stream()));
    OPENREG_CHECK(orStreamWaitEvent(other.stream(), event));
    OPENREG_CHECK(orEventDestroy(event));
    launch(other, live, false);
    getDeviceAllocator()->recordStream(live.data, other);
  }

  void release() {
    std::swap(live_[random_() % live_.size()], live_.back());
    Live live = std::move(live_.back());
    live_.pop_back();
    model_.remove(live);
    live.data.clear();
  }

  void release_half() {
    for (size_t i = live_.size() / 2; i > 0; --i) {
      release();
    }
  }

  std::mt19937_64 random_;
  Model& model_;
  const std::vector<std::vector<OpenRegStream>>& streams_;
  std::atomic<int64_t>& wrong_;
  std::vector<Live> live_;
};

class RandomTest : public AllocatorTest, public testing::WithParamInterface<const char*> {};

TEST_P(RandomTest, NothingOverlapsAndAllComesBack) {
  use_settings(GetParam());
  const c10::DeviceIndex devices = std::min<c10::DeviceIndex>(device_count(), 2);
  std::vector<size_t> free_before;
  std::vector<std::vector<OpenRegStream>> streams;
  for (c10::DeviceIndex device = 0; device < devices; ++device) {
    getDeviceAllocator()->resetAccumulatedStats(device);
    free_before.push_back(getDeviceAllocator()->getMemoryInfo(device).first);
    streams.push_back({getDefaultStream(device)});
    while (streams.back().size() < kStreams) {
      streams.back().push_back(getStreamFromPool(0, device));
    }
  }
  Model model;
  std::atomic<int64_t> wrong{0};
  const int count = threads();
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> workers;
    for (int i = 0; i < count; ++i) {
      workers.emplace_back([&, i] {
        Worker(round * 100 + i, model, streams, wrong).run(operations() / count / 2);
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    for (c10::DeviceIndex device = 0; device < devices; ++device) {
      device_synchronize(device);
      check_against_snapshot(device);
    }
  }
  EXPECT_EQ(wrong, 0) << "kernels found other contents than they should";
  getDeviceAllocator()->emptyCache();
  model.check_at_end();
  for (c10::DeviceIndex device = 0; device < devices; ++device) {
    EXPECT_EQ(stats(device).reserved_bytes[kAll].current, 0);
    EXPECT_EQ(stats(device).segment[kAll].current, 0);
    EXPECT_EQ(getDeviceAllocator()->getMemoryInfo(device).first, free_before[static_cast<size_t>(device)]);
  }
}

constexpr const char* kSettings[] = {
    "", "expandable_segments:True", "max_split_size_mb:21,garbage_collection_threshold:0.3", "roundup_power2_divisions:4"};
INSTANTIATE_TEST_SUITE_P(Settings, RandomTest, testing::ValuesIn(kSettings));

}  // namespace

}  // namespace openreg::test
