// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <set>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include "fixture.h"
#include "runtime/Generator.h"

namespace openreg::test {

namespace {

using Inputs = std::pair<uint64_t, uint64_t>;

OpenRegGeneratorImpl& impl(const at::Generator& generator) {
  return *generator.get<OpenRegGeneratorImpl>();
}

uint64_t first_number(const at::Generator& generator) {
  at::Generator cpu = cpu_generator(generator, 0, 4);
  return cpu.get<at::CPUGeneratorImpl>()->random64();
}

TEST_F(DeviceTest, SeedStartsASequence) {
  at::Generator generator = createGenerator(0);
  EXPECT_EQ(generator.current_seed(), c10::default_rng_seed_val);
  generator.set_current_seed(42);
  EXPECT_EQ(impl(generator).philox_engine_inputs(3), Inputs(42, 0));
  EXPECT_EQ(impl(generator).philox_engine_inputs(4), Inputs(42, 4));  // 3 became 4
  EXPECT_EQ(generator.get_offset(), 8U);
  generator.set_current_seed(42);
  EXPECT_EQ(generator.get_offset(), 0U);
}

TEST_F(DeviceTest, OffsetIsAMultipleOfFour) {
  at::Generator generator = createGenerator(0);
  generator.set_offset(12);
  EXPECT_EQ(generator.get_offset(), 12U);
  EXPECT_THROW(generator.set_offset(13), c10::Error);
}

TEST_F(DeviceTest, FreshSeedsDiffer) {
  at::Generator generator = createGenerator(0);
  const uint64_t first = generator.seed();
  EXPECT_EQ(generator.current_seed(), first);
  EXPECT_NE(generator.seed(), first);
}

TEST_F(DeviceTest, StateGoesThereAndBack) {
  at::Generator generator = createGenerator(0);
  generator.set_current_seed(7);
  impl(generator).philox_engine_inputs(100);
  const at::Tensor state = generator.get_state();
  EXPECT_TRUE(state.is_cpu());
  EXPECT_EQ(state.scalar_type(), c10::kByte);
  const uint64_t expected = first_number(generator);
  at::Generator other = createGenerator(0);
  other.set_state(state);
  EXPECT_EQ(other.current_seed(), 7U);
  EXPECT_EQ(other.get_offset(), 100U);
  EXPECT_EQ(first_number(other), expected);
}

TEST_F(DeviceTest, WrongStatesAreRefused) {
  at::Generator generator = createGenerator(0);
  generator.set_current_seed(7);
  const c10::TensorOptions bytes(c10::kByte);
  EXPECT_THROW(generator.set_state(at::Tensor(at::detail::empty_cpu({15}, bytes))), c10::Error);
  EXPECT_THROW(generator.set_state(at::Tensor(at::detail::empty_cpu({17}, bytes))), c10::Error);
  EXPECT_THROW(generator.set_state(at::Tensor(at::detail::empty_cpu({2}, c10::TensorOptions(c10::kLong)))), c10::Error);
  EXPECT_EQ(generator.current_seed(), 7U);
}

TEST_F(DeviceTest, CloneIsIndependent) {
  const at::Generator generator = createGenerator(0);
  const at::Generator copy = generator.clone();
  impl(generator).philox_engine_inputs(8);
  EXPECT_EQ(copy.get_offset(), 0U);
  EXPECT_EQ(copy.device(), generator.device());
}

TEST_F(DeviceTest, GraphsafeStateIsShared) {
  const at::Generator generator = createGenerator(0);
  const at::Generator view = generator.graphsafe_get_state();
  impl(view).philox_engine_inputs(8);
  EXPECT_EQ(generator.get_offset(), 8U);
  at::Generator third = createGenerator(0);
  third.graphsafe_set_state(view);
  impl(third).philox_engine_inputs(8);
  EXPECT_EQ(generator.get_offset(), 16U);
  EXPECT_THROW(third.graphsafe_set_state(at::detail::createCPUGenerator()), c10::Error);
}

TEST_F(DeviceTest, DrawsFromManyThreadsNeverOverlap) {
  const at::Generator generator = createGenerator(0);
  std::vector<std::thread> threads;
  std::vector<std::vector<uint64_t>> offsets(4);
  for (auto& mine : offsets) {
    threads.emplace_back([&generator, &mine] {
      for (int i = 0; i < 1000; ++i) {
        mine.push_back(impl(generator).philox_engine_inputs(4).second);
      }
    });
  }
  std::set<uint64_t> all;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    all.insert(offsets[i].begin(), offsets[i].end());
  }
  EXPECT_EQ(all.size(), 4000U);
}

TEST_F(DeviceTest, DefaultGeneratorsStay) {
  const at::Generator& first = getDefaultGenerator(0);
  EXPECT_EQ(&first, &getDefaultGenerator(-1));
  EXPECT_EQ(first.device(), c10::Device(c10::DeviceType::PrivateUse1, 0));
  EXPECT_THROW(getDefaultGenerator(device_count()), c10::Error);
}

TEST_F(TwoDevicesTest, EachDeviceHasItsOwnDefault) {
  EXPECT_NE(getDefaultGenerator(0), getDefaultGenerator(1));
  EXPECT_EQ(getDefaultGenerator(1).device().index(), 1);
}

TEST_F(DeviceTest, HostDrawsDependOnSeedAndOffsetOnly) {
  at::Generator generator = createGenerator(0);
  std::set<uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    numbers.insert(first_number(generator));
  }
  EXPECT_EQ(numbers.size(), 1000U);
  EXPECT_EQ(generator.get_offset(), 4000U);
  generator.set_offset(40);
  const uint64_t again = first_number(generator);
  generator.set_offset(40);
  EXPECT_EQ(first_number(generator), again);
  EXPECT_EQ(numbers.count(again), 1U);
  generator.set_current_seed(c10::default_rng_seed_val + (uint64_t{1} << 32));  // the seed's upper half counts
  EXPECT_EQ(numbers.count(first_number(generator)), 0U);
  EXPECT_THROW(cpu_generator(at::detail::createCPUGenerator(), 0, 4), c10::Error);
}

TEST_F(DeviceTest, HostDrawsWithoutGeneratorUseTheDefault) {
  const uint64_t before = getDefaultGenerator(0).get_offset();
  EXPECT_TRUE(cpu_generator(std::nullopt, 0, 4).device().is_cpu());
  EXPECT_EQ(getDefaultGenerator(0).get_offset(), before + 4);
}

}  // namespace

}  // namespace openreg::test
