// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include "runtime/Export.h"
#include "runtime/PyTorchRelease.h"

// Note [Random numbers]
// torch.manual_seed, torch.Generator(device="openreg"), fork_rng and checkpointing read and set a generator's state;
// random kernels draw from it. Without it none of these work on the device.
//
// The state is a counter-based generator's (Philox): a seed, and an offset that says how many 32-bit numbers were
// drawn. A kernel takes a range of offsets with philox_engine_inputs() and computes its numbers from (seed, offset)
// alone, so kernels on many threads need no shared engine, and the numbers depend only on seed and order of draws.
// Kernels that run on the host use cpu_generator(), a CPU generator derived from the same pair.
//
// As a tensor the state is 16 bytes: seed, then offset, both little-endian uint64. clone() copies it.
//
// Threads: the state has a lock of its own and every member takes it, so a draw is atomic, also when two generators
// share the state. Holding mutex_ around a call, as PyTorch does, is allowed but not needed.
// Ownership: default generators are made on first use, one per device, and never destroyed.

namespace openreg {

/// The numbers of a generator, and of those that share its state.
struct OPENREG_RUNTIME_API PhiloxState {
  /// A number of 32-bit numbers as Philox makes them: four from one counter.
  static uint64_t rounded(uint64_t numbers) { return (numbers + 3) / 4 * 4; }
  /// Takes that many; returns {seed, offset of the first}.
  std::pair<uint64_t, uint64_t> take(uint64_t numbers);

  mutable std::mutex mutex;
  uint64_t seed = 0;
  uint64_t offset = 0;
};

class OPENREG_RUNTIME_API OpenRegGeneratorImpl final : public c10::GeneratorImpl {
 public:
  static constexpr size_t kStateBytes = 2 * sizeof(uint64_t);

  explicit OpenRegGeneratorImpl(c10::DeviceIndex device, uint64_t seed = c10::default_rng_seed_val);

  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

  /// Also sets the offset to 0.
  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override;

  /// Sets a fresh seed that nobody can foresee, and returns it.
  uint64_t seed() override;

  /// Throws c10::Error unless `offset` is a multiple of 4.
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;

  /// Throws c10::Error, and changes nothing, for a tensor that get_state() can't have made.
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  // Two generators with one state draw from one sequence.
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& new_state) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;

#if OPENREG_TORCH_HAS_PHILOX_STATE
  /// As philox_engine_inputs(), in CPU tensors: uint64 seed and offset as int64, and 0, for what a graph adds.
  void philox_state(uint64_t increment, at::Tensor& seed, at::Tensor& offset, at::Tensor& intragraph_offset) override;
#endif

  /// Reserves `increment` 32-bit numbers (rounded up to Philox's 4) and returns {seed, offset of the first}. Atomic.
  /// Of a stream that is captured it throws: what a replay draws is not known yet. captured_draw() in graphs/Capture.h is for that.
  std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t increment);

  std::shared_ptr<PhiloxState> state() const;

 private:
  OpenRegGeneratorImpl(c10::DeviceIndex device, std::shared_ptr<PhiloxState> state);
  OpenRegGeneratorImpl* clone_impl() const override;

  mutable std::mutex pointer_mutex_;  // guards state_, the pointer
  std::shared_ptr<PhiloxState> state_;
};

/// The generator of `device` (-1: the current one) that is used where none is given.
OPENREG_RUNTIME_API const at::Generator& getDefaultGenerator(c10::DeviceIndex device = -1);

/// A new generator with the default seed. Device -1: the current one.
OPENREG_RUNTIME_API at::Generator createGenerator(c10::DeviceIndex device = -1);

/// The state of `generator` (none: the default one of `device`). Throws c10::Error if it is another device's.
OPENREG_RUNTIME_API std::shared_ptr<PhiloxState> philox_state_of(const std::optional<at::Generator>& generator, c10::DeviceIndex device);

/// For kernels that run on the host: a CPU generator of its own for one draw, derived from (seed, offset).
OPENREG_RUNTIME_API at::Generator cpu_generator(uint64_t seed, uint64_t offset);

/// The same of a draw now, from (seed, offset) of
/// `generator` (none: the default one of `device`), which advances by `increment` numbers.
OPENREG_RUNTIME_API at::Generator cpu_generator(
    const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment);

}  // namespace openreg
