#include "cli/doctor_checks.h"

#include "diag/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdlib.h>

namespace openreg_gen {
namespace {

using testing::HasSubstr, testing::Not;

const std::set<std::string> kOptional = {"ccache", "GoogleTest", "wheel", "pytest", "pytest-timeout", "expecttest"};

/// A machine of our own making: programs by name, and what they print by program and first argument.
struct Machine {
  std::map<std::string, std::string> version = {{"c++", "g++ (Debian) 12.2.0"},
                                                {"cmake", "cmake version 3.25.1\n"},
                                                {"ninja", "1.13.2.git"},
                                                {"ccache", "ccache version 4.7.5"}};
  std::string python =
      "python 3.11.7\njinja2 3.1.6\nsetuptools 84.2.1\nwheel 0.45.1\npytest 8.4.2\n"
      "pytest_timeout 2.4.0\nexpecttest 0.3.0\n";
  std::string standard = "202002L", backend;
  std::vector<std::filesystem::path> renderers;

  std::map<std::string, Check> checks() const {
    Probe probe;
    probe.find = [this](const std::string& name) -> std::filesystem::path {
      const bool there = version.contains(name) || (name == "python3" && !python.empty());
      return there ? "/bin/" + name : "";
    };
    probe.output = [this](const std::vector<std::string>& command) -> std::string {
      const auto name = std::filesystem::path(command[0]).filename().string();
      if (name == "python3") return python;
      if (name == "own-python") return "python 3.12.1\njinja2 3.1.4\n";
      if (command.back() == "/dev/null") return "#define __cplusplus " + standard + "\n";
      return version.at(name);
    };
    probe.renderers = [this] { return renderers; };
    probe.backend = backend;
    probe.torch = []() -> std::filesystem::path {
      throw Failure(Exit::Environment, "E0401", "no PyTorch found", "install it");
    };
    std::map<std::string, Check> result;
    for (auto& check : run_checks(probe)) result[check.name] = check;
    return result;
  }
};

class Doctor : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("CXX"); }
  Machine machine_;
};

TEST_F(Doctor, AWholeMachine) {
  const auto checks = machine_.checks();
  ASSERT_EQ(checks.size(), 14U);
  for (const auto& [name, check] : checks) EXPECT_EQ(check.ok, name != "PyTorch") << name;
  EXPECT_EQ(checks.at("C++ compiler").found, "gcc 12.2.0, /bin/c++, C++20");
  EXPECT_EQ(checks.at("ninja").found, "1.13.2, /bin/ninja");
  EXPECT_EQ(checks.at("PyTorch").problem, "no PyTorch found");
  EXPECT_EQ(checks.at("PyTorch").remedy, "install it");
}

TEST_F(Doctor, WhatIsMissingHasARemedy) {
  machine_.version.clear();
  machine_.python.clear();
  const auto checks = machine_.checks();
  for (const auto& [name, check] : checks) {
    EXPECT_FALSE(check.ok) << name;
    EXPECT_FALSE(check.problem.empty()) << name;
    EXPECT_THAT(check.remedy, testing::AnyOf(HasSubstr("install"), HasSubstr("pip"))) << name;
    EXPECT_EQ(check.required, !kOptional.contains(name)) << name;
  }
}

TEST_F(Doctor, PackagesOfTestsAreNotNeededToBuild) {
  machine_.python = "python 3.11.7\njinja2 3.1.6\nsetuptools 84.2.1\npytest 8.4.2\n";
  const auto checks = machine_.checks();
  EXPECT_TRUE(checks.at("pytest").ok);
  for (const std::string name : {"wheel", "pytest-timeout", "expecttest"}) {
    EXPECT_FALSE(checks.at(name).ok) << name;
    EXPECT_FALSE(checks.at(name).required) << name;
    EXPECT_EQ(checks.at(name).remedy, "/bin/python3 -m pip install " + name);
  }
}

TEST_F(Doctor, OldSetuptoolsNeedPackageWheel) {
  machine_.python = "python 3.11.7\njinja2 3.1.6\nsetuptools 65.5.0\n";
  EXPECT_EQ(machine_.checks().at("setuptools").problem, "older than 70.1");
  machine_.python += "wheel 0.45.1\n";
  EXPECT_TRUE(machine_.checks().at("setuptools").ok);
}

TEST_F(Doctor, AnOldCompiler) {
  machine_.standard = "201709L";  // g++ 10
  EXPECT_THAT(machine_.checks().at("C++ compiler").problem, HasSubstr("C++20"));
}

TEST_F(Doctor, OldTools) {
  machine_.version["cmake"] = "cmake version 3.16.3";
  machine_.python = "python 3.9.2\nsetuptools 52.0\n";
  const auto checks = machine_.checks();
  EXPECT_EQ(checks.at("CMake").problem, "older than 3.22");
  EXPECT_THAT(checks.at("Python").problem, HasSubstr("older than 3.10"));
  EXPECT_THAT(checks.at("Jinja2").problem, HasSubstr("cannot import it"));
  EXPECT_THAT(checks.at("Jinja2").remedy, HasSubstr("/bin/python3 -m pip install 'jinja2>=3.1'"));
  EXPECT_EQ(checks.at("setuptools").problem, "older than 70.1");
}

