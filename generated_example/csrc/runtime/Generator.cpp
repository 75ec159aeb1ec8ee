// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Generator.h"

#include <cstring>
#include <deque>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <c10/util/Exception.h>

#include "runtime/Capturing.h"
#include "runtime/Functions.h"

namespace openreg {

namespace {

constexpr uint64_t kNumbersPerCall = 4;  // Philox makes four 32-bit numbers from one counter

void check_offset(uint64_t offset) {
  TORCH_CHECK(
      offset % kNumbersPerCall == 0,
      "openreg: a generator's offset must be a multiple of ", kNumbersPerCall, ", got ", offset);
}

OpenRegGeneratorImpl* check_impl(c10::GeneratorImpl* impl) {
  auto* const ours = dynamic_cast<OpenRegGeneratorImpl*>(impl);
  // In the words that PyTorch has for its own devices.
  TORCH_CHECK(ours != nullptr, "Expected a '", OpenRegGeneratorImpl::device_type(),
      "' device type for generator but found '", impl->device().type(), "'");
  return ours;
}

}  // namespace

OpenRegGeneratorImpl::OpenRegGeneratorImpl(c10::DeviceIndex device, uint64_t seed)
    : OpenRegGeneratorImpl(device, std::make_shared<PhiloxState>()) {
  state_->seed = seed;
}

OpenRegGeneratorImpl::OpenRegGeneratorImpl(c10::DeviceIndex device, std::shared_ptr<PhiloxState> state)
    : c10::GeneratorImpl(c10::Device(device_type(), device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      state_(std::move(state)) {}

std::shared_ptr<PhiloxState> OpenRegGeneratorImpl::state() const {
  const std::lock_guard<std::mutex> lock(pointer_mutex_);
  return state_;
}

void OpenRegGeneratorImpl::set_current_seed(uint64_t seed) {
  check_not_capturing("a generator that is seeded or set");
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  state->seed = seed;
  state->offset = 0;
}

void OpenRegGeneratorImpl::set_offset(uint64_t offset) {
  check_offset(offset);
  check_not_capturing("a generator that is seeded or set");
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  state->offset = offset;
}

uint64_t OpenRegGeneratorImpl::get_offset() const {
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  return state->offset;
}

uint64_t OpenRegGeneratorImpl::current_seed() const {
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  return state->seed;
}

uint64_t OpenRegGeneratorImpl::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom();
  set_current_seed(random);
  return random;
}

void OpenRegGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  check_not_capturing("a generator that is seeded or set");
  at::detail::check_rng_state(new_state);
  TORCH_CHECK(
      new_state.numel() == int64_t{kStateBytes},
      "openreg: a generator's state has ", kStateBytes, " bytes, got ", new_state.numel());
  uint64_t values[2];
  std::memcpy(values, new_state.data(), kStateBytes);
  check_offset(values[1]);
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  state->seed = values[0];
  state->offset = values[1];
}

c10::intrusive_ptr<c10::TensorImpl> OpenRegGeneratorImpl::get_state() const {
  at::TensorBase tensor = at::detail::empty_cpu({int64_t{kStateBytes}}, c10::TensorOptions(c10::kByte));
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  const uint64_t values[2] = {state->seed, state->offset};
  std::memcpy(tensor.mutable_data_ptr(), values, kStateBytes);
  return tensor.getIntrusivePtr();
}

void OpenRegGeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& new_state) {
  std::shared_ptr<PhiloxState> shared = check_impl(new_state.get())->state();
  const std::lock_guard<std::mutex> lock(pointer_mutex_);
  state_ = std::move(shared);
}

c10::intrusive_ptr<c10::GeneratorImpl> OpenRegGeneratorImpl::graphsafe_get_state() const {
  // The constructor is private, so c10::make_intrusive can't be used; the object has no owner yet.
  auto* const view = new OpenRegGeneratorImpl(device().index(), state());
  return c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_steal_from_new(view);
}

