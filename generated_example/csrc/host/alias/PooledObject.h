// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

// Note [Memory of tasks]
// The thread that calls an operator creates a task, and the stream's thread destroys it. The allocators of C
// libraries are fast if one thread does both, and slow at this: both threads would contend for one lock
// per kernel. So classes of tasks derive from PooledObject, which reuses memory: destroyed tasks go to a list,
// and a thread that needs memory takes the whole list.

namespace openreg::native {

/// Base of classes whose objects are made by one thread and destroyed by another one, often. Threads: any.
class PooledObject {
 public:
  // If only one of the two is inlined, g++ 14 warns that what deletes does not fit what made the object.
  [[gnu::noinline]] static void* operator new(size_t bytes);
  [[gnu::noinline]] static void operator delete(void* memory, size_t bytes) noexcept;

 protected:
  PooledObject() = default;
  ~PooledObject() = default;
  PooledObject(const PooledObject&) = default;
  PooledObject& operator=(const PooledObject&) = default;
};

}  // namespace openreg::native
