// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "heap.h"

#include <functional>
#include <iterator>

#include "memory_debug.h"
#include "memory_file.h"

namespace openreg::driver {
namespace {

// Pages of larger runs go back to the system when freed; smaller ones are kept, since getting them anew costs a page
// fault each.
constexpr std::size_t kKeepBytes = std::size_t{16} << 20;

}  // namespace

Heap::Heap(char* base, std::size_t range, std::size_t capacity, bool debug) : capacity_(capacity), guard_(debug ? 1 : 0) {
  add_free(base, range / kPage);
}

void* Heap::allocate(std::size_t size) {
  if (size > capacity_) return nullptr;
  const std::size_t pages = (size + kPage - 1) / kPage;
  std::lock_guard lock(mutex_);
  if (pages * kPage > capacity_ - used_) return nullptr;
  void* base = take_run(size, false);
  if (base != nullptr) used_ += pages * kPage;
  return base;
}

void* Heap::adopt(std::size_t size) {
  std::lock_guard lock(mutex_);
  return take_run(size, true);
}

void* Heap::take_run(std::size_t size, bool foreign) {
  const std::size_t pages = (size + kPage - 1) / kPage;
  const std::size_t all_pages = pages + 2 * guard_;
  const auto fit = find_run(all_pages);
  if (fit == free_by_base_.end()) return nullptr;
  const auto [run, run_pages] = *fit;
  char* base = run + guard_ * kPage;
  live_.emplace(base, Allocation{base, size, pages, foreign});
  remove_free(fit);
  if (run_pages > all_pages) add_free(run + all_pages * kPage, run_pages - all_pages);
  return base;
}

std::map<char*, std::size_t>::iterator Heap::find_run(std::size_t pages) {
  while (true) {
    const auto fit = free_by_size_.lower_bound({pages, nullptr});
    if (fit != free_by_size_.end()) return free_by_base_.find(fit->second);
    if (quarantine_.empty()) return free_by_base_.end();
    const auto [run, run_pages] = quarantine_.front();
    quarantine_.pop_front();
    if (MemoryDebug* debug = MemoryDebug::get()) debug->forget(run, run + run_pages * kPage);
    join_free(run, run_pages);
  }
}

bool Heap::retire(const void* pointer, Allocation* allocation) { return retire_if(pointer, false, allocation); }

bool Heap::retire_foreign(const void* pointer, Allocation* allocation) { return retire_if(pointer, true, allocation); }

bool Heap::retire_if(const void* pointer, bool foreign, Allocation* allocation) {
  std::lock_guard lock(mutex_);
  const auto found = live_.find(static_cast<char*>(const_cast<void*>(pointer)));
  if (found == live_.end() || found->second.foreign != foreign) return false;
  *allocation = found->second;
  live_.erase(found);
  return true;
}

void Heap::release(const Allocation& allocation) {
  const std::size_t bytes = allocation.pages * kPage;
  if (bytes >= kKeepBytes || guard_ > 0) discard_memory(allocation.base, bytes);
  std::lock_guard lock(mutex_);
  if (!allocation.foreign) used_ -= bytes;
  char* run = allocation.base - guard_ * kPage;
  const std::size_t pages = allocation.pages + 2 * guard_;
  if (guard_ > 0) {
    quarantine_.emplace_back(run, pages);
  } else {
    join_free(run, pages);
  }
}

void Heap::join_free(char* base, std::size_t pages) {
  char* const end = base + pages * kPage;
  const auto next = free_by_base_.lower_bound(base);
  if (next != free_by_base_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second * kPage == base) {
      base = before->first;
      pages += before->second;
      remove_free(before);
    }
  }
  if (next != free_by_base_.end() && next->first == end) {
    pages += next->second;
    remove_free(next);
  }
  add_free(base, pages);
}

bool Heap::find(const void* pointer, Allocation* allocation) const {
  std::lock_guard lock(mutex_);
  return find_locked(pointer, allocation);
}

Heap::Lookup Heap::try_find(const void* pointer, Allocation* allocation) const {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Lookup::kBusy;
  return find_locked(pointer, allocation) ? Lookup::kYes : Lookup::kNo;
}

std::size_t Heap::available() const {
  std::lock_guard lock(mutex_);
  return capacity_ - used_;
}

bool Heap::find_locked(const void* pointer, Allocation* allocation) const {
  char* address = static_cast<char*>(const_cast<void*>(pointer));
  const auto candidate = live_.upper_bound(address);
  if (candidate != live_.begin() && address < std::prev(candidate)->first + std::prev(candidate)->second.size) {
    *allocation = std::prev(candidate)->second;
    return true;
  }
  const auto run = mapped_.upper_bound(address);
  if (run == mapped_.begin() || address >= std::prev(run)->first + std::prev(run)->second) return false;
  *allocation = {std::prev(run)->first, std::prev(run)->second, std::prev(run)->second / kPage};
  return true;
}

void Heap::add_free(char* base, std::size_t pages) {
  free_by_base_.emplace(base, pages);
  free_by_size_.emplace(pages, base);
}

void Heap::remove_free(std::map<char*, std::size_t>::iterator run) {
  free_by_size_.erase({run->second, run->first});
  free_by_base_.erase(run);
}

}  // namespace openreg::driver
