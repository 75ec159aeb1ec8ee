#include "diag/failure.h"
#include "base/text.h"
#include "system/files.h"
#include "tree/disk.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace openreg_gen {
namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::string& why) {
  throw Failure(Exit::Environment, "E0506", "cannot " + what + " " + path.string() + ": " + why);
}

void check(const std::error_code& error, const std::string& what, const fs::path& path) {
  if (error) fail(what, path, error.message());
}

void make_folder_of(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  check(error, "make the folder", file.parent_path());
}

/// Calls what puts `file` into its folder; makes the folder if that is what it lacks. Most files are not the first of
/// their folder.
template <typename Call>
int in_its_folder(const fs::path& file, const Call& call) {
  const int result = call();
  if (result >= 0 || errno != ENOENT) return result;
  make_folder_of(file);
  return call();
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

FileKind RealDisk::kind(const std::string& path) const {
  std::error_code error;
  switch (fs::symlink_status(root_ / path, error).type()) {
    case fs::file_type::not_found:
      return FileKind::None;
    case fs::file_type::regular:
      return FileKind::File;
    case fs::file_type::directory:
      return FileKind::Folder;
    case fs::file_type::symlink:
      return FileKind::Symlink;
    case fs::file_type::none:
      // A component that is a file: nothing can be there.
      if (error == std::errc::not_a_directory) return FileKind::None;
      fail("look at", root_ / path, error.message());
    default:
      return FileKind::Other;
  }
}

bool RealDisk::inside(const std::string& path) const {
  std::error_code error;
  if (canonical_.empty()) canonical_ = fs::canonical(root_, error);
  if (error) {
    canonical_.clear();
    return error == std::errc::no_such_file_or_directory;  // what does not exist has no symlinks
  }
  const fs::path target = fs::weakly_canonical(canonical_ / path, error);
  if (error) return false;
  return std::mismatch(canonical_.begin(), canonical_.end(), target.begin(), target.end()).first == canonical_.end();
}

std::string RealDisk::read(const std::string& path) const {
  const fs::path file = root_ / path;
  const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (fd.get() < 0 || fstat(fd.get(), &status) != 0) fail("read", file, std::strerror(errno));
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(size + 4096);
    const ssize_t n = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", file, std::strerror(errno));
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  bytes.resize(size);
  return bytes;
}

std::size_t RealDisk::size(const std::string& path) const {
  std::error_code error;
  const auto bytes = fs::file_size(root_ / path, error);
  check(error, "look at", root_ / path);
  return static_cast<std::size_t>(bytes);
}

bool RealDisk::writable(const std::string& path) const {
  std::error_code error;
  fs::path at = fs::absolute(root_ / path, error).lexically_normal();
  check(error, "look at", root_ / path);
  if (fs::is_regular_file(at, error)) return access(at.c_str(), W_OK) == 0;
  while (!fs::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  return access(at.c_str(), W_OK | X_OK) == 0;
}

void RealDisk::write(const std::string& path, std::string_view bytes, const std::string& like) {
  const fs::path file = root_ / path;
  const mode_t mode = bytes.starts_with("#!") ? 0777 : 0666;
  const auto create = [&] { return open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); };
  const Descriptor fd(in_its_folder(file, create));
  if (fd.get() < 0) fail("write", file, std::strerror(errno));
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", file, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  struct stat status{};
  if (!like.empty() && lstat((root_ / like).c_str(), &status) == 0 && S_ISREG(status.st_mode))
    fchmod(fd.get(), status.st_mode & 07777);
}

void RealDisk::rename(const std::string& from, const std::string& to) {
  make_folder_of(root_ / to);
  std::error_code error;
  fs::rename(root_ / from, root_ / to, error);
  check(error, "write", root_ / to);
}

void RealDisk::rename_new(const std::string& from, const std::string& to) {
  const fs::path a = root_ / from, b = root_ / to;
  const auto move = [&] { return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_NOREPLACE); };
  if (atomic_exchange && in_its_folder(b, move) == 0) return;
  if (!atomic_exchange) make_folder_of(b);
  if (atomic_exchange && errno != EINVAL && errno != ENOSYS) fail("write", b, std::strerror(errno));
  std::error_code error;
  if (fs::exists(fs::symlink_status(b, error))) fail("write", b, std::strerror(EEXIST));
  fs::rename(a, b, error);
  check(error, "write", b);
}

