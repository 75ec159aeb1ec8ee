#include "model/coverage.h"

#include "spec/minimal_ops.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

CoverageTable table(const std::string& rest) {
  Diagnostics diagnostics;
  Spec spec = parse_spec_text("backend: {name: dev}\n" + rest, "spec.yaml", diagnostics);
  const ResolvedSpec resolved = resolve(std::move(spec), catalog(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.all()[0].message;
  return cover(resolved);
}

std::string of(const CoverageTable& table, const std::string& op) {
  for (const auto& row : table.rows) {
    if (row.op->name == op) return std::string(to_string(row.coverage)) + ": " + row.how;
  }
  return "not there";
}

TEST(Coverage, EachOperatorHasOnePlace) {
  const auto all = table("");
  EXPECT_EQ(all.rows.size(), catalog().all().size());
  EXPECT_EQ(all.totals.all(), catalog().all().size());
  std::size_t sum = 0;
  for (const auto& [family, totals] : all.families) sum += totals.all();
  EXPECT_EQ(sum, catalog().all().size());
  for (const auto& row : all.rows) EXPECT_FALSE(row.how.empty()) << row.op->name;
}

TEST(Coverage, WhatTheSpecRegistersAndWhatFollows) {
  const auto all = table(
      "ops:\n  add.out: structured\n  relu: native\n  sub.Tensor: cpu_fallback\n"
      "  poisson: {strategy: unsupported, reason: no sampler}\n");
  EXPECT_EQ(of(all, "add.out"), "native: structured");
  EXPECT_EQ(of(all, "add.Tensor"), "delegate: through 'add.out'");
  EXPECT_EQ(of(all, "add_.Tensor"), "delegate: through 'add.out'");
  EXPECT_EQ(of(all, "relu"), "native: native");
  EXPECT_EQ(of(all, "empty_strided"), "native: minimal set");
  EXPECT_EQ(of(all, "sub.Tensor"), "fallback: cpu_fallback");
  EXPECT_EQ(of(all, "poisson"), "missing: unsupported: no sampler");
  EXPECT_EQ(of(all, "reshape"), "composite: calls other operators, gradients included");
  EXPECT_EQ(of(all, "relu.out"), "composite: calls other operators");
}

TEST(Coverage, WhereTheHostCannotReachTheMemoryFirstKernelsRunOnCopies) {
  const std::string relu = "device: {api: external}\nops: {relu: native, sub.Tensor: cpu_fallback}\n";
  const auto copies = table(relu), alias = table(relu + "components: {host_alias: true}\n");
  EXPECT_EQ(of(copies, "relu"), "native: native, which starts on the host, on copies");
  EXPECT_EQ(of(alias, "relu"), "native: native");
  EXPECT_EQ(of(copies, "sub.Tensor"), "fallback: cpu_fallback");
}

TEST(Coverage, TheRestFallsBackOrIsMissingForAReason) {
  const auto cpu = table("");
  EXPECT_EQ(of(cpu, "mm.out"), "fallback: by the CPU's kernel");
  EXPECT_EQ(of(cpu, "mm"), "fallback: through 'mm.out'");
  EXPECT_EQ(of(cpu, "bernoulli_.float"), "fallback: on the CPU, with the device's generator");
  EXPECT_EQ(of(cpu, "_cudnn_rnn"), "not-for-you: for another vendor's library");
  EXPECT_EQ(of(cpu, "record_stream"), "native: minimal set");
  EXPECT_EQ(of(cpu, "batch_norm_stats"), "missing: PyTorch has no CPU kernel for it");
  const auto none = table("fallback: none\n");
  EXPECT_EQ(of(none, "mm.out"), "missing: no kernel, and `fallback` is none");
  EXPECT_EQ(of(none, "mm"), "missing: through 'mm.out': no kernel, and `fallback` is none");
  EXPECT_EQ(of(cpu, "native_layer_norm"), "fallback: by the CPU's kernel");
  EXPECT_EQ(of(none, "native_layer_norm"), "composite: calls other operators");
  std::size_t otherwise = 0;
  for (const auto& row : cpu.rows)
    otherwise += is_decomposed_otherwise(row.op->name) || is_decomposed_otherwise(row.op->structured_delegate);
  EXPECT_GT(otherwise, 0U);
  EXPECT_EQ(none.totals.of(Coverage::Composite), cpu.totals.of(Coverage::Composite) + static_cast<int>(otherwise));
  EXPECT_GT(none.totals.of(Coverage::Missing), cpu.totals.of(Coverage::Missing));
}

TEST(Families, AreWhatPeopleLookFor) {
  const std::pair<const char*, const char*> expected[] = {
      {"add.Tensor", "pointwise"},
      {"add.out", "pointwise"},
      {"special_erf", "pointwise"},
      {"greater.Tensor", "pointwise"},
      {"sum.dim_IntList", "reduction"},
      {"argmax", "reduction"},
      {"mm.out", "linear algebra"},
      {"linalg_svd", "linear algebra"},
      {"convolution_overrideable", "convolution"},
      {"max_pool2d_with_indices", "pooling"},
      {"native_layer_norm", "normalization"},
      {"_softmax.out", "normalization"},
      {"_scaled_dot_product_flash_attention", "attention"},
      {"nll_loss_forward", "loss"},
      {"index_put_", "indexing"},
      {"embedding_dense_backward", "indexing"},
      {"sort.stable", "sorting and searching"},
      {"_foreach_add.Scalar", "foreach"},
      {"_fused_adamw_", "foreach"},
      {"bernoulli_.float", "random"},
      {"rand", "random"},
      {"empty.memory_format", "factory"},
      {"as_strided", "view"},
      {"view_copy", "view"},
      {"_fft_c2c", "fft"},
      {"_sparse_mm", "sparse"},
      {"quantize_per_tensor", "quantized"},
      {"_nested_tensor_size", "nested"},
      {"cudnn_convolution", "vendor library"},
      {"copy_", "copy"},
      {"lstm.input", "recurrent"},
      {"is_nonzero", "queries"},
  };
  for (const auto& [name, family] : expected) {
    const Op* op = catalog().find(name);
    ASSERT_NE(op, nullptr) << name;
    EXPECT_EQ(family_of(*op, catalog()), family) << name;
  }
}

}  // namespace
}  // namespace openreg_gen
