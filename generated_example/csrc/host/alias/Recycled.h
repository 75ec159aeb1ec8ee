// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

// Note [Memory of tasks]
// What is launched is made by the thread that calls an operator, and destroyed by the stream's thread. The allocators of C
// libraries are good at memory that goes back to where it came from, and slow at this: both threads would meet at one lock
// for each kernel. So classes of tasks derive from Recycled, whose memory goes around: what was destroyed is put on a list,
// and who needs more takes the whole list for itself.

namespace openreg::native {

/// Base of classes whose objects are made by one thread and destroyed by another one, often. Threads: any.
class Recycled {
 public:
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

 protected:
  Recycled() = default;
  ~Recycled() = default;
  Recycled(const Recycled&) = default;
  Recycled& operator=(const Recycled&) = default;
};

}  // namespace openreg::native
