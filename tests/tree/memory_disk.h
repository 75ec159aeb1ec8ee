// A Disk in memory that can be made to fail at its n-th change.
#pragma once

#include "diag/failure.h"
#include "tree/disk.h"
#include "tree/paths.h"
#include "tree/plan.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace openreg_gen {

class MemoryDisk final : public Disk {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, int> writes;       // how often a path was written or renamed to
  std::map<std::string, FileKind> others;  // symlinks, folders in a file's place
  std::set<std::string> read_only;         // folders
  std::set<std::string> outside;           // paths whose symlink leads out
  int fail_at = -1;                        // which change throws; counted from 0
  bool killed = false;                     // from then on every change throws: as if the process were gone

  FileKind kind(const std::string& path) const override {
    if (files.contains(path)) return FileKind::File;
    if (const auto at = others.find(path); at != others.end()) return at->second;
    const auto below = files.lower_bound(path + "/");
    return below != files.end() && below->first.starts_with(path + "/") ? FileKind::Folder : FileKind::None;
  }
  bool inside(const std::string& path) const override {
    for (std::string at = path; !at.empty(); at = folder_of(at)) {
      if (outside.contains(at)) return false;
    }
    return true;
  }
  std::string read(const std::string& path) const override { return files.at(path); }
  std::size_t size(const std::string& path) const override { return files.at(path).size(); }
  bool writable(const std::string& path) const override { return !read_only.contains(path); }
  using Disk::write;
  void write(const std::string& path, std::string_view bytes, const std::string&) override {
    change();
    files[path] = bytes;
    ++writes[path];
  }
  void rename(const std::string& from, const std::string& to) override {
    change();
    if (kind(from) == FileKind::Folder) return rename_folder(from, to);
    move(from, to);
  }
  void rename_new(const std::string& from, const std::string& to) override {
    change();
    if (kind(to) != FileKind::None) throw Failure(Exit::Environment, "E0506", "'" + to + "' is there");
    move(from, to);
  }
  void exchange(const std::string& slot, const std::string& to) override {
    change();
    std::swap(files.at(slot), files.at(to));
    ++writes[to];
    if (on_exchange) on_exchange(*this, to);
  }
  void settle_swap(const std::string&) override {}
  void sync(const std::vector<std::string>&) override {}
  void remove(const std::string& path) override {
    change();
    files.erase(path);
  }
  void prune(const std::string&) override {}
  void remove_all(const std::string& folder) override {
    change();
    std::erase_if(files, [&](const auto& file) { return file.first.starts_with(folder + "/"); });
  }
  std::vector<std::string> list(const std::string& folder) const override {
    std::set<std::string> names;
    const std::string prefix = folder.empty() ? "" : folder + "/";
    for (const auto& [path, text] : files) {
      if (path.starts_with(prefix))
        names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
    }
    return {names.begin(), names.end()};
  }
  std::unique_ptr<void, void (*)(void*)> lock() override {
    return {this, [](void*) {}};
  }
  int lock_holder() const override { return 0; }
  std::function<void(MemoryDisk&, const std::string&)> on_exchange;  // called after each: an editor at that moment

 private:
  void move(const std::string& from, const std::string& to) {
    files[to] = files.at(from);
    files.erase(from);
    ++writes[to];
  }
  void rename_folder(const std::string& from, const std::string& to) {
    std::map<std::string, std::string> moved;
    for (const auto& [path, text] : files) {
      if (path.starts_with(from + "/")) moved[to + path.substr(from.size())] = text;
    }
    std::erase_if(files, [&](const auto& file) { return file.first.starts_with(from + "/"); });
    files.merge(moved);
  }
  void change() {
    if (fail_at == 0 || killed) {
      if (fail_at == 0 && stay_dead) killed = true;
      fail_at = -1;
      throw Failure(Exit::Environment, "E0506", "no space left");
    }
    if (fail_at > 0) --fail_at;
  }

 public:
  bool stay_dead = false;
};

/// An output as a template would give it.
struct FileOf {
  std::string path, text;
  FileClass file_class = FileClass::Generated;
};

}  // namespace openreg_gen
