// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

// Note [Who still uses a shared storage]
// A process that shares storages has an unnamed file (memfd) with a counter per storage, a slot. It counts pending
// messages: sent and not yet opened. A process that opened one holds a lock on the slot's byte of the file instead, which
// the system releases when that process ends, however it ends. A slot is in use while its counter is above 0 or its byte
// is locked, so a killed consumer releases its storages. A lost message can't be detected: it
// keeps its storage until the owner ends.
//
// Locks belong to an open file (F_OFD_SETLK), not to a process, so the owner sees others' locks through its own.

namespace openreg::ipc {

constexpr int kSlots = 1 << 16;

struct Counter {
  std::atomic<int64_t> in_flight;
  std::atomic<uint64_t> sends;  // ever; shows the owner messages that came and went while it looked
};
static_assert(std::atomic<int64_t>::is_always_lock_free, "counters are shared between processes");

/// Where a process's counters are. The number of a process is one of its namespace, and other processes in other namespaces,
/// or on other machines, have the same: `key`, drawn at random, says whose counters these are.
struct Address {
  int32_t process;
  int32_t file;
  uint64_t inode;
  uint64_t key;

  bool operator==(const Address&) const = default;
};

/// A mapped file of counters. Owns the descriptor and the mapping.
class CounterFile {
 public:
  /// Takes over `file`. Throws c10::Error if it can't be mapped.
  explicit CounterFile(int file);
  ~CounterFile();
  CounterFile(const CounterFile&) = delete;
  CounterFile& operator=(const CounterFile&) = delete;

  int file() const { return file_; }
  Counter& operator[](int slot) { return counters_[slot]; }

  /// A message for the slot was made, or was opened.
  void sent(int slot);
  void received(int slot);

 private:
  int file_;
  Counter* counters_;
};

/// The counters of this process. Thread-safe.
class OwnCounters {
 public:
  static OwnCounters& get();

  Address address() const { return address_; }
  /// Throws c10::Error if all slots are taken.
  int take_slot();
  void give_slot(int slot);
  void sent(int slot) { file_->sent(slot); }
  void received(int slot) { file_->received(slot); }
  bool in_use(int slot);

 private:
  OwnCounters();

  std::unique_ptr<CounterFile> file_;
  Address address_{};
  std::mutex mutex_;
  std::vector<int> free_;
};

/// The counters of another process. Thread-safe.
class ForeignCounters {
 public:
  /// Throws c10::Error if that process is gone.
  static std::shared_ptr<ForeignCounters> open(const Address& address);

  explicit ForeignCounters(int file) : file_(file) {}

  /// Holds the slot's byte until as many calls of unlock(). Throws c10::Error if that fails.
  void lock(int slot);
  void unlock(int slot) noexcept;
  void sent(int slot) { file_.sent(slot); }
  void received(int slot) { file_.received(slot); }

 private:
  CounterFile file_;
  std::mutex mutex_;
  std::map<int, int> held_;
};

}  // namespace openreg::ipc
