// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "move_bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace openreg::driver {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kPiece = std::size_t{512} << 10;  // none is smaller
constexpr std::size_t kPage = 4096;
constexpr std::size_t kPastCaches = std::size_t{8} << 20;
constexpr unsigned kMostHelpers = 3;  // few processors are enough for the bandwidth

struct Move {
  char* destination = nullptr;
  const char* source = nullptr;
  std::size_t size = 0;

  bool overlaps() const { return destination < source + size && source < destination + size; }
};

// Copies past the caches: so much would evict everything else, and each line would be read before it is overwritten.
// About twice as fast as memcpy().
void stream_bytes(char* destination, const char* source, std::size_t size) {
#ifdef __SSE2__
  constexpr std::size_t kLine = 64;
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(destination) % kLine) % kLine;
  if (size < head + kLine) {
    std::memcpy(destination, source, size);
    return;
  }
  std::memcpy(destination, source, head);
  std::size_t done = head;
  for (; done + kLine <= size; done += kLine) {
    const auto* const from = reinterpret_cast<const __m128i*>(source + done);
    auto* const to = reinterpret_cast<__m128i*>(destination + done);
    const __m128i parts[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)};
    for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, parts[i]);
  }
  _mm_sfence();
  std::memcpy(destination + done, source + done, size - done);
#else
  std::memcpy(destination, source, size);
#endif
}

class Helpers {
 public:
  static Helpers& get() {
    static auto& instance = *new Helpers;
    return instance;
  }

  // False if they are busy, or there are none.
  bool move(const Move& move) {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return false;
    start();
    if (count_ == 0) return false;
    const std::size_t parts = std::min<std::size_t>(count_ + 1, move.size / kPiece);
    std::unique_lock lock(mutex_);
    move_ = move;
    part_size_ = (move.size / parts + kPage - 1) / kPage * kPage;
    parts_ = left_ = (move.size + part_size_ - 1) / part_size_;
    next_part_ = 0;
    arrived_.notify_all();
    while (take_part(lock)) {
    }
    done_.wait(lock, [this] { return left_ == 0; });
    return true;
  }

 private:
  void start() {
    if (started_) return;
    started_ = true;
    const unsigned processors = std::thread::hardware_concurrency();
    const unsigned wanted = std::min(kMostHelpers, processors == 0 ? 0 : processors - 1);
    try {
      for (; count_ < wanted; ++count_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {  // as many as there are then
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      arrived_.wait(lock, [this] { return next_part_ < parts_; });
      take_part(lock);
    }
  }

  bool take_part(std::unique_lock<std::mutex>& lock) {
    if (next_part_ == parts_) return false;
    const std::size_t offset = next_part_++ * part_size_;
    const std::size_t size = std::min(part_size_, move_.size - offset);
    char* const destination = move_.destination + offset;
    const char* const source = move_.source + offset;
    const bool past_caches = move_.size >= kPastCaches;
    lock.unlock();
    if (past_caches) {
      stream_bytes(destination, source, size);
    } else {
      std::memcpy(destination, source, size);
    }
    lock.lock();
    if (--left_ == 0) done_.notify_one();
    return true;
  }

  std::mutex turn_;  // of those that have something to move; guards the next two
  bool started_ = false;
  unsigned count_ = 0;

  std::mutex mutex_;  // guards all that follows
  std::condition_variable arrived_;
  std::condition_variable done_;
  Move move_;
  std::size_t part_size_ = 0;
  std::size_t parts_ = 0;
  std::size_t next_part_ = 0;
  std::size_t left_ = 0;  // parts that are not moved yet
};

}  // namespace

void move_bytes(void* destination, const void* source, std::size_t size) {
  const Move move{static_cast<char*>(destination), static_cast<const char*>(source), size};
  // memmove, so that overlapping copies behave the same everywhere.
  if (size < kLarge || move.overlaps() || !Helpers::get().move(move)) std::memmove(destination, source, size);
}

}  // namespace openreg::driver
