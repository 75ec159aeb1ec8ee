// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/CommStreams.h"

#include <mutex>
#include <utility>
#include <vector>

#include <c10/core/DeviceGuard.h>

#include "runtime/Exception.h"
#include "runtime/ForeignStream.h"

namespace openreg::distributed {
namespace {

struct Free {
  std::mutex mutex;
  std::map<c10::DeviceIndex, std::vector<OpenRegStream>> streams;
};

Free& free_streams() {
  static auto* const free = new Free();  // groups may outlive main()
  return *free;
}

OpenRegStream make(c10::DeviceIndex device) {
  Free& free = free_streams();
  const std::lock_guard<std::mutex> lock(free.mutex);
  std::vector<OpenRegStream>& left = free.streams[device];
  if (!left.empty()) {
    const OpenRegStream stream = left.back();
    left.pop_back();
    return stream;
  }
  const c10::DeviceGuard guard(c10::Device(c10::DeviceType::PrivateUse1, device));
  orStream_t handle = nullptr;
  OPENREG_CHECK(orStreamCreate(&handle));
  return getStreamFromExternal(handle, device);
}

}  // namespace

OpenRegStream CommStreams::get(c10::DeviceIndex device, int use) {
  const auto found = streams_.find({device, use});
  return found != streams_.end() ? found->second : streams_.emplace(std::pair(device, use), make(device)).first->second;
}

CommStreams::~CommStreams() {
  Free& free = free_streams();
  const std::lock_guard<std::mutex> lock(free.mutex);
  for (const auto& [key, stream] : streams_) {
    free.streams[key.first].push_back(stream);
  }
}

}  // namespace openreg::distributed