TEST_F(Doctor, TheRenderersOwnPythonMayHaveJinja) {
  machine_.python = "python 3.11.7\nsetuptools 84.2.1\n";
  EXPECT_FALSE(machine_.checks().at("Jinja2").ok);
  machine_.renderers = {"/bin/python3", "/opt/own-python"};
  EXPECT_EQ(machine_.checks().at("Jinja2").found, "3.1.4, /opt/own-python");
}

TEST_F(Doctor, TwoBackendsOfOneEnvironment) {
  EXPECT_EQ(machine_.checks().at("backends").found, "none installed, /bin/python3");
  machine_.python += "backend:torch_one:one 0.1.0+torch2.13\n";
  EXPECT_EQ(machine_.checks().at("backends").found, "'one' by torch_one 0.1.0+torch2.13, /bin/python3");
  machine_.python += "backend:torch_two:two 0.2.0\n";
  const Check two = machine_.checks().at("backends");
  EXPECT_FALSE(two.ok || two.required);
  EXPECT_EQ(two.found, "'one' by torch_one 0.1.0+torch2.13, 'two' by torch_two 0.2.0");
  EXPECT_THAT(two.remedy, HasSubstr("TORCH_DEVICE_BACKEND=one or two"));
  EXPECT_THAT(two.remedy, Not(HasSubstr("uninstall")));  // which one is wanted is not known
  for (const auto& [wanted, other] : {std::pair("one", "torch_two"), std::pair("two", "torch_one")}) {
    machine_.backend = wanted;
    const std::string remedy = machine_.checks().at("backends").remedy;
    EXPECT_THAT(remedy, testing::EndsWith(std::string("/bin/python3 -m pip uninstall ") + other));
    EXPECT_THAT(remedy, HasSubstr(std::string("TORCH_DEVICE_BACKEND=") + wanted + ";"));
  }
}

TEST_F(Doctor, AChosenCompilerThatIsNotThere) {
  ::setenv("CXX", "clang++-99", 1);
  EXPECT_THAT(machine_.checks().at("C++ compiler").problem, HasSubstr("$CXX = clang++-99"));
}

TEST(DoctorVersions, Compare) {
  EXPECT_EQ(compare_versions("3.9", "3.22"), -1);
  EXPECT_EQ(compare_versions("3.22", "3.22.1"), -1);
  EXPECT_EQ(compare_versions("3.22.0", "3.22"), 0);
  EXPECT_EQ(compare_versions("10", "9.9"), 1);
  EXPECT_EQ(compare_versions("2.13.0rc1", "2.13"), 0);
}

/// A machine with clinfo, which prints this.
std::vector<Check> opencl_checks(const std::string& raw, bool clinfo = true, bool headers = true) {
  Probe probe;
  probe.find = [=](const std::string& name) -> std::filesystem::path {
    return name == "clinfo" && !clinfo ? "" : "/bin/" + name;
  };
  probe.output = [=](const std::vector<std::string>& command) -> std::string {
    return command[0] == "/bin/clinfo" ? raw : headers ? "# 1 cl.h" : "";
  };
  auto checks = run_language_checks(probe, *find_kernel_language("opencl_c"));
  std::ranges::move(run_opencl_checks(probe), std::back_inserter(checks));
  return checks;
}

TEST_F(Doctor, OpenClDevicesAndWhatTheyLack) {
  const auto checks = opencl_checks(
      "  CL_PLATFORM_NAME   Some CL\n[SOME/*]   CL_PLATFORM_NAME   Some CL\n"
      "[SOME/0]  CL_DEVICE_NAME   One of them\n"
      "[SOME/0]  CL_DEVICE_COMPILER_AVAILABLE   CL_TRUE\n"
      "[SOME/0]  CL_DEVICE_SVM_CAPABILITIES   CL_DEVICE_SVM_COARSE_GRAIN_BUFFER\n"
      "[SOME/0]  CL_DEVICE_EXTENSIONS   cl_khr_fp64 cl_khr_fp16\n"
      "[SOME/1]  CL_DEVICE_NAME   Other\n[SOME/1]  CL_DEVICE_COMPILER_AVAILABLE   CL_FALSE\n");
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_TRUE(checks[0].ok);
  EXPECT_TRUE(checks[1].ok);
  EXPECT_EQ(checks[1].found, "One of them, Some CL\nwithout cl_khr_priority_hints (streams have one priority)");
  EXPECT_FALSE(checks[2].ok);
  EXPECT_EQ(checks[2].problem, "it doesn't have shared virtual memory (SVM) nor a compiler");
}

TEST_F(Doctor, WithoutOpenCl) {
  EXPECT_THAT(opencl_checks("", false).back().remedy, HasSubstr("install clinfo"));
  EXPECT_THAT(opencl_checks("").back().remedy, HasSubstr("pocl-opencl-icd"));
  EXPECT_TRUE(opencl_checks("").back().required);
  EXPECT_THAT(opencl_checks("", true, false).front().remedy, HasSubstr("opencl-headers"));
}

}  // namespace
}  // namespace openreg_gen
