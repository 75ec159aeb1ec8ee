#include "catalog/catalog.h"
#include "system/child.h"
#include "releases/releases.h"
#include "diag/failure.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::HasSubstr;

/// An environment in which nothing of the machine's own is found.
class FindTorch : public testing::Test {
 protected:
  /// A torch package with its one file in a site-packages; returns the package's folder.
  std::filesystem::path package(const std::string& site_packages) const {
    dir_.write(site_packages + "/torch/include/ATen/RegistrationDeclarations.h", "");
    return std::filesystem::canonical(dir_.path() / site_packages / "torch");
  }
  std::filesystem::path executable(const std::string& name, const std::string& text) const {
    const auto path = dir_.write(name, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string failure(const std::optional<std::filesystem::path>& option) const {
    try {
      return "found " + find_torch(option).string();
    } catch (const Failure& f) {
      EXPECT_EQ(f.exit(), Exit::Environment);
      EXPECT_EQ(f.code(), "E0401");
      hint_ = f.hint();
      return f.what();
    }
  }
  TempDir dir_;
  mutable std::string hint_;
  ScopedEnv venv_{"VIRTUAL_ENV", nullptr}, conda_{"CONDA_PREFIX", nullptr}, path_{"PATH", "/nowhere"};
  ScopedEnv home_{"HOME", dir_.path()}, cache_{"XDG_CACHE_HOME", nullptr};
};

TEST_F(FindTorch, TakesEachKindOfFolder) {
  const auto torch = package("venv/lib/python3.11/site-packages");
  EXPECT_EQ(find_torch(torch), torch);
  EXPECT_EQ(find_torch(torch.parent_path()), torch);
  EXPECT_EQ(find_torch(dir_.path() / "venv"), torch);
  dir_.write("data/torchgen/packaged/ATen/native/native_functions.yaml", "");
  EXPECT_EQ(find_torch(dir_.path() / "data"), std::filesystem::canonical(dir_.path() / "data"));
}

TEST_F(FindTorch, SaysWhyAFolderDoesNotServe) {
  EXPECT_THAT(failure(dir_.path() / "none"), HasSubstr("no such folder"));
  EXPECT_THAT(failure(dir_.path()), HasSubstr("no PyTorch in this folder"));
  dir_.write("bare/version.py", "");
  dir_.write("bare/__init__.py", "");
  EXPECT_THAT(failure(dir_.path() / "bare"), HasSubstr("has no include/ATen/RegistrationDeclarations.h"));
  EXPECT_THAT(hint_, HasSubstr(install_torch()));
}

TEST_F(FindTorch, PrefersTheActiveEnvironment) {
  const auto venv = package("venv/lib/python3.11/site-packages");
  const auto conda = package("conda/lib/python3.12/site-packages");
  const ScopedEnv c("CONDA_PREFIX", dir_.path() / "conda");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), conda);
  const ScopedEnv v("VIRTUAL_ENV", dir_.path() / "venv");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), venv);
}

TEST_F(FindTorch, ReadsAVirtualEnvironmentBehindThePython) {
  const auto torch = package("venv/lib/python3.11/site-packages");
  dir_.write("venv/pyvenv.cfg", "home = /usr/bin\n");
  std::filesystem::create_directories(dir_.path() / "venv/bin");
  std::filesystem::create_symlink("/bin/true", dir_.path() / "venv/bin/python3");  // would answer nothing if started
  const ScopedEnv path("PATH", dir_.path() / "venv/bin");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), torch);
}

TEST_F(FindTorch, ReadsTheBaseBehindAVirtualEnvironment) {
  const auto torch = package("base/lib/python3.11/site-packages");
  std::filesystem::create_directories(dir_.path() / "venv/lib/python3.11/site-packages");
  const auto home = (dir_.path() / "base/bin").string();
  dir_.write("venv/pyvenv.cfg", "home = " + home + "\ninclude-system-site-packages = true\n");
  const ScopedEnv venv("VIRTUAL_ENV", dir_.path() / "venv");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), torch);
  dir_.write("venv/pyvenv.cfg", "home = " + home + "\ninclude-system-site-packages = false\n");
  EXPECT_THAT(failure({}), HasSubstr("no PyTorch found"));
}

TEST_F(FindTorch, FollowsPthFiles) {
  const auto torch = package("elsewhere");
  const auto elsewhere = (dir_.path() / "elsewhere").string();
  dir_.write("venv/lib/python3.11/site-packages/base.pth", "import sys\n# a comment\n" + elsewhere + "\n");
  const ScopedEnv venv("VIRTUAL_ENV", dir_.path() / "venv");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), torch);
}

TEST_F(FindTorch, FollowsAPlainPythonToItsOwnVersion) {
  package("prefix/lib/python3.12/site-packages");
  const auto torch = package("prefix/lib/python3.11/site-packages");
  executable("prefix/bin/python3.11",
             "\x7f"
             "ELF");
  std::filesystem::create_symlink("python3.11", dir_.path() / "prefix/bin/python3");
  const ScopedEnv path("PATH", dir_.path() / "prefix/bin");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), torch);
}

TEST_F(FindTorch, FindsWhatDebianAndPipUserInstalled) {
  std::filesystem::create_directories(dir_.path() / "prefix/bin");
  executable("prefix/bin/python3.11",
             "\x7f"
             "ELF");
  std::filesystem::create_symlink("python3.11", dir_.path() / "prefix/bin/python3");
  const ScopedEnv path("PATH", dir_.path() / "prefix/bin");
  const auto debian = package("prefix/lib/python3/dist-packages");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), debian);
  const auto user = package(".local/lib/python3.11/site-packages");
  EXPECT_EQ(std::filesystem::canonical(find_torch({})), user);
}

TEST_F(FindTorch, AsksAShimOnceAndRemembers) {
  const auto torch = package("real/lib/python3.11/site-packages");
  const auto log = dir_.path() / "started";
  executable("shims/python3",
             "#!/bin/sh\necho once >> " + log.string() + "\necho " + torch.parent_path().string() + "\n");
  const ScopedEnv path("PATH", dir_.path() / "shims");
  const ScopedEnv cache("XDG_CACHE_HOME", dir_.path() / "cache");
  const ScopedEnv on("OPENREG_GEN_NO_CACHE", nullptr);
  EXPECT_EQ(find_torch({}), torch);
  EXPECT_EQ(find_torch({}), torch);
  std::ifstream file(log);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, "once\n");
}

TEST_F(FindTorch, TellsAllThatWasTried) {
  executable("bin/python3", "#!/bin/sh\nexit 1\n");
  const ScopedEnv path("PATH", dir_.path() / "bin");
  const ScopedEnv venv("VIRTUAL_ENV", dir_.path() / "gone");
  const auto text = failure({});
  EXPECT_THAT(text, HasSubstr("$VIRTUAL_ENV = " + (dir_.path() / "gone").string() + ": no PyTorch there"));
  EXPECT_THAT(text, HasSubstr("$CONDA_PREFIX: not set"));
  EXPECT_THAT(text, HasSubstr((dir_.path() / "bin/python3").string() + ": it has no PyTorch"));
  EXPECT_THAT(text, HasSubstr("python: not on PATH"));
  EXPECT_THAT(hint_, HasSubstr(install_torch()));
}

TEST_F(FindTorch, RunsNoShell) {
  EXPECT_EQ(output_of({"/bin/echo", "$HOME; ls"}), "$HOME; ls\n");
  EXPECT_EQ(output_of({"/nowhere/program"}), "");
  EXPECT_EQ(output_of({"/bin/false"}), "");
}

}  // namespace
}  // namespace openreg_gen
