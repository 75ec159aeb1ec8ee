// The beginning of every verb that works on a tree: find it, lock it, recover from a killed run.
#pragma once

#include "system/files.h"
#include "tree/disk.h"
#include "tree/manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace openreg_gen {

enum class Access { Read, Write };

struct OpenTree {
  fs::path root;
  std::unique_ptr<RealDisk> disk;
  std::unique_ptr<void, void (*)(void*)> lock;  // held with Access::Write
  Manifest manifest;
};

/// The tree around `folder` (empty: the current one). Access::Write locks it, and finishes or reverts an interrupted
/// run, which is reported on stderr. Throws Failure: no tree (E0502), a broken manifest (E0507), another
/// running openreg-gen (E0510, with its process), and with Access::Read an interrupted run (E0512).
OpenTree open_tree(const std::string& folder, Access access);

/// Locks a tree; waits some seconds for another run. Throws Failure(No, E0510) that names its process.
std::unique_ptr<void, void (*)(void*)> lock_tree(RealDisk& disk, const fs::path& root);

/// Paths as their user wrote them, relative to the current folder or to the tree, as the tree has them. Throws
/// Failure(BadInput, E0530) if one is outside.
std::vector<std::string> paths_in_tree(const fs::path& root, const std::vector<std::string>& paths);

}  // namespace openreg_gen
