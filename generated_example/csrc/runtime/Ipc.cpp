// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Ipc.h"

#include <openreg.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <c10/util/ScopeExit.h>

#include "runtime/MemoryAllocator.h"
#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/IpcCounters.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

struct Message {
  uint64_t magic;
  ipc::Address owner;
  int32_t slot;
  int32_t device;
  orIpcMemHandle_t memory;
  uint64_t offset;  // of the storage in the memory, bytes
  uint64_t size;  // of the storage, bytes
};
constexpr uint64_t kMagic = 0x32637069'6f70656e;

// A storage of this process that others may use. Shared by the table and by the storages over it.
struct SentStorage {
  c10::DataPtr original;
  Message message;
  WeakStorage storage;
};

// Memory of another process. Shared by all storages in it.
struct Mapping {
  void* base = nullptr;
  explicit Mapping(const orIpcMemHandle_t& handle) { OPENREG_CHECK(orIpcOpenMemHandle(&base, handle)); }
  ~Mapping() { OPENREG_WARN(orIpcCloseMemHandle(base)); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

// The use of another process's storage, from its first lock on.
struct ReceivedStorage {
  std::shared_ptr<ipc::ForeignCounters> counters;
  Message message;
  std::shared_ptr<Mapping> mapping;

  ReceivedStorage(std::shared_ptr<ipc::ForeignCounters> owner, const Message& about) : counters(std::move(owner)), message(about) {
    counters->lock(message.slot);
  }
  ~ReceivedStorage() {
    mapping.reset();
    counters->unlock(message.slot);
  }
  ReceivedStorage(const ReceivedStorage&) = delete;
  ReceivedStorage& operator=(const ReceivedStorage&) = delete;
};

// Nothing is destroyed with the mutex held that could lock it again: the deleter of a storage does.
struct Table {
  std::mutex mutex;
  std::map<int32_t, std::shared_ptr<SentStorage>> sent;  // by slot
  std::set<int32_t> left;  // slots whose storage is gone here, and which others used when that was last looked up
  int32_t looked_up = -1;  // the last of them
  std::map<std::pair<uint64_t, int32_t>, WeakStorage> received;  // by the owner's key and slot
  std::map<std::string, std::weak_ptr<Mapping>> mappings;  // by the bytes of their handles
};

Table& table() {
  static auto* const instance = new Table();  // storages may outlive main()
  return *instance;
}

// Takes the slots out of the table that nobody uses any more, of those that are `asked`; the others are left. With the mutex held.
std::vector<std::shared_ptr<SentStorage>> take_unused(const std::set<int32_t>& asked) {
  std::vector<std::shared_ptr<SentStorage>> unused;
  for (const int32_t slot : asked) {
    const auto entry = table().sent.find(slot);
    if (entry == table().sent.end() || entry->second.use_count() > 1) {  // its storage is back
      table().left.erase(slot);
    } else if (ipc::OwnCounters::get().in_use(slot)) {
      table().left.insert(slot);
    } else {
      unused.push_back(std::move(entry->second));
      table().sent.erase(entry);
      table().left.erase(slot);
    }
  }
  return unused;
}

// The next few slots that are left: each share looks at so many, so that all get their turn, and n shares ask n times.
std::set<int32_t> some_left() {
  constexpr int kSome = 4;
  std::set<int32_t> some;
  for (int i = 0; i < kSome && !table().left.empty(); ++i) {
    const auto next = table().left.upper_bound(table().looked_up);
    table().looked_up = next == table().left.end() ? -1 : *next;
    if (next != table().left.end()) {
      some.insert(*next);
    }
  }
  return some;
}

// Without the mutex: an allocator may ask for a collection while it frees.
void give_back(const std::vector<std::shared_ptr<SentStorage>>& unused) {
  for (const std::shared_ptr<SentStorage>& sent : unused) {
    sent->original.clear();
    ipc::OwnCounters::get().give_slot(sent->message.slot);
  }
}

// Deleters run at any time and on any thread: nothing may be thrown.
void delete_sent(void* context) noexcept {
  std::unique_ptr<std::shared_ptr<SentStorage>> owner(static_cast<std::shared_ptr<SentStorage>*>(context));
  if (isInBadFork()) {
    owner.release();  // the memory is the parent's
    return;
  }
  never_throw("memory of shared storages was given back", [&] {
    std::vector<std::shared_ptr<SentStorage>> unused;
    {
      const std::lock_guard<std::mutex> lock(table().mutex);
      const int32_t slot = (*owner)->message.slot;
      owner.reset();
      unused = take_unused({slot});
    }
    give_back(unused);
  });
}

void delete_received(void* context) noexcept {
  if (isInBadFork()) {
    return;  // the lock and the mapping are the parent's
  }
  (*let_go_of_received)([received = static_cast<ReceivedStorage*>(context)] {
    wait_for_device(static_cast<c10::DeviceIndex>(received->message.device));  // kernels may still use it
    delete received;
  });
}

c10::Device device_of(const Message& message) {
  return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(message.device));
}

c10::Storage make_storage(c10::DataPtr data, size_t size) {
  // Not resizable: growing it would leave the memory that is shared.
  return c10::Storage(c10::Storage::use_byte_size_t(), size, std::move(data), nullptr, false);
}

std::string bytes_of(const Message& message) {
  return std::string(reinterpret_cast<const char*>(&message), sizeof(message));
}

std::shared_ptr<SentStorage> start_sharing(const c10::Storage& storage) {
  const c10::DataPtr& data = storage.data_ptr();
  auto sent = std::make_shared<SentStorage>(SentStorage{c10::DataPtr(), Message{}, storage.getWeakStorageImpl()});
  char* const base = static_cast<char*>(getCurrentAllocator().getBaseAllocation(data.get_context(), nullptr));
  Message& message = sent->message;
  const orError_t error = orIpcGetMemHandle(&message.memory, base);
  if (error == orErrorNotSupported) {
    orGetLastError();
    TORCH_CHECK_NOT_IMPLEMENTED(false, "openreg: the device can't share memory between processes; send tensor.cpu()");
  }
  OPENREG_CHECK(error);
  ipc::OwnCounters& counters = ipc::OwnCounters::get();
  message.magic = kMagic;
  message.owner = counters.address();
  message.device = storage.device().index();
  message.offset = static_cast<uint64_t>(static_cast<const char*>(data.get()) - base);
  message.size = storage.nbytes();
  auto owner = std::make_unique<std::shared_ptr<SentStorage>>(sent);
  message.slot = counters.take_slot();
  try {
    table().sent.emplace(message.slot, sent);
  } catch (...) {
    counters.give_slot(message.slot);
    throw;
  }
  c10::DataPtr shared(data.get(), owner.release(), &delete_sent, data.device());
  sent->original = storage.unsafeGetStorageImpl()->set_data_ptr(std::move(shared));
  return sent;
}

c10::Storage come_home(const Message& message) {
  const auto found = table().sent.find(message.slot);
  TORCH_CHECK(found != table().sent.end(), "openreg: a message of this process's own was opened twice");
  const std::shared_ptr<SentStorage> sent = found->second;
  ipc::OwnCounters::get().received(message.slot);
  if (auto impl = sent->storage.lock()) {
    return c10::Storage(std::move(impl));
  }
  c10::Storage storage = make_storage({nullptr, device_of(message)}, message.size);
  auto owner = std::make_unique<std::shared_ptr<SentStorage>>(sent);
  storage.set_data_ptr_noswap({sent->original.mutable_get(), owner.release(), &delete_sent, device_of(message)});
  sent->storage = storage.getWeakStorageImpl();
  return storage;
}

std::shared_ptr<Mapping> map_memory(const orIpcMemHandle_t& handle) {
  std::weak_ptr<Mapping>& known = table().mappings[std::string(handle.reserved, sizeof(handle.reserved))];
  auto mapping = known.lock();
  if (!mapping) {
    mapping = std::make_shared<Mapping>(handle);
    known = mapping;
  }
  return mapping;
}

c10::Storage arrive(const Message& message) {
  const auto counters = ipc::ForeignCounters::open(message.owner);
  const std::pair<uint64_t, int32_t> key(message.owner.key, message.slot);
  if (const auto found = table().received.find(key); found != table().received.end()) {
    if (auto impl = found->second.lock()) {
      counters->received(message.slot);
      return c10::Storage(std::move(impl));
    }
    table().received.erase(found);
  }
  auto received = std::make_unique<ReceivedStorage>(counters, message);  // lets go if what follows fails
  counters->received(message.slot);
  received->mapping = map_memory(message.memory);
  void* const data = static_cast<char*>(received->mapping->base) + message.offset;
  c10::Storage storage = make_storage({nullptr, device_of(message)}, message.size);
  table().received.emplace(key, storage.getWeakStorageImpl());
  storage.set_data_ptr_noswap({data, received.release(), &delete_received, device_of(message)});
  return storage;
}

const bool collects_when_memory_is_out = registerFreeMemoryCallback(&ipcCollect);

}  // namespace

