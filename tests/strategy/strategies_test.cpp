#include "strategy/fit.h"

#include "catalog/stubs.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::HasSubstr;

StrategyFit fit(const char* name, const char* strategy) {
  const auto* op = installed().find(name);
  if (op == nullptr) throw std::runtime_error(name);
  const Strategy* found = find_strategy(strategy);
  if (found == nullptr) throw std::runtime_error(strategy);
  return fit_of(*found, *op);
}

TEST(Strategies, TheReferenceBackendsOwn) {
  EXPECT_TRUE(fit("maximum.out", "structured").fits);
  EXPECT_TRUE(fit("hypot.out", "pointwise").fits);
  EXPECT_TRUE(fit("abs.out", "stub").fits);
  EXPECT_TRUE(fit("relu", "native").fits);
  EXPECT_TRUE(fit("relu_", "pointwise").fits);
  EXPECT_TRUE(fit("sub.Tensor", "cpu_fallback").fits);
  EXPECT_TRUE(fit("poisson", "unsupported").fits);
  for (const auto& [op, strategy] : {std::pair{"maximum.out", "structured"}, {"relu", "native"}, {"abs.out", "stub"}}) {
    EXPECT_FALSE(fit(op, strategy).needs_override) << op;
  }
}

TEST(Strategies, DelegatesPointAtTheirOutForm) {
  for (const char* strategy : {"structured", "pointwise", "stub"}) {
    EXPECT_FALSE(fit("hypot", strategy).fits);
    EXPECT_THAT(fit("hypot", strategy).reason, HasSubstr("'hypot.out'"));
  }
  EXPECT_TRUE(fit("hypot", "native").fits);
}

TEST(Strategies, CpuFallbackNeedsAKernelOfTheCpu) {
  EXPECT_THAT(fit("reshape", "cpu_fallback").reason, HasSubstr("no CPU kernel for")) << "a view, though composite";
  EXPECT_THAT(fit("empty_strided", "cpu_fallback").reason, HasSubstr("on the CPU"));
  EXPECT_THAT(fit("poisson", "cpu_fallback").reason, HasSubstr("generator"));
  EXPECT_THAT(fit("record_stream", "cpu_fallback").reason, HasSubstr("no CPU kernel"));
  EXPECT_TRUE(fit("unfold", "cpu_fallback").fits) << "a view by a kernel of the CPU";
}

TEST(Strategies, CompositesWantOverride) {
  EXPECT_TRUE(fit("reshape", "native").needs_override);
  EXPECT_THAT(fit("reshape", "native").reason, HasSubstr("gradients"));
  EXPECT_FALSE(fit("_scaled_dot_product_fused_attention_overrideable_backward", "native").needs_override)
      << "its default only throws";
  EXPECT_FALSE(fit("transpose.int", "native").needs_override);
}

TEST(Strategies, PointwiseIsElementwise) {
  EXPECT_FALSE(fit("mm.out", "pointwise").fits);
  EXPECT_FALSE(fit("sum.IntList_out", "pointwise").fits);
  EXPECT_FALSE(fit("_foreach_add.List", "pointwise").fits);
  EXPECT_FALSE(fit("frexp.Tensor_out", "pointwise").fits);
  EXPECT_TRUE(fit("add.out", "pointwise").fits);
}

TEST(Strategies, InTreeKernelsAreThoseThatDevicesShare) {
  for (const char* op : {"abs.out", "sum.IntList_out", "where.self", "relu", "gather.out", "index.Tensor_out"})
    EXPECT_TRUE(fit(op, "in_tree").fits) << op << ": " << fit(op, "in_tree").reason;
  EXPECT_THAT(fit("mm.out", "in_tree").reason, HasSubstr("'mm_out_cpu' on the CPU, 'mm_out_cuda' on CUDA"));
  EXPECT_THAT(fit("exp", "in_tree").reason, HasSubstr("'exp.out'"));
  EXPECT_THAT(fit("uniform_", "in_tree").reason, HasSubstr("random"));
  EXPECT_THAT(fit("view", "in_tree").reason, HasSubstr("view"));
  EXPECT_THAT(fit("linear_backward", "in_tree").reason, HasSubstr("two kinds of devices"));
  EXPECT_THAT(fit("flip", "in_tree").reason, HasSubstr("doesn't know"));
}

