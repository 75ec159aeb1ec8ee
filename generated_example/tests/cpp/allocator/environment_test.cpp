// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>

#include "allocator_fixture.h"

// PYTORCH_ALLOC_CONF is read once a process, so these tests start this program again.

namespace openreg::test {

namespace {

struct RunResult {
  int status;
  std::string output;
};

/// This program, with only the test that shows what the settings do, and PYTORCH_ALLOC_CONF.
RunResult run_with(const char* settings) {
  std::array<char, 4096> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) {
    return {-1, "no name of this program"};
  }
  const std::string command = "PYTORCH_ALLOC_CONF='" + std::string(settings) + "' '" + program.data() +
      "' --gtest_also_run_disabled_tests --gtest_filter='EnvironmentTest.DISABLED_TellsWhatSettingsDo' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {-1, "cannot start " + command};
  }
  std::string output;
  std::array<char, 4096> part{};
  while (const size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), got);
  }
  return {WEXITSTATUS(pclose(pipe)), output};
}

void expect(const RunResult& finished, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.status, 0) << finished.output;
  for (const std::string& part : parts) {
    EXPECT_NE(finished.output.find(part), std::string::npos) << part << " in " << finished.output;
  }
}

// Unlike AllocatorTest it leaves the settings alone.
class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) {
      GTEST_SKIP() << "no device";
    }
  }
};

TEST_F(EnvironmentTest, DISABLED_TellsWhatSettingsDo) {
  set_device(0);
  c10::DataPtr data;
  try {
    data = getDeviceAllocator()->allocate(1200 * 1024);
  } catch (const c10::Error& error) {
    std::cout << "refused: " << error.what_without_backtrace() << std::endl;
    return;
  }
  const SnapshotInfo info = getCachingAllocator()->snapshot({0, 0}, false);
  std::cout << "allocated " << stats().allocated_bytes[kAll].current << "\nlimit " << stats().max_split_size
            << "\nthreshold " << info.config_metadata.garbage_collection_threshold << "\nexpandable "
            << info.segments.at(0).is_expandable << "\nsettings " << getAllocatorSettings() << std::endl;
}

TEST_F(EnvironmentTest, DefaultsWithoutSettings) {
  expect(run_with(""), {"allocated 1228800\n", "limit -1\n", "threshold 0\n", "expandable 0\n"});
}

TEST_F(EnvironmentTest, SeveralSettings) {
  const char* settings = "max_split_size_mb:64,garbage_collection_threshold:0.5,roundup_power2_divisions:4";
  expect(run_with(settings), {"allocated 1310720\n", "limit 67108864\n", "threshold 0.5\n", settings});
}

TEST_F(EnvironmentTest, ExpandableSegments) {
  if (!segments_grow()) {
    GTEST_SKIP() << "no virtual memory";
  }
  expect(run_with("expandable_segments:True"), {"expandable 1\n"});
}

// By the first allocation, in PyTorch's words. Names it does not know it lets pass, as they may be another backend's.
TEST_F(EnvironmentTest, WrongValuesAreErrors) {
  expect(run_with("max_split_size_mb:1"), {"refused: ", "max_split_size_mb"});
  expect(run_with("garbage_collection_threshold:2"), {"refused: ", "garbage_collect_threshold is invalid"});
  expect(run_with("expandable_segments:Perhaps"), {"refused: ", "Perhaps"});
}

}  // namespace

}  // namespace openreg::test
