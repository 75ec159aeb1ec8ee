// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "config.h"
#include "device.h"
#include "error.h"
#include "memory_file.h"
#include "stream.h"

// Note [Memory of another process]
// A handle says where memory is: which process, which of its files, which part. Whoever has it opens that file through
// /proc, which the system allows to processes of the same user, and maps the part over addresses of its own device, so
// that all that holds for device memory (isolation, copies, kernels) holds for it. The file's inode number in the
// handle distinguishes a dead owner, or another process of the same number, from the owner.

namespace openreg::driver {
namespace {

constexpr std::uint32_t kMagic = 0x4f724d68;

struct HandleContents {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::int32_t device;  // the machine's number: the other process may see it under another
  std::uint64_t inode;
  std::uint64_t offset;  // bytes
  std::uint64_t size;  // bytes, as asked for
};
static_assert(sizeof(HandleContents) <= sizeof(orIpcMemHandle_t));

bool inode_of(int file, std::uint64_t* inode) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return false;
  *inode = status.st_ino;
  return true;
}

// The owner's file, opened anew; -1 if it is gone.
int open_file(const HandleContents& handle) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle.process, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  std::uint64_t inode = 0;
  if (file >= 0 && inode_of(file, &inode) && inode == handle.inode) return file;
  if (file >= 0) close(file);
  return -1;
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orIpcGetMemHandle(orIpcMemHandle_t* handle, void* pointer) {
  return call([&] {
    if (handle == nullptr || pointer == nullptr) return orErrorInvalidValue;
    Devices& devices = Devices::get();
    const int number = devices.device_of(pointer);
    Allocation allocation{};
    if (number < 0 || !devices.at(number).heap().find(pointer, &allocation)) return orErrorInvalidValue;
    if (allocation.base != pointer) return orErrorInvalidValue;
    const FilePlace place = place_of(pointer);
    if (place.file < 0 || allocation.foreign) return orErrorNotSupported;
    HandleContents contents{kMagic, getpid(), place.file, config().visible[static_cast<std::size_t>(number)], 0, place.offset, allocation.size};
    if (!inode_of(place.file, &contents.inode)) return orErrorUnknown;
    *handle = {};
    std::memcpy(handle, &contents, sizeof(contents));
    return orSuccess;
  });
}

orError_t orIpcOpenMemHandle(void** pointer, orIpcMemHandle_t handle) {
  return call([&] {
    if (pointer == nullptr) return orErrorInvalidValue;
    *pointer = nullptr;
    HandleContents contents{};
    std::memcpy(&contents, &handle, sizeof(contents));
    if (contents.magic != kMagic) return orErrorInvalidHandle;
    const std::vector<int>& visible = config().visible;
    const auto seen = std::find(visible.begin(), visible.end(), contents.device);
    if (seen == visible.end()) return orErrorInvalidDevice;
    const int file = open_file(contents);
    if (file < 0) return orErrorInvalidHandle;
    // The mapping keeps the file; the descriptor is needed no longer.
    *pointer = Devices::get().at(static_cast<int>(seen - visible.begin())).adopt(contents.size, file, contents.offset);
    close(file);
    return *pointer == nullptr ? orErrorMemoryAllocation : orSuccess;
  });
}

orError_t orIpcCloseMemHandle(void* pointer) {
  return call([&] {
    Devices& devices = Devices::get();
    const int number = devices.device_of(pointer);
    if (number < 0) return orErrorInvalidValue;
    if (Stream::current() != nullptr) return orErrorNotSupported;
    devices.wait();
    return devices.at(number).disown(pointer) ? orSuccess : orErrorInvalidValue;
  });
}

// All devices are in this process, so each one's kernels reach the memory of all.
orError_t orDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return describe([&] {
    if (can_access == nullptr) return orErrorInvalidValue;
    for (const int number : {device, peer}) {
      if (number < 0 || number >= config().device_count) return orErrorInvalidDevice;
    }
    *can_access = device != peer ? 1 : 0;
    return orSuccess;
  });
}

orError_t orDeviceEnablePeerAccess(int peer) {
  return call([&] {
    if (peer < 0 || peer >= config().device_count) return orErrorInvalidDevice;
    return peer == current_device().number() ? orErrorInvalidDevice : orSuccess;
  });
}

}  // extern "C"