TEST(Strategies, InTreeStubsAreKnownByTheirHeaders) {
  int ops = 0;
  for (const auto& op : installed().all()) {
    const auto stubs = in_tree_stubs(op.name);
    ops += stubs && fit(op.name.c_str(), "in_tree").fits;
    for (const auto& stub : stubs.value_or(std::vector<Stub>{})) {
      const auto header = installed().torch_dir() / "include" / stub.header();
      EXPECT_TRUE(std::filesystem::exists(header)) << op.name << " " << stub.name << " " << header;
    }
  }
  EXPECT_GE(ops, 270);
}

TEST(Strategies, ComparisonsKeepTheirOutputs) {
  EXPECT_TRUE(declared_stub("add_stub")->promotes());
  EXPECT_FALSE(declared_stub("complex_stub")->promotes());
  EXPECT_FALSE(declared_stub("index_stub")->promotes());
  EXPECT_TRUE(declared_stub("clamp_stub")->promotes());
}

TEST(Strategies, WhatOnlyLooksPointwiseIsRefused) {
  for (const char* op : {"mse_loss.out", "smooth_l1_loss.out"})
    EXPECT_THAT(fit(op, "pointwise").reason, HasSubstr("`reduction`")) << op;
  EXPECT_THAT(fit("glu.out", "pointwise").reason, HasSubstr("`dim`"));
  for (const char* op : {"gelu.out", "round.decimals_out", "threshold_backward.grad_input"})
    EXPECT_TRUE(fit(op, "pointwise").fits) << op << ": " << fit(op, "pointwise").reason;
}

TEST(Strategies, ReductionsFoldOneTensor) {
  for (const char* op : {"sum.IntList_out", "mean.out", "amax.out", "prod.int_out", "any.all_out"})
    EXPECT_TRUE(fit(op, "reduction").fits) << op << ": " << fit(op, "reduction").reason;
  EXPECT_THAT(fit("mm.out", "reduction").reason, HasSubstr("'mat2'"));
  EXPECT_THAT(fit("cumsum.out", "reduction").reason, HasSubstr("reduces nothing"));
  EXPECT_THAT(fit("aminmax.out", "reduction").reason, HasSubstr("one result"));
  for (const char* op : {"argmax.out", "argmin.out", "max.dim_max", "min.dim_min"}) {
    EXPECT_TRUE(fit(op, "reduction").fits) << op << ": " << fit(op, "reduction").reason;
    EXPECT_TRUE(picks(*installed().find(op))) << op;
  }
  EXPECT_THAT(fit("max.dim", "reduction").reason, HasSubstr("'max.dim_max'"));
  EXPECT_FALSE(picks(*installed().find("amax.out")));
  EXPECT_TRUE(fit("baddbmm.out", "matmul").fits);
  EXPECT_THAT(fit("bmm", "matmul").reason, HasSubstr("'bmm.out'"));
  EXPECT_TRUE(fit("dot", "matmul").fits);
  EXPECT_TRUE(fit("vdot", "matmul").fits);
  for (const char* op : {"linear", "mv", "matmul", "dot.out", "inner"})
    EXPECT_THAT(fit(op, "matmul").reason, HasSubstr("composes")) << op;
  EXPECT_FALSE(fit("add.out", "matmul").fits);
}

TEST(Strategies, EveryNoHasAReason) {
  for (const auto& op : installed().all()) {
    for (const auto& each : fitting_strategies(op)) {
      EXPECT_EQ(each.reason.empty(), each.fits && !each.needs_override) << op.name << " " << each.strategy->word;
    }
  }
  EXPECT_EQ(find_strategy("magic"), nullptr);
}

}  // namespace
}  // namespace openreg_gen
