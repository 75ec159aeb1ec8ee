// Files that serve no operator: what leads from registrations to them, and what does not.
#include "tree/unused.h"

#include "memory_disk.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using Paths = std::vector<std::string>;

class Unused : public testing::Test {
 protected:
  void add(const std::string& path, const std::string& text, FileClass file_class = FileClass::Generated) {
    disk_.files[path] = text;
    ManifestFile file;
    file.file_class = file_class;
    file.template_name = path + ".j2";
    file.key = "ops";
    manifest_.files[path] = file;
  }
  Paths unused() const { return unused_files(disk_, manifest_, linked_); }

  MemoryDisk disk_;
  Manifest manifest_;
  std::set<std::string> linked_;
};

TEST_F(Unused, WhatAKernelIncludesServesIt) {
  add("csrc/host/Loop.h", "#pragma once\n#include \"runtime/Stream.h\"\n");
  add("csrc/host/Loop.cpp", "#include \"host/Loop.h\"\n");
  add("csrc/aten/native/relu.cpp", "  #  include \"host/Loop.h\"\n", FileClass::Owned);
  EXPECT_EQ(unused(), Paths{});
  disk_.files["csrc/aten/native/relu.cpp"] = "#include \"mine.h\"\n";
  EXPECT_EQ(unused(), (Paths{"csrc/host/Loop.cpp", "csrc/host/Loop.h"}));
}

TEST_F(Unused, WhatOnlyUnusedFilesIncludeIsUnused) {
  add("csrc/host/Inner.h", "");
  add("csrc/host/Inner.cpp", "#include <vector>\n#include \"Inner.h\"\n");
  add("csrc/host/Outer.h", "#include \"Inner.h\"\n");
  EXPECT_EQ(unused(), (Paths{"csrc/host/Inner.cpp", "csrc/host/Inner.h", "csrc/host/Outer.h"}));
  disk_.files["csrc/aten/mine.cu"] = "#include \"host/Outer.h\"\n";  // not of the manifest
  EXPECT_EQ(unused(), Paths{});
}

TEST_F(Unused, ASourceOfItsOwnServesIfItRegistersOrHasNoHeaderHere) {
  add("csrc/aten/RegisterMinimal.cpp",
      "#include \"aten/native/Kernels.h\"\nTORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n");
  add("csrc/aten/native/Kernels.h", "");
  add("csrc/aten/native/Fill.cpp", "#include \"aten/native/Kernels.h\"\n#include \"host/Loop.h\"\n");
  add("csrc/host/Loop.h", "");
  add("csrc/aten/Errors.cpp", "#include \"runtime/Errors.h\"\n#include \"host/Named.h\"\n");
  add("csrc/host/Named.h", "");
  disk_.files["csrc/runtime/Errors.h"] = "";
  EXPECT_EQ(unused(), Paths{});
}

TEST_F(Unused, FunctionsThatAreCalledWithoutTheirHeaderServe) {
  add("csrc/host/Alias.h", "");
  add("csrc/host/Alias.cpp", "#include \"host/Alias.h\"\n");
  linked_ = {"csrc/host/Alias.h.j2", "csrc/host/Alias.cpp.j2"};
  EXPECT_EQ(unused(), Paths{});
}

TEST_F(Unused, FilesOfOtherFoldersAndOfTheOwnerAreNotNamed) {
  add("csrc/runtime/Old.h", "");
  add("csrc/host/Taken.h", "", FileClass::Owned);
  add("csrc/host/Left.h", "");
  manifest_.files["csrc/host/Left.h"].key.clear();  // the spec asks for it no longer: status says so elsewhere
  disk_.files["csrc/host/Mine.h"] = "";
  disk_.files["build/csrc/aten/Copy.h"] = "";
  EXPECT_EQ(unused(), Paths{});
}

TEST_F(Unused, ADeletedFileIsNotNamed) {
  add("csrc/host/Loop.h", "");
  disk_.files.clear();
  EXPECT_EQ(unused(), Paths{});
}

}  // namespace
}  // namespace openreg_gen
