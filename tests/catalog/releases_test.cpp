#include "releases/releases.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

TEST(Releases, AVersionsMinorRelease) {
  EXPECT_EQ(torch_release("2.13"), TorchRelease(2, 13));
  EXPECT_EQ(torch_release("2.13.1+cpu"), TorchRelease(2, 13));
  EXPECT_EQ(torch_release("2.15.0a0+git1a2b"), TorchRelease(2, 15));
  EXPECT_EQ(torch_release("2.15.0.dev20260101"), TorchRelease(2, 15));
  for (const char* wrong : {"", "2", "2.", ".13", "unknown", "-2.13"})
    EXPECT_EQ(torch_release(wrong), std::nullopt) << wrong;
}

TEST(Releases, WhatPipIsAskedFor) {
  EXPECT_EQ(torch_requirement("2.13", "2.15"), ">=2.13,<2.16");
  EXPECT_EQ(torch_requirement("2.13.1", "2.13"), ">=2.13.1,<2.14");
  EXPECT_EQ(install_torch(), "pip install 'torch" + torch_requirement(kOldestTorch, kNewestTorch) + "'");
}

TEST(Releases, OperatorsThatNotEachReleaseHas) {
  const auto here = torch_release(built().torch_version()).value();
  EXPECT_EQ(find_op_release("add.Tensor"), nullptr);
  EXPECT_EQ(find_op_release("no_such_operator"), nullptr);
  EXPECT_EQ(find_op_release("cholesky")->until, "2.13");
  EXPECT_EQ(find_op_release("linalg_polar.out")->since, "2.14");
  // The table against the installed release: what it says of that must be so.
  for (const char* name :
       {"cholesky", "cholesky.out", "qr", "linalg_polar", "linalg_matrix_sqrth.out", "_scaled_addmm"}) {
    const OpRelease& row = *find_op_release(name);
    const bool expected =
        torch_release(row.since).value_or(here) <= here && here <= torch_release(row.until).value_or(here);
    EXPECT_EQ(built().find(name) != nullptr, expected) << name;
  }
}

}  // namespace
}  // namespace openreg_gen
