// What is read of Python without importing it.
#include "api/compare.h"
#include "api/python.h"
#include "files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Python, NamesOfAModule) {
  const PythonModule module = read_python(R"(
"""import no, of, text"""
import os, torch.utils.data as data
from .codegen import (A, B as C,  # comment
    D)
from torch.x import *
a, b = 1, 2
if a:
    c: int = 3
else:
    async def d(x): e = 4
class F(A, data.G[int], metaclass=H):
    g = 1
    def h(self, x, *, y=(1, 2)):
        i = 2
    class J: k = 1
)",
                                          "torch.m.n", false);
  EXPECT_THAT(module.names, UnorderedElementsAre("os", "data", "A", "C", "D", "a", "b", "c", "d", "F"));
  EXPECT_EQ(module.imported.at("C"), "torch.m.codegen:B");
  EXPECT_EQ(module.imported.at("data"), "torch.utils.data");
  EXPECT_THAT(module.stars, ElementsAre("torch.x"));
  EXPECT_THAT(module.classes.at("F").bases, ElementsAre("A", "data.G"));
  EXPECT_EQ(module.classes.at("F").methods.at("h"), "self, x, *, y=(1, 2)");
  EXPECT_FALSE(module.any);
  EXPECT_TRUE(read_python("def __getattr__(name): ...", "torch.m", false).any);
}

constexpr const char* kIr =
    "class Base:\n    def low(self, x): ...\nclass Node(Base):\n    def high(self): ...\ndef make(): ...\n";
constexpr const char* kPackage = R"(from torch._inductor import ir, config as settings
from torch._inductor.ir import Node
import torch

class Mine(Node):
    def low(self, x): return settings.debug
    def high(self): return ir.make() + torch._inductor.ir.make()
)";

ApiDrift compare(const std::string& ir, const std::string& config) {
  const TempDir before, after;
  for (const TempDir* dir : {&before, &after}) {
    dir->write("__init__.py", "");
    dir->write("_inductor/__init__.py", "");
  }
  before.write("_inductor/ir.py", kIr);
  before.write("_inductor/config.py", "debug = False\n");
  if (!ir.empty()) after.write("_inductor/ir.py", ir);
  if (!config.empty()) after.write("_inductor/config.py", config);
  ApiDrift drift;
  compare_python({{"mine/_inductor/kernels.py", kPackage}}, before.path(), after.path(), "1.1", drift);
  return drift;
}
std::vector<std::string> told_of_python(const ApiDrift& drift) {
  std::vector<std::string> out;
  for (const Difference& each : drift.differences)
    out.push_back((each.what.severity == Severity::Error ? "breaks " : "note ") + each.change + " " + each.name + " " +
                  std::to_string(each.what.at.line));
  return out;
}

TEST(Python, WhatAPackageUsesOfPyTorch) {
  const std::string same = kIr, debug = "debug = False\n";
  EXPECT_THAT(told_of_python(compare(same, debug)), IsEmpty());
  EXPECT_THAT(told_of_python(compare(same, "verbose = False\n")),
              ElementsAre("breaks gone torch._inductor.config.debug 6"));
  EXPECT_THAT(told_of_python(compare(same, "")), ElementsAre("breaks gone torch._inductor.config 1"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = same;
    return told_of_python(compare(text.replace(text.find(from), from.size(), to), debug));
  };
  EXPECT_THAT(with("def make", "def build"), ElementsAre("breaks gone torch._inductor.ir.make 7"));
  EXPECT_THAT(with("def low(self, x)", "def low(self, x, y)"),
              ElementsAre("note changed torch._inductor.ir.Node.low 6"));
  EXPECT_THAT(with("def high", "def higher"), ElementsAre("note gone torch._inductor.ir.Node.high 7"));
  EXPECT_THAT(with("class Node(Base)", "class Other(Base)"), ElementsAre("breaks gone torch._inductor.ir.Node 2"));
}

}  // namespace
}  // namespace openreg_gen::api
