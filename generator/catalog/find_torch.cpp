#include "catalog/catalog.h"
#include "releases/releases.h"
#include "diag/failure.h"
#include "base/text.h"
#include "system/child.h"
#include "system/files.h"
#include "system/python.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

bool file_exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_torch(const fs::path& dir) { return file_exists(dir / "include/ATen/RegistrationDeclarations.h"); }

/// The torch package in one of these folders; empty if it is in none.
fs::path torch_in(const std::vector<fs::path>& site_packages) {
  for (const auto& dir : site_packages)
    if (is_torch(dir / "torch")) return dir / "torch";
  for (const auto& dir : site_packages) {
    for (const auto& added : pth_folders(dir))
      if (is_torch(added / "torch")) return added / "torch";
  }
  return {};
}

/// Every meaning that a folder given by hand may have.
fs::path torch_of_folder(const fs::path& dir) {
  if (is_torch(dir)) return dir;
  if (is_torch(dir / "torch")) return dir / "torch";
  if (auto found = torch_in(site_packages_of_prefix(dir)); !found.empty()) return found;
  if (file_exists(dir / "torchgen/packaged/ATen/native/native_functions.yaml")) return dir;
  return {};
}

/// Why a folder that the user named can't be used.
Failure unusable(const fs::path& dir) {
  if (!file_exists(dir)) {
    return {Exit::Environment, "E0401", dir.string() + ": no such folder",
            "name the folder of the torch package, of a virtual environment, or of a site-packages"};
  }
  if (std::error_code error; !fs::is_directory(dir, error)) {
    return {Exit::Environment, "E0401", dir.string() + ": a file, and no folder",
            "name the folder of the torch package, of a virtual environment, or of a site-packages"};
  }
  if (file_exists(dir / "version.py") && file_exists(dir / "__init__.py")) {
    return {Exit::Environment, "E0401", dir.string() + ": this PyTorch has no include/ATen/RegistrationDeclarations.h",
            "install the official wheel: `" + install_torch() + "`"};
  }
  return {Exit::Environment, "E0401", dir.string() + ": no PyTorch in this folder",
          "name the folder of the torch package, of a virtual environment, of a site-packages, or one that holds "
          "torchgen/packaged/ATen/native/native_functions.yaml"};
}

}  // namespace

fs::path find_torch(const std::optional<fs::path>& option) {
  std::error_code error;
  if (option) {
    auto found = torch_of_folder(*option);
    if (found.empty()) throw unusable(*option);
    return fs::weakly_canonical(found, error);
  }
  std::string tried;
  const auto note = [&](const std::string& place) { tried += "\n  " + place; };
  for (const auto& [variable, prefix] : active_environments()) {
    if (prefix.empty()) {
      note(fmt::format("${}: not set", variable));
      continue;
    }
    if (auto found = torch_in(site_packages_of_prefix(prefix)); !found.empty()) return found;
    note(fmt::format("${} = {}: no PyTorch there", variable, prefix.string()));
  }
  for (const char* name : {"python3", "python"}) {
    const auto python = find_program(name);
    if (python.empty()) {
      note(std::string(name) + ": not on PATH");
      continue;
    }
    if (auto found = torch_in(site_packages_of_python(python)); !found.empty()) return found;
    note(python.string() + ": it has no PyTorch");
  }
  if (const auto prefix = own_prefix(); !prefix.empty()) {
    if (auto found = torch_in(site_packages_of_prefix(prefix)); !found.empty()) return found;
    note(prefix.string() + " (where openreg-gen is installed): no PyTorch there");
  }
  throw Failure(Exit::Environment, "E0401", "no PyTorch found; looked at" + tried,
                "`" + install_torch() + "` in the active environment, or name one with --torch DIR");
}

}  // namespace openreg_gen
