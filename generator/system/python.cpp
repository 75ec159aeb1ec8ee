#include "system/python.h"

#include "base/environment.h"
#include "base/text.h"
#include "system/cache.h"
#include "system/child.h"
#include "system/hash.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

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
  const auto text = try_read_file(prefix / "pyvenv.cfg").value_or("");
  for (const std::string_view line : split_lines(text)) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && trimmed(line.substr(0, equals)) == key)
      return std::string(trimmed(line.substr(equals + 1)));
  }
  return {};
}

void append(std::vector<fs::path>& to, std::vector<fs::path> more) {
  for (auto& path : more)
    if (!contains(to, path)) to.push_back(std::move(path));
}

bool is_script(const fs::path& path) { return try_read_file(path, 2) == "#!"; }

void add_file(Hash& hash, const fs::path& path) {
  std::error_code error;
  hash.add(path.string());
  hash.add(static_cast<std::uint64_t>(fs::last_write_time(path, error).time_since_epoch().count()));
}

/// Names all that steers a shim's choice: itself, pyenv's and asdf's settings, and the files they look for upwards.
std::string shim_key(const fs::path& shim) {
  Hash hash;
  add_file(hash, shim);
  for (const char* name : {"PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "VIRTUAL_ENV", "PATH"})
    hash.add(environment(name));
  add_file(hash, shim.parent_path().parent_path() / "version");
  std::error_code error;
  for (auto dir = fs::current_path(error); !dir.empty(); dir = dir.parent_path()) {
    for (const char* name : {".python-version", ".tool-versions"})
      if (fs::exists(dir / name, error)) add_file(hash, dir / name);
    if (dir == dir.root_path()) break;
  }
  return fmt::format("python-{:016x}.txt", hash.value());
}

std::vector<fs::path> existing_lines(const std::string& text) {
  std::vector<fs::path> result;
  for (const fs::path line : split_lines(text))
    if (line.is_absolute() && is_dir(line)) append(result, {line});
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

std::vector<ActiveEnvironment> active_environments() {
  return {{"VIRTUAL_ENV", environment("VIRTUAL_ENV")}, {"CONDA_PREFIX", environment("CONDA_PREFIX")}};
}

std::vector<fs::path> python_candidates() {
  std::vector<fs::path> list;
  if (const fs::path chosen = environment("OPENREG_GEN_PYTHON"); !chosen.empty()) {
    list.push_back(chosen);
  } else {
    for (const auto& [variable, prefix] : active_environments()) append(list, {prefix / "bin/python"});
    append(list, find_programs("python3"));
    if (const fs::path own = executable_path(); !own.empty()) append(list, {own.parent_path() / "python3"});
  }
  std::erase_if(list, [](const fs::path& path) { return !is_program(path); });
  return list;
}

fs::path executable_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : path;
}

std::vector<fs::path> site_packages_of_prefix(const fs::path& prefix, const std::string& python) {
  std::vector<fs::path> result;
  for (const auto& lib : {prefix / "lib", prefix / "lib64", prefix / "local/lib"}) {
    for (const auto& name : python_folders(lib)) {
      if (!python.empty() && name != python) continue;
      for (const char* kind : {"site-packages", "dist-packages"})
        if (is_dir(lib / name / kind)) append(result, {lib / name / kind});
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

std::vector<fs::path> pth_folders(const fs::path& site_packages) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(site_packages, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".pth") files.push_back(at->path());
  std::ranges::sort(files);
  std::vector<fs::path> folders;
  for (const auto& file : files) {
    const auto text = try_read_file(file).value_or("");
    for (const std::string_view line : split_lines(text)) {
      if (line.empty() || line[0] == '#' || line.starts_with("import ")) continue;
      folders.push_back(site_packages / line);
    }
  }
  return folders;
}

std::vector<fs::path> site_packages_of_python(const fs::path& python) {
  std::error_code error;
  // A virtual environment is recognised by the path as called; resolving its link would lead to the base.
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
  for (auto dir = executable_path().parent_path(); dir != dir.root_path() && !dir.empty(); dir = dir.parent_path()) {
    if (fs::exists(dir / "pyvenv.cfg", error)) return dir;
    const bool in_bin = dir.filename() == "bin";
    const auto prefix = dir.parent_path();
    if (in_bin && prefix != "/usr" && prefix != "/usr/local" && !python_folders(prefix / "lib").empty()) return prefix;
  }
  return {};
}

}  // namespace openreg_gen
