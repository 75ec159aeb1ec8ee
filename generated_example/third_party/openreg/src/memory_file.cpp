// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "memory_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace openreg::driver {
namespace {

// Written once, before any other thread knows of device memory.
int memory_file = -1;
char* memory_base = nullptr;

int make_file(std::size_t size) {
  const int file = memfd_create("openreg-device-memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

char* reserve_private(std::size_t size) {
  void* base = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  // Where memory may not be overcommitted, it is only counted now.
  if (mprotect(base, size, PROT_READ | PROT_WRITE) == 0 && mprotect(base, size, PROT_NONE) == 0) {
    return static_cast<char*>(base);
  }
  munmap(base, size);
  return nullptr;
}

}  // namespace

char* reserve_memory(std::size_t size) {
  const int file = make_file(size);
  if (file < 0) return memory_base = reserve_private(size);
  void* base = mmap(nullptr, size, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (base == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  memory_file = file;
  return memory_base = static_cast<char*>(base);
}

void discard_memory(void* pages, std::size_t size) {
  if (memory_file < 0) {
    madvise(pages, size, MADV_DONTNEED);
    return;
  }
  const auto offset = static_cast<off_t>(place_of(pages).offset);
  fallocate(memory_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, static_cast<off_t>(size));
}

FilePlace place_of(const void* page) {
  return {memory_file, static_cast<std::size_t>(static_cast<const char*>(page) - memory_base)};
}

}  // namespace openreg::driver