void (*let_go_of_received)(std::function<void()>) = [](std::function<void()> let_go) {
  if (let_go != nullptr) {
    let_go();
  }
};

std::string shareStorage(const c10::Storage& storage) {
  TORCH_CHECK(
      storage.device_type() == c10::DeviceType::PrivateUse1, "openreg: can't share a storage of ", storage.device());
  TORCH_CHECK(storage.nbytes() > 0, "openreg: a storage of no bytes has nothing to share");
  initialize();
  const OpenRegGuard guard(storage.device().index());
  // The receiver sees what was written so far. All streams: a queue pickles on a thread of its own, whose current stream
  // is not the one the tensor was written on.
  device_synchronize();
  std::vector<std::shared_ptr<SentStorage>> unused;
  const auto last = c10::make_scope_exit([&] { give_back(unused); });
  const std::lock_guard<std::mutex> lock(table().mutex);
  unused = take_unused(some_left());
  const c10::DataPtr& data = storage.data_ptr();
  if (data.get_deleter() == &delete_received) {
    const auto* const received = static_cast<const ReceivedStorage*>(data.get_context());
    received->counters->sent(received->message.slot);
    return bytes_of(received->message);
  }
  const bool again = data.get_deleter() == &delete_sent;
  const auto sent = again ? *static_cast<std::shared_ptr<SentStorage>*>(data.get_context()) : start_sharing(storage);
  ipc::OwnCounters::get().sent(sent->message.slot);
  return bytes_of(sent->message);
}

