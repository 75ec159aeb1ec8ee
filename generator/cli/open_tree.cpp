#include "cli/open_tree.h"

#include "diag/failure.h"
#include "base/text.h"
#include "tree/journal.h"
#include "tree/paths.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace openreg_gen {
namespace {

[[noreturn]] void at_work(const RealDisk& disk, const fs::path& root) {
  const int pid = disk.lock_holder();
  throw Failure(Exit::No, "E0510",
                fmt::format("another openreg-gen is running in '{}'{}", root.string(),
                            pid ? fmt::format(", process {}", pid) : ""),
                "wait until it ends");
}

void report(const Recovery& recovery) {
  if (recovery.kind == Recovery::Kind::Finished)
    fmt::print(stderr, "note: an earlier run was interrupted while writing; it is finished now\n");
  if (recovery.kind != Recovery::Kind::TakenBack) return;
  fmt::print(stderr,
             "note: an earlier run was interrupted while writing; it was reverted, because a file was edited since\n");
  for (const std::string& path : recovery.edited) fmt::print(stderr, "  {}: left unchanged\n", path);
  if (!recovery.backup.empty()) fmt::print(stderr, "  the versions before your edits are in {}\n", recovery.backup);
}

void report(const LateWrites& late) {
  for (const std::string& path : late.paths)
    fmt::print(stderr, "note: somebody wrote to {} after the last run had replaced it; what they wrote is in {}{}\n",
               path, late.backup, path);
}

std::string path_in_tree(const fs::path& root, const std::string& path) {
  // Symlinks on the way to the tree do not matter, those inside it do: only the folder is resolved.
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  const fs::path given = fs::absolute(path, error).lexically_normal();
  for (const fs::path& candidate :
       {fs::weakly_canonical(given.parent_path(), error) / given.filename(), real_root / path}) {
    const fs::path relative = candidate.lexically_normal().lexically_relative(real_root);
    if (!relative.empty() && relative != "." && *relative.begin() != ".." &&
        fs::exists(fs::symlink_status(candidate, error))) {
      return relative.generic_string();
    }
  }
  const fs::path relative = (fs::path(path).is_absolute() ? given : fs::path(path)).lexically_normal();
  if (relative.is_absolute()) {
    throw Failure(Exit::BadInput, "E0530", "'" + path + "' is not in the tree '" + root.string() + "'",
                  "name a file of the tree");
  }
  return relative.generic_string();
}

}  // namespace

std::unique_ptr<void, void (*)(void*)> lock_tree(RealDisk& disk, const fs::path& root) {
  using namespace std::chrono_literals;
  // Short runs end, and a process that a killed run was about to start has the lock until it has started.
  const auto end = std::chrono::steady_clock::now() + 3s;
  auto lock = disk.lock();
  for (; !lock && std::chrono::steady_clock::now() < end; lock = disk.lock()) std::this_thread::sleep_for(10ms);
  if (!lock) at_work(disk, root);
  return lock;
}

OpenTree open_tree(const std::string& folder, Access access) {
  OpenTree tree{find_tree(folder), nullptr, {nullptr, [](void*) {}}, {}};
  tree.disk = std::make_unique<RealDisk>(tree.root);
  RealDisk& disk = *tree.disk;
  check_inside(disk, std::string(kStateFolder));
  check_inside(disk, std::string(kManifest));
  if (access == Access::Write) tree.lock = lock_tree(disk, tree.root);
  if (needs_recovery(disk)) {
    if (access == Access::Read) {
      if (!disk.lock()) at_work(disk, tree.root);
      throw Failure(Exit::No, "E0512", "an earlier run was interrupted in '" + tree.root.string() + "'",
                    "`openreg-gen generate` finishes it");
    }
    report(recover(disk));
    if (disk.kind(std::string(kManifest)) == FileKind::None) {
      throw Failure(Exit::BadInput, "E0502",
                    "'" + tree.root.string() + "' does not contain a backend: `new` was interrupted",
                    "run `openreg-gen new` again");
    }
  }
  if (access == Access::Write) report(keep_late_writes(disk));
  tree.manifest = parse_manifest(disk.read(std::string(kManifest)));
  return tree;
}

std::vector<std::string> paths_in_tree(const fs::path& root, const std::vector<std::string>& paths) {
  return mapped(paths, [&](const std::string& path) { return path_in_tree(root, path); });
}

}  // namespace openreg_gen
