// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <sys/mman.h>

#include <iterator>

#include "device.h"
#include "heap.h"
#include "isolation.h"
#include "memory_file.h"

namespace openreg::driver {
namespace {

// The range of `ranges` (bytes by start) that holds [start, start + size), or the end.
std::map<char*, std::size_t>::iterator enclosing(std::map<char*, std::size_t>& ranges, char* start, std::size_t size) {
  const auto next = ranges.upper_bound(start);
  if (next == ranges.begin()) return ranges.end();
  const auto range = std::prev(next);
  return start + size <= range->first + range->second ? range : ranges.end();
}

}  // namespace

void* Heap::reserve(std::size_t size) {
  const std::size_t pages = size / kPage;
  const std::size_t slack = kGranularity / kPage - 1;
  std::lock_guard lock(mutex_);
  const auto fit = free_by_size_.lower_bound({pages + slack, nullptr});
  if (fit == free_by_size_.end()) return nullptr;
  const auto [run_pages, run] = *fit;
  const std::size_t before = (kGranularity - reinterpret_cast<std::size_t>(run) % kGranularity) % kGranularity / kPage;
  char* base = run + before * kPage;
  reserved_.emplace(base, size);
  remove_free(free_by_base_.find(run));
  if (before > 0) add_free(run, before);
  if (run_pages > before + pages) add_free(base + size, run_pages - before - pages);
  return base;
}

bool Heap::unreserve(void* pointer, std::size_t size) {
  char* base = static_cast<char*>(pointer);
  std::lock_guard lock(mutex_);
  const auto reservation = reserved_.find(base);
  if (reservation == reserved_.end() || reservation->second != size) return false;
  const auto after = mapped_.lower_bound(base);
  if (after != mapped_.end() && after->first < base + size) return false;
  reserved_.erase(reservation);
  join_free(base, size / kPage);
  return true;
}

bool Heap::take(std::size_t size) {
  std::lock_guard lock(mutex_);
  if (size > capacity_ - used_) return false;
  used_ += size;
  return true;
}

void Heap::give(std::size_t size) {
  std::lock_guard lock(mutex_);
  used_ -= size;
}

bool Heap::map(void* pointer, std::size_t size) {
  char* start = static_cast<char*>(pointer);
  std::lock_guard lock(mutex_);
  if (enclosing(reserved_, start, size) == reserved_.end()) return false;
  auto next = mapped_.lower_bound(start);
  if (next != mapped_.end() && next->first < start + size) return false;
  if (next != mapped_.begin() && std::prev(next)->first + std::prev(next)->second > start) return false;
  // What is mapped side by side is one range to those who copy. Two reservations are never one.
  if (next != mapped_.end() && next->first == start + size && reserved_.count(next->first) == 0) {
    size += next->second;
    next = mapped_.erase(next);
  }
  if (next != mapped_.begin() && reserved_.count(start) == 0) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += size;
      return true;
    }
  }
  mapped_.emplace(start, size);
  return true;
}

bool Heap::unmap(void* pointer, std::size_t size) {
  char* start = static_cast<char*>(pointer);
  std::lock_guard lock(mutex_);
  const auto run = enclosing(mapped_, start, size);
  if (run == mapped_.end()) return false;
  char* const end = run->first + run->second;
  if (run->first < start) {
    run->second = static_cast<std::size_t>(start - run->first);
  } else {
    mapped_.erase(run);
  }
  if (start + size < end) mapped_.emplace(start + size, static_cast<std::size_t>(end - start) - size);
  return true;
}

void* Device::reserve(std::size_t size) {
  void* pointer = heap_.reserve(size);
  if (pointer != nullptr) isolation_.set_accessible(pointer, size, false);
  return pointer;
}

bool Device::unreserve(void* pointer, std::size_t size) {
  if (!heap_.unreserve(pointer, size)) return false;
  isolation_.set_accessible(pointer, size, true);
  return true;
}

bool Device::map(void* pointer, std::size_t size) {
  if (!heap_.map(pointer, size)) return false;
  isolation_.set_accessible(pointer, size, true);
  isolation_.set_live(pointer, size, true);
  return true;
}

bool Device::unmap(void* pointer, std::size_t size) {
  if (!heap_.unmap(pointer, size)) return false;
  discard_memory(pointer, size);
  isolation_.set_accessible(pointer, size, false);
  isolation_.set_live(pointer, size, false);
  return true;
}

void Isolation::set_accessible(void* pages, std::size_t size, bool accessible) const {
  if (debug_) return;  // set_live() does it
  const int rights = accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
  const bool by_rights = mode_ == IsolationMode::kPkey || mode_ == IsolationMode::kOff;
  if (by_rights) set_rights(pages, size, rights);
}

}  // namespace openreg::driver