OpenRegGeneratorImpl* OpenRegGeneratorImpl::clone_impl() const {
  auto copy = std::make_shared<PhiloxState>();
  const std::shared_ptr<PhiloxState> state = this->state();
  const std::lock_guard<std::mutex> lock(state->mutex);
  copy->seed = state->seed;
  copy->offset = state->offset;
  return new OpenRegGeneratorImpl(device().index(), std::move(copy));
}

std::pair<uint64_t, uint64_t> PhiloxState::take(uint64_t numbers) {
  const std::lock_guard<std::mutex> lock(mutex);
  const uint64_t first = offset;
  offset += rounded(numbers);
  return {seed, first};
}

std::pair<uint64_t, uint64_t> OpenRegGeneratorImpl::philox_engine_inputs(uint64_t increment) {
  check_not_capturing("random numbers of a kernel that draws them at its launch");
  return state()->take(increment);
}

#if OPENREG_TORCH_HAS_PHILOX_STATE
void OpenRegGeneratorImpl::philox_state(
    uint64_t increment, at::Tensor& seed, at::Tensor& offset, at::Tensor& intragraph_offset) {
  const auto [first_seed, first] = philox_engine_inputs(increment);
  const auto on_the_cpu = [](uint64_t value) {
    at::Tensor tensor(at::detail::empty_cpu({1}, c10::TensorOptions(c10::kLong)));
    std::memcpy(tensor.mutable_data_ptr(), &value, sizeof(value));
    return tensor;
  };
  seed = on_the_cpu(first_seed);
  offset = on_the_cpu(first);
  intragraph_offset = on_the_cpu(0);
}
#endif

const at::Generator& getDefaultGenerator(c10::DeviceIndex device) {
  struct Slot {
    std::once_flag once;
    at::Generator generator;
  };
  device = resolve_device_index(device);
  static auto* const slots = new std::deque<Slot>(device_count_ensure_non_zero());  // hooks hand out references
  Slot& slot = slots->at(static_cast<size_t>(device));
  std::call_once(slot.once, [&] {
    // As on the CPU: runs differ unless torch.manual_seed was called.
    slot.generator = at::make_generator<OpenRegGeneratorImpl>(device, c10::detail::getNonDeterministicRandom());
  });
  return slot.generator;
}

at::Generator createGenerator(c10::DeviceIndex device) {
  return at::make_generator<OpenRegGeneratorImpl>(resolve_device_index(device));
}

std::shared_ptr<PhiloxState> philox_state_of(const std::optional<at::Generator>& generator, c10::DeviceIndex device) {
  const bool given = generator.has_value() && generator->defined();
  const at::Generator& source = given ? *generator : getDefaultGenerator(device);
  const auto* const impl = check_impl(source.unsafeGetGeneratorImpl());
  TORCH_CHECK(source.device().index() == resolve_device_index(device), "Expected a generator of 'openreg:",
      int{resolve_device_index(device)}, "' but found one of '", source.device(), "'");
  return impl->state();
}

at::Generator cpu_generator(
    const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment) {
  const auto [seed, offset] = philox_state_of(generator, device)->take(increment);
  return cpu_generator(seed, offset);
}

at::Generator cpu_generator(uint64_t seed, uint64_t offset) {
  // The engine's whole state comes from the pair, by splitmix64. Its own seeding takes 32 bits, and two of many draws
  // would soon be the same.
  at::mt19937_data_pod state = at::mt19937(seed).data();
  uint64_t counter = seed ^ (offset * 0xd1342543de82ef95);
  for (uint32_t& word : state.state_) {
    counter += 0x9e3779b97f4a7c15;
    uint64_t mixed = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = static_cast<uint32_t>((mixed ^ (mixed >> 31)) >> 32);
  }
  at::mt19937 engine;
  engine.set_data(state);
  at::Generator result = at::detail::createCPUGenerator(seed);
  result.get<at::CPUGeneratorImpl>()->set_engine(engine);
  return result;
}

}  // namespace openreg