void RealDisk::exchange(const std::string& slot, const std::string& to) {
  const fs::path a = root_ / slot, b = root_ / to, third = root_ / (slot + ".swap");
  if (atomic_exchange && renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return;
  if (atomic_exchange && errno != EINVAL && errno != ENOSYS) fail("write", b, std::strerror(errno));
  std::error_code error;
  fs::create_hard_link(b, third, error);
  if (error) fs::copy_file(b, third, error);
  check(error, "copy", b);
  fs::rename(a, b, error);
  check(error, "write", b);
  fs::rename(third, a, error);
  check(error, "write", a);
}

void RealDisk::settle_swap(const std::string& slot) {
  if (kind(slot + ".swap") == FileKind::None) return;
  if (kind(slot) == FileKind::None) return rename(slot + ".swap", slot);
  remove(slot + ".swap");  // killed before anything changed its place
}

void RealDisk::sync(const std::vector<std::string>& paths) {
  constexpr std::size_t kOneByOne = 4;  // each costs a wait for the disk; beyond, one wait for all is quicker
  if (paths.size() > kOneByOne) {
    const Descriptor root(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0 || syncfs(root.get()) != 0) fail("write", root_, std::strerror(errno));
    return;
  }
  for (const std::string& path : paths) {
    const fs::path file = root_ / path;
    const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 && errno == ENOENT) continue;
    // Some file systems cannot sync a folder and say so with EINVAL.
    if (fd.get() < 0 || (fsync(fd.get()) != 0 && errno != EINVAL)) fail("write", file, std::strerror(errno));
  }
}

void RealDisk::remove(const std::string& path) {
  std::error_code error;
  fs::remove(root_ / path, error);
  check(error, "remove", root_ / path);
}

void RealDisk::prune(const std::string& folder) {
  for (fs::path at = folder; !at.empty(); at = at.parent_path())
    if (rmdir((root_ / at).c_str()) != 0) return;
}

void RealDisk::remove_all(const std::string& folder) {
  std::error_code error;
  fs::remove_all(root_ / folder, error);
  check(error, "remove", root_ / folder);
}

std::vector<std::string> RealDisk::list(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(root_ / folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  if (error && error != std::errc::no_such_file_or_directory) fail("list", root_ / folder, error.message());
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<void, void (*)(void*)> RealDisk::lock() {
  const auto unlock = [](void* held) { delete static_cast<Descriptor*>(held); };
  std::unique_ptr<void, void (*)(void*)> none(nullptr, unlock);
  // The folder itself is locked: no lock file is left behind, and a killed run holds nothing.
  auto held = std::make_unique<Descriptor>(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held->get() < 0) fail("open", root_, std::strerror(errno));
  while (flock(held->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return none;
    if (errno == EINTR) continue;
    throw Failure(Exit::Environment, "E0506", "cannot lock " + root_.string() + ": " + std::strerror(errno),
                  "use a file system with file locks, so that two runs never write at once");
  }
  return {held.release(), unlock};
}

int RealDisk::lock_holder() const {
  struct stat status{};
  if (stat(root_.c_str(), &status) != 0) return 0;
  return lock_holder_in(try_read_file("/proc/locks").value_or(""), status.st_dev, status.st_ino);
}

int lock_holder_in(const std::string& locks, dev_t device, ino_t inode) {
  // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"
  const std::string wanted = fmt::format("{:02x}:{:02x}:{}", major(device), minor(device), inode);
  for (const std::string_view line : split_lines(locks)) {
    std::istringstream words{std::string(line)};
    std::string number, kind, advisory, mode, where;
    int pid = 0;
    words >> number >> kind >> advisory >> mode >> pid >> where;
    if (kind == "FLOCK" && where == wanted) return pid;
  }
  return 0;
}

}  // namespace openreg_gen
