// The only way to write to the file system: rooted at a tree, so that tests can run it in memory.
// Paths are relative to the root, with '/', already checked by check_path (tree/paths.h).
#pragma once

#include "system/files.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

enum class FileKind { None, File, Folder, Symlink, Other };

class Disk {
 public:
  virtual ~Disk() = default;
  /// Symlinks are not followed in the last component.
  virtual FileKind kind(const std::string& path) const = 0;
  /// False if following `path` (all of it) leads out of the root.
  virtual bool inside(const std::string& path) const = 0;
  virtual std::string read(const std::string& path) const = 0;
  virtual std::size_t size(const std::string& path) const = 0;
  /// For a file: it may be changed. For a folder or a missing path: a file can be created in it (or in its nearest
  /// existing parent).
  virtual bool writable(const std::string& path) const = 0;
  /// Writes a new file, and makes the folders it needs. It gets the permissions of the file `like`, if that exists;
  /// else a text that starts with "#!" becomes executable.
  virtual void write(const std::string& path, std::string_view bytes, const std::string& like) = 0;
  void write(const std::string& path, std::string_view bytes) { write(path, bytes, {}); }
  /// Replaces `to` at once; makes the folders it needs.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// As rename, but throws if `to` is there.
  virtual void rename_new(const std::string& from, const std::string& to) = 0;
  /// Exchanges two files. If the file system cannot do that atomically, a killed process may leave a third name, `slot`
  /// + ".swap", which settle_swap clears.
  virtual void exchange(const std::string& slot, const std::string& to) = 0;
  virtual void settle_swap(const std::string& slot) = 0;
  /// Returns once files and folders are on the disk itself.
  virtual void sync(const std::vector<std::string>& paths) = 0;
  virtual void remove(const std::string& path) = 0;
  /// Removes a folder and its parents, as far as they are empty.
  virtual void prune(const std::string& folder) = 0;
  /// Removes a folder and its contents. Only called for folders in .openreg-gen.
  virtual void remove_all(const std::string& folder) = 0;
  /// Names in a folder, sorted; none if it does not exist.
  virtual std::vector<std::string> list(const std::string& folder) const = 0;
  /// Locks the tree until the result is destroyed; null if another run holds the lock.
  virtual std::unique_ptr<void, void (*)(void*)> lock() = 0;
  /// The process that holds the lock; 0 if none does, or if the system does not say.
  virtual int lock_holder() const = 0;
};

/// All of Disk's functions throw Failure(Environment, E0506) that names path and reason.
class RealDisk : public Disk {
 public:
  explicit RealDisk(fs::path root) : root_(std::move(root)) {}  // need not exist yet
  FileKind kind(const std::string& path) const override;
  bool inside(const std::string& path) const override;
  std::string read(const std::string& path) const override;
  std::size_t size(const std::string& path) const override;
  bool writable(const std::string& path) const override;
  using Disk::write;
  void write(const std::string& path, std::string_view bytes, const std::string& like) override;
  void rename(const std::string& from, const std::string& to) override;
  void rename_new(const std::string& from, const std::string& to) override;
  void exchange(const std::string& slot, const std::string& to) override;
  void settle_swap(const std::string& slot) override;
  void sync(const std::vector<std::string>& paths) override;
  void remove(const std::string& path) override;
  void prune(const std::string& folder) override;
  void remove_all(const std::string& folder) override;
  std::vector<std::string> list(const std::string& folder) const override;
  std::unique_ptr<void, void (*)(void*)> lock() override;
  int lock_holder() const override;

  bool atomic_exchange = true;  // false: as on a file system that cannot exchange two names

 private:
  fs::path root_;
  mutable fs::path canonical_;  // of root_, once it exists
};

/// The process that holds a lock of flock() on a file, by the text of /proc/locks; 0 if none does. Inodes are only
/// unique within a device.
int lock_holder_in(const std::string& locks, dev_t device, ino_t inode);

}  // namespace openreg_gen
