// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <ATen/ATen.h>

#include <stdexcept>

#include "aten/HostAlias.h"
#include "fixture.h"

namespace openreg::test {

namespace {

const at::TensorOptions kFloats = at::TensorOptions().dtype(at::kFloat).device(c10::DeviceType::PrivateUse1);

/// Skips where host functions can't reach device memory: there is nothing to alias then.
class HostAliasTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !aliasable()) {
      GTEST_SKIP() << "functions on this device's streams can't reach its memory";
    }
  }
};

at::Tensor on_device(const at::Tensor& tensor) { return tensor.to(at::Device(c10::DeviceType::PrivateUse1, 0)); }

TEST_F(HostAliasTest, HasTheBytesAndTheLayout) {
  const at::Tensor host = at::arange(24, at::kFloat).view({4, 6});
  const at::Tensor device = on_device(host).t().slice(0, 1, 5);
  const at::Tensor alias = host_alias(device, false);
  EXPECT_TRUE(alias.is_cpu());
  EXPECT_EQ(alias.sizes(), device.sizes());
  EXPECT_EQ(alias.strides(), device.strides());
  EXPECT_EQ(alias.storage_offset(), device.storage_offset());
  EXPECT_EQ(alias.const_data_ptr(), device.const_data_ptr());
  at::Tensor sum;
  run_on_worker([&] { sum = alias.sum(); });
  EXPECT_TRUE(at::equal(sum, host.t().slice(0, 1, 5).sum()));
}

TEST_F(HostAliasTest, WritesReachTheDevice) {
  at::Tensor device = on_device(at::ones({3, 4}));
  const at::Tensor alias = host_alias(device, true);
  run_on_worker([&] { alias.select(0, 1).mul_(5); });
  at::Tensor expected = at::ones({3, 4});
  expected.select(0, 1).mul_(5);
  EXPECT_TRUE(at::equal(device.cpu(), expected));
}

TEST_F(HostAliasTest, SharedStorageStaysShared) {
  const at::Tensor device = at::empty({8}, kFloats);
  HostAliases aliases;
  const at::Tensor whole = aliases.alias(device, true);
  const at::Tensor part = aliases.alias(device.slice(0, 2, 4), false);
  EXPECT_TRUE(whole.is_alias_of(part));
  EXPECT_FALSE(whole.is_alias_of(aliases.alias(at::empty({8}, kFloats), false)));
}

TEST_F(HostAliasTest, PendingConjugationAndNegationAreKept) {
  const at::Tensor host = at::randn({5}, at::kComplexFloat);
  const at::Tensor device = on_device(host).conj();
  const at::Tensor negative = at::imag(device);
  EXPECT_TRUE(host_alias(device, false).is_conj());
  EXPECT_TRUE(host_alias(negative, false).is_neg());
  at::Tensor sum;
  run_on_worker([&] { sum = host_alias(device, false).resolve_conj().clone(); });
  EXPECT_TRUE(at::equal(sum, host.conj().resolve_conj()));
}

TEST_F(HostAliasTest, ListsAndOptionals) {
  const at::Tensor device = at::ones({2}, kFloats);
  const at::Tensor host = at::ones({});
  HostAliases aliases;
  const c10::IValue list = aliases.alias(c10::IValue(c10::List<at::Tensor>({device, host})), false);
  EXPECT_TRUE(list.toTensorList().get(0).is_cpu());
  EXPECT_TRUE(list.toTensorList().get(1).is_same(host));
  c10::List<std::optional<at::Tensor>> optionals;
  optionals.push_back(std::nullopt);
  optionals.push_back(device);
  const c10::IValue aliased = aliases.alias(c10::IValue(optionals), false);
  EXPECT_FALSE(aliased.toOptionalTensorList().get(0).has_value());
  EXPECT_TRUE(aliased.toOptionalTensorList().get(1)->is_cpu());
  EXPECT_TRUE(optionals.get(1)->is_privateuseone());  // the caller's list is untouched
  EXPECT_EQ(aliases.alias(c10::IValue(device.device()), false).toDevice(), at::Device(at::kCPU));
  EXPECT_FALSE(aliases.alias(at::Tensor(), false).defined());
}

TEST_F(HostAliasTest, ErrorsAndWarningsReachTheHost) {
  EXPECT_THROW(run_on_worker([] { TORCH_CHECK(false, "no"); }), c10::Error);
  EXPECT_THROW(run_on_worker([] { throw std::out_of_range("no"); }), std::out_of_range);
  device_synchronize(0);  // and leave no error behind on the device

  struct Count final : c10::WarningHandler {
    void process(const c10::Warning&) override { ++warnings; }
    int warnings = 0;
  } count;
  {
    const c10::WarningUtils::WarningHandlerGuard listening(&count);
    run_on_worker([] { TORCH_WARN("once"); });
  }
  EXPECT_EQ(count.warnings, 1);
}

TEST_F(HostAliasTest, ResizedOutputsComeHome) {
  const at::Tensor device = at::empty({0}, kFloats);
  HostAliases aliases;
  at::Tensor alias = aliases.alias(device, true);
  const at::Tensor expected = at::arange(12, at::kFloat).view({3, 4});
  run_on_worker([&] { alias.resize_({3, 4}).copy_(expected); });
  EXPECT_EQ(aliases.update(), 48);
  EXPECT_TRUE(aliases.device_tensor(alias)->is_same(device));
  EXPECT_TRUE(at::equal(device.cpu(), expected));

  HostAliases again;
  const at::Tensor smaller = again.alias(device, true);
  run_on_worker([&] { smaller.resize_({2, 2}); });
  EXPECT_EQ(again.update(), 0);
  EXPECT_TRUE(at::equal(device.cpu(), expected.flatten().slice(0, 0, 4).view({2, 2})));
}

TEST_F(HostAliasTest, ViewsOfAnAliasAreViewsOnTheDevice) {
  const at::Tensor device = on_device(at::arange(6, at::kFloat).view({2, 3}));
  HostAliases aliases;
  const at::Tensor alias = aliases.alias(device, false);
  const auto column = aliases.device_tensor(alias.select(1, 1));
  ASSERT_TRUE(column.has_value());
  EXPECT_TRUE(column->is_privateuseone());
  EXPECT_TRUE(column->is_alias_of(device));
  column->fill_(9);
  EXPECT_EQ(device.cpu().sum().item<float>(), 0 + 9 + 2 + 3 + 9 + 5);
  EXPECT_FALSE(aliases.device_tensor(at::ones({2})).has_value());
}

TEST_F(HostAliasTest, ThreadsAndStreamsDoNotMeet) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      set_device(static_cast<c10::DeviceIndex>(t % device_count()));
      setCurrentStream(getStreamFromPool());
      const at::Tensor device = at::zeros({64}, kFloats);
      for (int i = 0; i < kRounds; ++i) {
        const at::Tensor alias = host_alias(device, true);
        run_on_worker([&] { alias.add_(1); });
      }
      good += at::equal(device.cpu(), at::full({64}, kRounds, at::kFloat)) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, kThreads);
}

TEST_F(HostAliasTest, QueuedFunctionsRunInOrder) {
  const at::Tensor device = at::zeros({4}, kFloats);
  const at::Tensor alias = host_alias(device, true);
  queue_on_worker([alias] { alias.add_(3); });
  queue_on_worker([alias] { alias.mul_(2); });
  EXPECT_TRUE(at::equal(device.cpu(), at::full({4}, 6, at::kFloat)));
}

}  // namespace

}  // namespace openreg::test
