#include "catalog/python.h"

#include "catalog/cache.h"
#include "catalog/hash.h"
#include "diag/environment.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

extern char** environ;

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

bool is_dir(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// "python3.11" -> 11; -1 for anything else.
int minor_version(const std::string& name) {
  if (!name.starts_with("python3.")) return -1;
  const auto digits = name.substr(8);
  const bool number =
      !digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : -1;
}

/// Folders "python3.X" in `lib`, newest first.
std::vector<std::string> python_folders(const fs::path& lib) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(lib, error), end; !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    if (minor_version(name) >= 0) names.push_back(std::move(name));
  }
  std::ranges::sort(names, std::greater{}, minor_version);
  return names;
}

/// The value of a key of pyvenv.cfg; empty if there is none.
std::string pyvenv_value(const fs::path& prefix, std::string_view key) {
  std::ifstream file(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    auto name = line.substr(0, equals);
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name != key) continue;
    const auto value = line.find_first_not_of(" \t", equals + 1);
    return value == std::string::npos ? "" : line.substr(value, line.find_last_not_of(" \t\r") - value + 1);
  }
  return {};
}

void append(std::vector<fs::path>& to, std::vector<fs::path> more) {
  for (auto& path : more) {
    if (std::ranges::find(to, path) == to.end()) to.push_back(std::move(path));
  }
}

bool is_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char start[2] = {};
  return file.read(start, 2) && start[0] == '#' && start[1] == '!';
}

void add_file(Hash& hash, const fs::path& path) {
  std::error_code error;
  hash.add(path.string());
  hash.add(static_cast<std::uint64_t>(fs::last_write_time(path, error).time_since_epoch().count()));
}

/// Names all that steers a shim's choice: itself, pyenv's and asdf's settings, and the files they look for upwards.
std::string shim_key(const fs::path& shim) {
  Hash hash;
  add_file(hash, shim);
  for (const char* name : {"PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "VIRTUAL_ENV", "PATH"}) {
    hash.add(environment(name));
  }
  add_file(hash, shim.parent_path().parent_path() / "version");
  std::error_code error;
  for (auto dir = fs::current_path(error); !dir.empty(); dir = dir.parent_path()) {
    for (const char* name : {".python-version", ".tool-versions"}) {
      if (fs::exists(dir / name, error)) add_file(hash, dir / name);
    }
    if (dir == dir.root_path()) break;
  }
  return fmt::format("python-{:016x}.txt", hash.value());
}

std::vector<fs::path> existing_lines(const std::string& text) {
  std::vector<fs::path> result;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const fs::path line = text.substr(begin, end - begin);
    if (line.is_absolute() && is_dir(line)) append(result, {line});
    begin = end + 1;
  }
  return result;
}

std::vector<fs::path> ask_python(const fs::path& shim) {
  const auto key = shim_key(shim);
  if (const auto known = read_cache(key)) {
    if (auto dirs = existing_lines(*known); !dirs.empty()) return dirs;
  }
  const auto answer = output_of({shim.string(), "-I", "-c",
                                 "import site, sys\n"
                                 "print('\\n'.join(p for p in sys.path if p.endswith('-packages')))\n"
                                 "print(site.getusersitepackages())"});
  if (!answer.empty()) write_cache(key, answer);
  return existing_lines(answer);
}

}  // namespace

fs::path find_program(const std::string& name) {
  const auto path = environment("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const fs::path dir = path.substr(begin, end - begin);
    const auto candidate = dir / name;
    if (dir.is_absolute() && ::access(candidate.c_str(), X_OK) == 0 && !is_dir(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

std::vector<fs::path> site_packages_of_prefix(const fs::path& prefix, const std::string& python) {
  std::vector<fs::path> result;
  for (const auto& lib : {prefix / "lib", prefix / "lib64", prefix / "local/lib"}) {
    for (const auto& name : python_folders(lib)) {
      if (!python.empty() && name != python) continue;
      for (const char* kind : {"site-packages", "dist-packages"}) {
        if (is_dir(lib / name / kind)) append(result, {lib / name / kind});
      }
    }
  }
  if (const auto debian = prefix / "lib/python3/dist-packages"; is_dir(debian)) append(result, {debian});
  // A virtual environment may see its base's packages too, after its own.
  if (pyvenv_value(prefix, "include-system-site-packages") == "true") {
    if (const fs::path home = pyvenv_value(prefix, "home"); home.is_absolute()) {
      const auto own = python_folders(prefix / "lib");
      append(result, site_packages_of_prefix(home.parent_path(), own.empty() ? python : own.front()));
    }
  }
  return result;
}

std::vector<fs::path> site_packages_of_python(const fs::path& python) {
  std::error_code error;
  // A virtual environment is told by the path as called; resolving its link would lead to the base.
  const auto prefix = python.parent_path().parent_path();
  if (fs::exists(prefix / "pyvenv.cfg", error)) return site_packages_of_prefix(prefix);
  const auto real = fs::canonical(python, error);
  if (error) return {};
  if (is_script(real)) return ask_python(python);
  const auto name = real.filename().string();
  const std::string version = minor_version(name) >= 0 ? name : "";
  const auto real_prefix = real.parent_path().parent_path();
  std::vector<fs::path> result;
  if (const fs::path home = environment("HOME"); home.is_absolute()) {
    append(result, site_packages_of_prefix(home / ".local", version));  // pip install --user comes first on sys.path
  }
  append(result, site_packages_of_prefix(real_prefix, version));
  if (real_prefix == "/usr") append(result, site_packages_of_prefix("/usr/local", version));
  return result;
}

fs::path own_prefix() {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  for (auto dir = self.parent_path(); dir != dir.root_path() && !dir.empty(); dir = dir.parent_path()) {
    if (fs::exists(dir / "pyvenv.cfg", error)) return dir;
    const bool in_bin = dir.filename() == "bin";
    const auto prefix = dir.parent_path();
    if (in_bin && prefix != "/usr" && prefix != "/usr/local" && !python_folders(prefix / "lib").empty()) return prefix;
  }
  return {};
}

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  if (failed == 0) {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      if (output.size() < 65536) output.append(buffer, static_cast<std::size_t>(n));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) output.clear();
  }
  ::close(ends[0]);
  return output;
}

}  // namespace openreg_gen
