// The one way to the file system for all that writes: rooted at a tree, so that tests run it in memory.
// Paths are relative to the root, with '/', already checked by check_path (tree/paths.h).
#pragma once

#include <cstdint>
#include <filesystem>
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
  /// False if a file cannot be put into this folder (or into its nearest existing parent).
  virtual bool writable(const std::string& folder) const = 0;
  /// Writes a new file, and makes the folders it needs. A text that starts with "#!" becomes executable.
  virtual void write(const std::string& path, std::string_view bytes) = 0;
  /// Replaces `to` at once; makes the folders it needs.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// A second copy of a file, with its time of change.
  virtual void copy(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& path) = 0;
  /// Removes a folder and its parents, as far as they are empty.
  virtual void prune(const std::string& folder) = 0;
  /// Removes a folder and all that is in it. Only ever asked for .openreg-gen/tmp.
  virtual void remove_all(const std::string& folder) = 0;
  /// Names in a folder, sorted; none if it does not exist.
  virtual std::vector<std::string> list(const std::string& folder) const = 0;
  /// Keeps other runs out of the tree until the result is destroyed; null if one is at work.
  virtual std::unique_ptr<void, void (*)(void*)> lock() = 0;
};

/// All of Disk's functions throw Failure(Environment, E0506) that names path and reason.
class RealDisk final : public Disk {
 public:
  explicit RealDisk(std::filesystem::path root) : root_(std::move(root)) {}  // need not exist yet
  FileKind kind(const std::string& path) const override;
  bool inside(const std::string& path) const override;
  std::string read(const std::string& path) const override;
  bool writable(const std::string& folder) const override;
  void write(const std::string& path, std::string_view bytes) override;
  void rename(const std::string& from, const std::string& to) override;
  void copy(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void prune(const std::string& folder) override;
  void remove_all(const std::string& folder) override;
  std::vector<std::string> list(const std::string& folder) const override;
  std::unique_ptr<void, void (*)(void*)> lock() override;

 private:
  std::filesystem::path root_;
  mutable std::filesystem::path canonical_;  // of root_, once it exists
};

}  // namespace openreg_gen
