// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <ATen/ATen.h>

#include <stdexcept>

#include "fixture.h"
#include "host/Tensors.h"
#include "host/alias/Alias.h"

namespace openreg::test {

namespace {

const at::TensorOptions kFloats = at::TensorOptions().dtype(at::kFloat).device(c10::DeviceType::PrivateUse1);

/// Skips where host functions can't reach device memory: there is nothing to alias then.
class HostAliasTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !native::kernels_reach_memory()) {
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

/// The tensors of a call, on the device's own memory and on copies.
class HostTensorsTest : public DeviceTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && GetParam() && !native::kernels_reach_memory()) {
      GTEST_SKIP() << "functions on this device's streams can't reach its memory";
    }
  }

  static std::unique_ptr<HostTensors> tensors_of_call() {
    return GetParam() ? std::unique_ptr<HostTensors>(std::make_unique<HostAliases>()) : std::make_unique<HostTensors>();
  }

  /// Runs fn(the host's tensors for `arguments`), all of which it may write.
  template <class Fn>
  std::vector<at::Tensor> run(HostTensors& tensors, const std::vector<at::Tensor>& arguments, Fn fn) {
    for (const at::Tensor& argument : arguments) {
      tensors.add(argument, true);
    }
    tensors.fetch();
    std::vector<at::Tensor> host;
    for (const at::Tensor& argument : arguments) {
      host.push_back(tensors.on_host(argument));
    }
    tensors.run([&] { fn(host); });
    tensors.update();
    return host;
  }
};

TEST_P(HostTensorsTest, WhatSharesMemoryStillDoes) {
  const at::Tensor device = at::zeros({8}, kFloats);
  const at::Tensor elsewhere = at::zeros({8}, kFloats);
  const auto tensors = tensors_of_call();
  const auto host = run(*tensors, {device, device.slice(0, 2, 4), elsewhere, device}, [](auto& given) {
    given[0].fill_(1);
    given[1].add_(1);
  });
  EXPECT_TRUE(host[0].is_alias_of(host[1]));
  EXPECT_FALSE(host[0].is_alias_of(host[2]));
  EXPECT_TRUE(host[0].is_same(host[3]));
  EXPECT_EQ(host[1].storage_offset() - host[0].storage_offset(), 2);
  EXPECT_EQ(device.cpu().sum().item<float>(), 10);
  EXPECT_EQ(elsewhere.cpu().sum().item<float>(), 0);
}

TEST_P(HostTensorsTest, OnlyElementsAreWritten) {
  const at::Tensor device = at::zeros({4, 6}, kFloats);
  const auto tensors = tensors_of_call();
  run(*tensors, {device.t().slice(0, 1, 6, 2)}, [](auto& given) { given[0].fill_(1); });
  at::Tensor expected = at::zeros({4, 6});
  expected.t().slice(0, 1, 6, 2).fill_(1);
  EXPECT_TRUE(at::equal(device.cpu(), expected));
}

TEST_P(HostTensorsTest, ResizedOutputsComeHome) {
  const at::Tensor device = at::empty({0}, kFloats);
  const at::Tensor expected = at::arange(12, at::kFloat).view({3, 4});
  const auto tensors = tensors_of_call();
  const auto host = run(*tensors, {device}, [&](auto& given) { given[0].resize_({3, 4}).copy_(expected); });
  EXPECT_TRUE(tensors->on_device(host[0]).is_same(device));
  EXPECT_TRUE(at::equal(device.cpu(), expected));
  const auto again = tensors_of_call();
  run(*again, {device}, [](auto& given) { given[0].resize_({2, 2}); });
  EXPECT_TRUE(at::equal(device.cpu(), expected.flatten().slice(0, 0, 4).view({2, 2})));
}

TEST_P(HostTensorsTest, ViewsAreViewsOnTheDevice) {
  const at::Tensor device = on_device(at::arange(12, at::kFloat).view({4, 3})).slice(0, 2, 4);
  const auto tensors = tensors_of_call();
  const auto host = run(*tensors, {device}, [](auto&) {});
  const at::Tensor column = tensors->on_device(host[0].select(1, 1));
  EXPECT_TRUE(column.is_privateuseone());
  EXPECT_TRUE(column.is_alias_of(device));
  column.fill_(1);
  EXPECT_EQ(device.cpu().sum().item<float>(), 6 + 1 + 8 + 9 + 1 + 11);
}

TEST_P(HostTensorsTest, NewResultsKeepTheirLayoutAndWhatTheyShare) {
  const auto tensors = tensors_of_call();
  const at::Tensor device = at::zeros({2}, kFloats);
  run(*tensors, {device}, [](auto&) {});
  const at::Tensor base = at::arange(12, at::kFloat);
  const at::Tensor whole = tensors->on_device(base.view({3, 4}).t());
  const at::Tensor part = tensors->on_device(base.slice(0, 4, 8));
  EXPECT_EQ(whole.strides(), at::IntArrayRef({1, 4}));
  EXPECT_TRUE(whole.is_alias_of(part));
  EXPECT_TRUE(at::equal(part.cpu(), base.slice(0, 4, 8)));
  EXPECT_TRUE(at::equal(whole.cpu(), base.view({3, 4}).t()));
}

TEST_P(HostTensorsTest, ListsAndOptionals) {
  const at::Tensor device = at::ones({2}, kFloats);
  const at::Tensor host = at::ones({});
  c10::List<std::optional<at::Tensor>> optionals;
  optionals.push_back(std::nullopt);
  optionals.push_back(device);
  const auto tensors = tensors_of_call();
  tensors->add(c10::IValue(optionals), false);
  tensors->fetch();
  const c10::IValue list = tensors->on_host(c10::IValue(c10::List<at::Tensor>({device, host})));
  EXPECT_TRUE(list.toTensorList().get(0).is_cpu());
  EXPECT_TRUE(list.toTensorList().get(1).is_same(host));
  const c10::IValue mapped = tensors->on_host(c10::IValue(optionals));
  EXPECT_FALSE(mapped.toOptionalTensorList().get(0).has_value());
  EXPECT_TRUE(mapped.toOptionalTensorList().get(1)->is_cpu());
  EXPECT_TRUE(optionals.get(1)->is_privateuseone());  // the caller's list is untouched
  EXPECT_EQ(tensors->on_host(c10::IValue(device.device())).toDevice(), at::Device(at::kCPU));
  EXPECT_FALSE(tensors->on_host(at::Tensor()).defined());
}

INSTANTIATE_TEST_SUITE_P(Access, HostTensorsTest, testing::Bool(),
    [](const auto& info) { return info.param ? "alias" : "copy"; });

}  // namespace

}  // namespace openreg::test
