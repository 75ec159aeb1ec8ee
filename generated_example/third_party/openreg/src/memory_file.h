// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

// Note [Device memory is a file]
// The memory of all devices is one file without a name (memfd), mapped shared. Another process can then map a part of
// it: that is all there is to sharing memory between processes. The file lives as long as a process has it mapped or
// open, so memory outlives its owner's end, and nothing is left behind when the last process dies. Where the system
// lacks such files, memory is private, and sharing is not supported.
namespace openreg::driver {

// Address space for `size` bytes that nobody may touch yet; null if the system has not so much. Once for a process.
char* reserve_memory(std::size_t size);

// Gives the system back what is behind these pages of the range; they read as zeros afterwards.
void discard_memory(void* pages, std::size_t size);

// Where in the file a page of the range is. `file` is -1 if memory is private.
struct FilePlace {
  int file;
  std::size_t offset;
};
FilePlace place_of(const void* page);

}  // namespace openreg::driver