c10::Storage openStorage(const std::string& bytes) {
  Message message{};
  TORCH_CHECK(bytes.size() == sizeof(message), "openreg: this is not a message about a shared storage");
  std::memcpy(&message, bytes.data(), sizeof(message));
  TORCH_CHECK(
      message.magic == kMagic && message.slot >= 0 && message.slot < ipc::kSlots, "openreg: this is not a message about a shared storage");
  initialize();
  const OpenRegGuard guard(static_cast<c10::DeviceIndex>(message.device));
  const std::lock_guard<std::mutex> lock(table().mutex);
  return message.owner == ipc::OwnCounters::get().address() ? come_home(message) : arrive(message);
}

bool ipcCollect() {
  if (isInBadFork()) {
    return false;
  }
  (*let_go_of_received)(nullptr);
  std::vector<std::shared_ptr<SentStorage>> unused;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    const std::set<int32_t> left = table().left;
    unused = take_unused(left);
  }
  give_back(unused);
  return !unused.empty();
}

bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer) {
  check_device_index(device);
  check_device_index(peer);
  int can_access = 0;
  const orError_t error = orDeviceCanAccessPeer(&can_access, device, peer);
  if (error == orErrorNotSupported || error == orErrorNotPorted) {
    orGetLastError();
    return false;
  }
  OPENREG_CHECK(error);
  return can_access != 0;
}

bool enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex peer) {
  static auto* const mutex = new std::mutex();
  static auto* const enabled = new std::map<std::pair<c10::DeviceIndex, c10::DeviceIndex>, bool>();
  if (device == peer) {
    return true;
  }
  const std::lock_guard<std::mutex> lock(*mutex);
  const std::pair<c10::DeviceIndex, c10::DeviceIndex> pair(device, peer);
  if (const auto known = enabled->find(pair); known != enabled->end()) {
    return known->second;
  }
  const bool reaches = canDeviceAccessPeer(device, peer);
  if (reaches) {
    const OpenRegGuard guard(device);
    OPENREG_CHECK(orDeviceEnablePeerAccess(peer));
  }
  enabled->emplace(pair, reaches);  // not before: what failed is tried again
  return reaches;
}

}  // namespace openreg
