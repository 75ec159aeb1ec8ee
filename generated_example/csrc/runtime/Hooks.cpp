// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Hooks.h"

#include <openreg.h>

#include <algorithm>
#include <utility>

#include "runtime/Allocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Generator.h"
#include "runtime/Guard.h"
#include "runtime/HostAllocator.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

const bool hooks_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new OpenRegHooksInterface());  // PyTorch keeps it permanently
  return true;
}();

}  // namespace

bool OpenRegHooksInterface::isAvailable() const { return device_count() > 0; }

bool OpenRegHooksInterface::hasPrimaryContext(c10::DeviceIndex device) const { return device_has_context(device); }

void OpenRegHooksInterface::init() const { initialize(); }

c10::DeviceIndex OpenRegHooksInterface::deviceCount() const { return device_count(); }

void OpenRegHooksInterface::setCurrentDevice(c10::DeviceIndex device) const { set_device(device); }

c10::DeviceIndex OpenRegHooksInterface::getCurrentDevice() const { return current_device(); }

c10::DeviceIndex OpenRegHooksInterface::exchangeDevice(c10::DeviceIndex device) const {
  return exchange_device(device);
}

c10::DeviceIndex OpenRegHooksInterface::maybeExchangeDevice(c10::DeviceIndex device) const {
  return exchange_device(device);
}

bool OpenRegHooksInterface::isPinnedPtr(const void* data) const { return openreg::isPinnedPtr(data); }

c10::Allocator* OpenRegHooksInterface::getPinnedMemoryAllocator() const { return getHostAllocator(); }

c10::Device OpenRegHooksInterface::getDeviceFromPtr(void* data) const {
  orPointerAttributes attributes{};
  OPENREG_CHECK(orPointerGetAttributes(&attributes, data));
  TORCH_CHECK(attributes.type == orMemoryTypeDevice, "openreg: the pointer ", data, " isn't memory of a device");
  return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(attributes.device));
}

const at::Generator& OpenRegHooksInterface::getDefaultGenerator(c10::DeviceIndex device) const {
  return openreg::getDefaultGenerator(device);
}

at::Generator OpenRegHooksInterface::getNewGenerator(c10::DeviceIndex device) const { return createGenerator(device); }

void OpenRegHooksInterface::resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const {
  c10::StorageImpl* const impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(), "openreg: trying to resize a storage that is not resizable");
  OptionalOpenRegGuard guard;
  if (const c10::DeviceIndex device = storage.device().index(); device != current_device()) {
    guard.set_index(device);
  }
  c10::DataPtr data = impl->allocator()->allocate(bytes);
  const size_t kept = std::min(bytes, storage.nbytes());
  if (kept > 0) {
    const OpenRegStream stream = getCurrentStream();
    OPENREG_CHECK_LAUNCH(
        orMemcpyAsync(data.get(), storage.data(), kept, orMemcpyDeviceToDevice, stream.stream()));
    // The old memory goes away below, while the copy may still wait in its stream.
    getDeviceAllocator()->recordStream(storage.data_ptr(), stream);
  }
  impl->set_data_ptr_noswap(std::move(data));
  impl->set_nbytes(bytes);
}

}  // namespace openreg
