#include "system/child.h"

#include "base/environment.h"
#include "diag/failure.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

extern char** environ;

namespace openreg_gen {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Failure(Exit::Environment, "E0607", std::string("cannot make a pipe: ") + std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
};

void shut(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// A child that dies early must not end us by SIGPIPE.
class IgnorePipeSignal {
 public:
  IgnorePipeSignal() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &old_);
  }
  ~IgnorePipeSignal() { sigaction(SIGPIPE, &old_, nullptr); }
  IgnorePipeSignal(const IgnorePipeSignal&) = delete;
  IgnorePipeSignal& operator=(const IgnorePipeSignal&) = delete;

 private:
  struct sigaction old_{};
};

/// Far more than a child that works takes on a slow machine.
std::chrono::seconds time_limit() {
  const long chosen = std::strtol(environment("OPENREG_GEN_CHILD_SECONDS").c_str(), nullptr, 10);
  return std::chrono::seconds(chosen > 0 ? chosen : 600);
}

/// Reads once; shuts the descriptor at its end.
void drain(int& descriptor, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t n = read(descriptor, buffer.data(), buffer.size());
  if (n > 0) {
    to.append(buffer.data(), static_cast<std::size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    shut(descriptor);
  }
}

}  // namespace

Child::Child(const std::vector<std::string>& argv) : command_(fmt::format("{}", fmt::join(argv, " "))) {
  Pipe in, out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  std::vector<char*> arguments;
  for (const std::string& each : argv) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const int error = posix_spawn(&pid_, argv[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  shut(in.read), shut(out.write), shut(err.write);
  in_ = in.write, out_ = out.read, err_ = err.read;
  if (error != 0) {
    pid_ = -1;
    shut(in_), shut(out_), shut(err_);
    throw Failure(Exit::Environment, "E0605", "cannot start " + argv[0] + ": " + std::strerror(error));
  }
  fcntl(in_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  shut(in_), shut(out_), shut(err_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait();
  }
}

int Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

Child::Result Child::talk(const std::string& input) {
  const IgnorePipeSignal no_signal;
  using Clock = std::chrono::steady_clock;
  const auto limit = time_limit();
  const auto end = Clock::now() + limit;
  Result result;
  std::size_t written = 0;
  while (out_ >= 0 || err_ >= 0) {
    if (in_ >= 0 && written == input.size()) shut(in_);
    // A descriptor of -1 is passed over by poll.
    std::array<pollfd, 3> polled{{{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      throw Failure(Exit::Environment, kHung,
                    fmt::format("killed a program that ran longer than {} s: {}", limit.count(), command_),
                    "run it yourself to see what it waits for; OPENREG_GEN_PYTHON names another Python, "
                    "OPENREG_GEN_CHILD_SECONDS another limit");
    }
    if (poll(polled.data(), polled.size(), static_cast<int>(std::min<long>(left, 60'000))) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (polled[0].revents != 0) {
      const ssize_t n = write(in_, input.data() + written, input.size() - written);
      if (n > 0) {
        written += static_cast<std::size_t>(n);
      } else if (errno != EAGAIN && errno != EINTR) {
        shut(in_);  // the child reads no more; its exit status says why
      }
    }
    if (polled[1].revents != 0) drain(out_, result.output);
    if (polled[2].revents != 0) drain(err_, result.errors);
  }
  shut(in_);
  result.status = wait();
  return result;
}

int run_program(const fs::path& folder, const std::vector<std::string>& argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char*> arguments;
  for (const std::string& each : argv) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Failure(Exit::Environment, "E0605", "cannot start " + argv[0] + ": " + std::strerror(error));
  // Ctrl-C is for the program, which may have something to say before it ends.
  const auto interrupted = ::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::signal(SIGINT, interrupted);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> find_programs(const std::string& name) {
  std::vector<fs::path> found;
  const auto path = environment("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const fs::path folder = path.substr(begin, end - begin);
    if (folder.is_absolute() && is_program(folder / name)) found.push_back(folder / name);
    begin = end + 1;
  }
  return found;
}

fs::path find_program(const std::string& name) {
  const auto found = find_programs(name);
  return found.empty() ? fs::path() : found.front();
}

std::string output_of(std::vector<std::string> command) try {
  if (command[0].find('/') == std::string::npos) command[0] = find_program(command[0]).string();
  Child::Result result = Child(command).talk({});
  return result.status == 0 ? std::move(result.output) : "";
} catch (const Failure& failure) {
  if (failure.code() == kHung) throw;
  return {};
}

}  // namespace openreg_gen
