// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

// Note [Handles]
// A handle given to the caller is a number dressed as a pointer, looked up here. Numbers are never used twice, not even
// by streams and events between them, so a destroyed or mistaken handle is an error rather than a crash. They are
// multiples of 16, as addresses of objects are, for callers that keep marks of their own in the low bits.
namespace openreg::driver {

inline std::uintptr_t next_handle() {
  static std::atomic<std::uintptr_t> next{16};
  return next.fetch_add(16, std::memory_order_relaxed);
}

// Thread-safe. Owns its objects together with whoever still uses one; destroying a handle only drops the table's share.
template <typename Object, typename Handle>
class HandleTable {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const std::uintptr_t handle = next_handle();
    std::unique_lock lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return reinterpret_cast<Handle>(handle);
  }

  // Null if there is no such handle.
  std::shared_ptr<Object> find(Handle handle) const {
    std::shared_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  // Takes the object out; null if there is no such handle.
  std::shared_ptr<Object> remove(Handle handle) {
    std::unique_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace openreg::driver
