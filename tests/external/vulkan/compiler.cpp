// Compiles GLSL to SPIR-V with glslangValidator (Debian: glslang-tools). The compiler is a child process, so that a
// crash or a hang of it is an error and nothing worse. Compiled programs are kept on the disk. Environment:
//   MYBACKEND_PROGRAM_CACHE  the directory for them (default: ~/.cache/mybackend_programs); empty: nothing is kept
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "vulkan.h"

extern char** environ;

namespace mybackend::port {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kCompiler = "glslangValidator";
constexpr std::chrono::seconds kTimeout{120};
constexpr uint32_t kMagic = 0x07230203;

/// A temporary directory.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "mybackend-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Failure(mybackendErrorUnknown, "no temporary directory can be made: " + pattern);
    path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path path;
};

/// Splits the options, which must all define or undefine macros.
std::vector<std::string> macros(const std::string& options) {
  std::vector<std::string> found;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (word.rfind("-D", 0) != 0 && word.rfind("-U", 0) != 0)
      throw Failure(mybackendErrorInvalidValue, "an unknown option: " + word);
    found.push_back(word);
  }
  return found;
}

/// Reads what the process prints until it ends. Kills it after kTimeout.
std::string output_of(int pipe, pid_t process) {
  std::string text;
  const auto deadline = Clock::now() + kTimeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{pipe, POLLIN, 0};
    if (left <= 0 || (poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR)) {
      kill(process, SIGKILL);
      return text + "the compiler was stopped: it took too long\n";
    }
    char bytes[4096];
    if ((wait.revents & (POLLIN | POLLHUP)) == 0) continue;
    const ssize_t count = read(pipe, bytes, sizeof(bytes));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
  }
}

/// Runs a command in a directory and returns what it prints.
std::string run(std::vector<std::string> command, const std::string& folder) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) throw Failure(mybackendErrorUnknown, "no pipe to the compiler");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  std::string text;
  if (failed == 0) text = output_of(pipe[0], process);
  close(pipe[0]);
  if (failed != 0)
    throw Failure(mybackendErrorNotSupported,
                  std::string(kCompiler) + " cannot be run; Debian has it in glslang-tools");
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

std::vector<uint32_t> read_words(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

std::vector<uint32_t> compile_anew(const std::string& name, const std::string& source, const std::string& options) {
  const Scratch scratch;
  std::ofstream(scratch.path / "in.comp", std::ios::binary) << source;
  std::vector<std::string> command{kCompiler, "--quiet", "-V", "--target-env", "vulkan1.2",
                                   "-S",      "comp",    "-o", "out.spv"};
  for (std::string& macro : macros(options)) command.push_back(std::move(macro));
  command.emplace_back("in.comp");
  const std::string said = run(std::move(command), scratch.path);
  auto words = read_words(scratch.path / "out.spv");
  if (words.empty() || words[0] != kMagic)
    throw Failure(mybackendErrorInvalidValue, "the GLSL compiler refuses " + name + ":\n" + said);
  return words;
}

fs::path cache_folder() {
  if (const char* const chosen = std::getenv("MYBACKEND_PROGRAM_CACHE")) return chosen;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".cache" / "mybackend_programs";
}

/// FNV-1a. The file has the whole key as well, so a collision is found.
std::string hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  std::ostringstream name;
  name << std::hex << hash;
  return name.str();
}

/// A file has the key, padded with zeros to whole words, then a hash of the SPIR-V, then the SPIR-V.
size_t words_of(const std::string& key) { return key.size() / 4 + 1; }

std::string bytes_of(const std::vector<uint32_t>& words, size_t from) {
  return {reinterpret_cast<const char*>(words.data() + from), (words.size() - from) * 4};
}

std::vector<uint32_t> read_kept(const fs::path& path, const std::string& key) {
  const auto words = read_words(path);
  const size_t start = words_of(key);
  const size_t hash = hash_of("").size() / 4 + 1;
  if (words.size() <= start + hash || bytes_of(words, 0).compare(0, key.size(), key) != 0) return {};
  const std::string code = bytes_of(words, start + hash);
  const std::string sum = hash_of(code);
  if (bytes_of(words, start).compare(0, sum.size(), sum) != 0) return {};
  return {words.begin() + static_cast<std::ptrdiff_t>(start + hash), words.end()};
}

/// Writes another file and renames it, so that readers see all of it or nothing.
void keep(const fs::path& path, const std::string& key, const std::vector<uint32_t>& words) {
  static std::atomic<int> number{0};
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path aside = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(number++);
  std::string padded = key;
  padded.resize(words_of(key) * 4);
  std::string sum = hash_of(bytes_of(words, 0));
  sum.resize((hash_of("").size() / 4 + 1) * 4);
  std::ofstream file(aside, std::ios::binary);
  file << padded << sum << bytes_of(words, 0);
  file.close();
  file.good() ? fs::rename(aside, path, failed) : static_cast<void>(fs::remove(aside, failed));
}

}  // namespace

std::vector<uint32_t> compile(const std::string& name, const std::string& source, const std::string& options) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return compile_anew(name, source, options);
  const std::string key = options + "\n" + source;
  const fs::path path = folder / ("program_" + hash_of(key));
  auto words = read_kept(path, key);
  if (!words.empty()) return words;
  words = compile_anew(name, source, options);
  keep(path, key, words);
  return words;
}

}  // namespace mybackend::port
