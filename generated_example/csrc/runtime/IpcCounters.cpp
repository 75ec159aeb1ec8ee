// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/IpcCounters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include <c10/util/Exception.h>

namespace openreg::ipc {

namespace {

constexpr size_t kFileSize = kSlots * sizeof(Counter);

uint64_t inode_of(int file) {
  struct stat status = {};
  TORCH_CHECK(fstat(file, &status) == 0, "openreg: fstat failed: ", std::strerror(errno));
  return status.st_ino;
}

struct flock byte_of(int slot, short type) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = slot;
  range.l_len = 1;
  return range;
}

}  // namespace

CounterFile::CounterFile(int file) : file_(file) {
  void* const memory = mmap(nullptr, kFileSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close(file);
    TORCH_CHECK(false, "openreg: cannot map the counters of shared storages: ", std::strerror(error));
  }
  counters_ = static_cast<Counter*>(memory);
}

CounterFile::~CounterFile() {
  munmap(counters_, kFileSize);
  close(file_);
}

void CounterFile::sent(int slot) {
  // Counted before others can see that it was: see OwnCounters::in_use().
  counters_[slot].in_flight.fetch_add(1);
  counters_[slot].sends.fetch_add(1);
}

void CounterFile::received(int slot) {
  counters_[slot].in_flight.fetch_sub(1);
}

OwnCounters& OwnCounters::get() {
  static auto* const counters = new OwnCounters();  // others may look at them until this process ends
  return *counters;
}

OwnCounters::OwnCounters() {
  const int file = memfd_create("openreg-shared-storages", MFD_CLOEXEC);
  TORCH_CHECK(file >= 0, "openreg: cannot share storages: memfd_create failed: ", std::strerror(errno));
  if (ftruncate(file, kFileSize) != 0) {
    close(file);
    TORCH_CHECK(false, "openreg: cannot share storages: ftruncate failed: ", std::strerror(errno));
  }
  file_ = std::make_unique<CounterFile>(file);
  std::random_device random;
  address_ = {getpid(), file, inode_of(file), uint64_t{random()} << 32 | random()};
  for (int slot = kSlots - 1; slot >= 0; --slot) {
    free_.push_back(slot);
  }
}

int OwnCounters::take_slot() {
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(!free_.empty(), "openreg: ", kSlots, " storages are shared with other processes; no more can be");
  const int slot = free_.back();
  free_.pop_back();
  return slot;
}

void OwnCounters::give_slot(int slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(slot);
}

// Who opens a message locks, then counts down; who passes one on counts up, then may unlock. So a slot whose counter was
// 0 and whose byte was free is in use only if a message was passed on in between, which `sends` shows.
bool OwnCounters::in_use(int slot) {
  const uint64_t sends = (*file_)[slot].sends.load();
  if ((*file_)[slot].in_flight.load() > 0) {
    return true;
  }
  struct flock range = byte_of(slot, F_WRLCK);
  if (fcntl(file_->file(), F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK) {
    return true;
  }
  return (*file_)[slot].sends.load() != sends;
}

std::shared_ptr<ForeignCounters> ForeignCounters::open(const Address& address) {
  static auto* const mutex = new std::mutex();
  static auto* const opened = new std::map<uint64_t, std::weak_ptr<ForeignCounters>>();
  const std::lock_guard<std::mutex> lock(*mutex);
  if (auto found = (*opened)[address.key].lock()) {
    return found;
  }
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool theirs = file >= 0 && inode_of(file) == address.inode;
  if (file >= 0 && !theirs) {
    close(file);
  }
  TORCH_CHECK(
      theirs, "openreg: process ", address.process, ", which shared a storage, has ended, or belongs to another user or PID namespace",
      "; it must live until the storage was received");
  auto counters = std::make_shared<ForeignCounters>(file);
  (*opened)[address.key] = counters;
  return counters;
}

void ForeignCounters::lock(int slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (held_[slot]++ > 0) {
    return;
  }
  struct flock range = byte_of(slot, F_RDLCK);
  if (fcntl(file_.file(), F_OFD_SETLK, &range) != 0) {
    const int error = errno;
    held_.erase(slot);
    TORCH_CHECK(false, "openreg: cannot lock a shared storage: ", std::strerror(error));
  }
}

void ForeignCounters::unlock(int slot) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = held_.find(slot);
  if (found == held_.end() || --found->second > 0) {
    return;
  }
  held_.erase(found);
  struct flock range = byte_of(slot, F_UNLCK);
  fcntl(file_.file(), F_OFD_SETLK, &range);
}

}  // namespace openreg::ipc
