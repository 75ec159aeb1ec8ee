// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "isolation.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "memory_file.h"

namespace openreg::driver {
namespace {

constexpr std::chrono::milliseconds kPatience{1};
constexpr int kShare = 20;  // at most one part in so many of the time is spent on rights

}  // namespace

Isolation::Isolation(IsolationMode mode, void* base, std::size_t size, bool debug)
    : mode_(mode), base_(base), size_(size), debug_(debug) {
  if (mode_ == IsolationMode::kAuto || mode_ == IsolationMode::kPkey) {
    const bool asked_for = mode_ == IsolationMode::kPkey;
    if (try_pkey()) {
      mode_ = IsolationMode::kPkey;
    } else {
      mode_ = IsolationMode::kMprotect;
      if (asked_for) std::fprintf(stderr, "openreg: no protection keys here; isolating with mprotect\n");
    }
  }
  if (mode_ == IsolationMode::kMprotect) {
#ifdef MADV_HUGEPAGE
    // Fewer page table entries to rewrite at each change of rights. Only a hint.
    madvise(base_, size_, MADV_HUGEPAGE);
#endif
    map_window();
  } else if (mode_ == IsolationMode::kOff) {
    if (!debug_) protect(true);
    if (!debug_) return;  // with debugging there are faults to explain
  }
  install_fault_handler(base_, size_);
}

bool Isolation::try_pkey() {
#ifdef PKEY_DISABLE_ACCESS
  // The rights given here are the calling thread's: a host thread's, so none.
  key_ = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  if (key_ < 0) return false;
  if (pkey_mprotect(base_, size_, debug_ ? PROT_NONE : PROT_READ | PROT_WRITE, key_) == 0) return true;
  pkey_free(key_);
  key_ = -1;
#endif
  return false;
}

void Isolation::map_window() {
  const FilePlace place = place_of(base_);
  if (place.file < 0 || debug_) return;  // with debugging, each allocation has rights of its own
  void* window = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, place.file, 0);
  if (window != MAP_FAILED) window_ = static_cast<char*>(window);
}

void Isolation::enter_thread() const {
#ifdef PKEY_DISABLE_ACCESS
  if (mode_ == IsolationMode::kPkey) pkey_set(key_, 0);
#endif
}

Isolation::Visit::Visit(const Isolation& isolation) : isolation_(isolation) {
#ifdef PKEY_DISABLE_ACCESS
  if (isolation_.mode_ == IsolationMode::kPkey) rights_ = static_cast<unsigned>(pkey_get(isolation_.key_));
#endif
  isolation_.enter_thread();
}

Isolation::Visit::~Visit() {
#ifdef PKEY_DISABLE_ACCESS
  if (isolation_.mode_ == IsolationMode::kPkey) pkey_set(isolation_.key_, rights_);
#else
  static_cast<void>(rights_);
#endif
}

void* Isolation::Visit::at(const void* address) const {
  auto* const byte = static_cast<char*>(const_cast<void*>(address));
  auto* const base = static_cast<char*>(isolation_.base_);
  const bool inside = isolation_.window_ != nullptr && byte >= base && byte < base + isolation_.size_;
  return inside ? isolation_.window_ + (byte - base) : byte;
}

void Isolation::protect(bool open) const {
  if (open && debug_) {
    for (const auto& [pages, size] : live_) set_rights(pages, size, PROT_READ | PROT_WRITE);
    return;
  }
  if (mprotect(base_, size_, open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0) return;
  // The reservation was made with these rights before, so this happens only if the kernel ran out of memory.
  std::perror("openreg: cannot change the rights of device memory");
  std::abort();
}

void Isolation::set_rights(void* pages, std::size_t size, int rights) const {
#ifdef PKEY_DISABLE_ACCESS
  const bool done = mode_ == IsolationMode::kPkey ? pkey_mprotect(pages, size, rights, key_) == 0 : mprotect(pages, size, rights) == 0;
#else
  const bool done = mprotect(pages, size, rights) == 0;
#endif
  if (done) return;
  std::perror("openreg: cannot change the rights of device memory");
  std::abort();
}

void Isolation::set_live(void* pages, std::size_t size, bool live) {
  if (!debug_) return;
  std::lock_guard lock(mutex_);
  if (live) {
    live_.insert_or_assign(static_cast<char*>(pages), size);
  } else {
    char* begin = static_cast<char*>(pages);
    live_.erase(live_.lower_bound(begin), live_.lower_bound(begin + size));
  }
  const bool closed = mode_ == IsolationMode::kMprotect && !is_open();
  set_rights(pages, size, live && !closed ? PROT_READ | PROT_WRITE : PROT_NONE);
}

Isolation::Clock::duration Isolation::patience() const {
  return std::max<Clock::duration>(kPatience, kShare * cost_.load(std::memory_order_relaxed));
}

void Isolation::open() {
  if (mode_ != IsolationMode::kMprotect) return;
  std::lock_guard lock(mutex_);
  ++users_;
  if (is_open()) return;
  const auto start = Clock::now();
  protect(true);
  open_.store(true, std::memory_order_relaxed);
  opened_ = Clock::now();
  opening_ = opened_ - start;
}

void Isolation::release() {
  if (mode_ != IsolationMode::kMprotect) return;
  std::lock_guard lock(mutex_);
  if (--users_ == 0 && close_wanted_) close();
}

void Isolation::seal() {
  if (!is_open()) return;
  {
    std::lock_guard lock(mutex_);
    if (Clock::now() - opened_ < kShare * cost_.load(std::memory_order_relaxed)) return;
  }
  seal_idle();
}

void Isolation::seal_idle() {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  if (!is_open()) return;
  if (users_ > 0) {
    close_wanted_ = true;
  } else {
    close();
  }
}

bool Isolation::map_file(void* pages, std::size_t size, int file, std::size_t offset) {
  std::lock_guard lock(mutex_);  // nobody may change rights in between
  const bool closed = mode_ == IsolationMode::kMprotect && !is_open();
  const int rights = closed ? PROT_NONE : PROT_READ | PROT_WRITE;
  // Without a file: private pages, as the region has where memory can't be shared.
  const int flags = MAP_FIXED | MAP_NORESERVE | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  const auto place = file < 0 ? 0 : static_cast<off_t>(offset);
  if (mmap(pages, size, rights, flags, file, place) == MAP_FAILED) return false;
  if (window_ != nullptr) {
    void* const seen = window_ + (static_cast<char*>(pages) - static_cast<char*>(base_));
    if (mmap(seen, size, PROT_READ | PROT_WRITE, flags, file, place) == MAP_FAILED) return false;
  }
#ifdef PKEY_DISABLE_ACCESS
  if (mode_ == IsolationMode::kPkey) return pkey_mprotect(pages, size, rights, key_) == 0;
#endif
  return true;
}

void Isolation::close() {
  const auto start = Clock::now();
  protect(false);
  cost_.store(opening_ + (Clock::now() - start), std::memory_order_relaxed);
  open_.store(false, std::memory_order_relaxed);
  close_wanted_ = false;
}

}  // namespace openreg::driver
