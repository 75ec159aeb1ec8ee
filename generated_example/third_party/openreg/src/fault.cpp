// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "device.h"
#include "isolation.h"
#include "memory_debug.h"
#include "stream.h"

namespace openreg::driver {
namespace {

std::uintptr_t region_begin = 0;
std::uintptr_t region_end = 0;
struct sigaction previous = {};
std::atomic_flag reported = ATOMIC_FLAG_INIT;

// A line of text on the stack: a signal handler may not allocate.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (const char c : text) {
      if (end_ < text_ + sizeof(text_)) *end_++ = c;
    }
    return *this;
  }
  Line& number(std::uintptr_t value, int base = 10) {
    const auto result = std::to_chars(end_, text_ + sizeof(text_), value, base);
    if (result.ec == std::errc()) end_ = result.ptr;
    return *this;
  }
  void print() const {
    if (write(STDERR_FILENO, text_, static_cast<std::size_t>(end_ - text_)) < 0) return;
  }

 private:
  char text_[320];
  char* end_ = text_;
};

void report(const void* address) {
  Line line;
  line << "openreg: host code touched device memory at 0x";
  line.number(reinterpret_cast<std::uintptr_t>(address), 16);
  if (const Devices* devices = Devices::if_used()) {
    line << " (device ";
    line.number(static_cast<std::uintptr_t>(devices->device_of(address)));
    Allocation allocation{};
    switch (devices->try_find(address, &allocation)) {
      case Heap::Lookup::kYes:
        line << ", inside an allocation of ";
        line.number(allocation.size) << " bytes)";
        break;
      case Heap::Lookup::kNo:
        line << ", in no allocation)";
        break;
      case Heap::Lookup::kBusy:
        line << ")";
        break;
    }
  }
  line << "; copy it with orMemcpy, or run the code on a stream with orLaunchKernel\n";
  line.print();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool inside = info->si_code > 0 && address >= region_begin && address < region_end;
  MemoryDebug* debug = inside ? MemoryDebug::get() : nullptr;
  static std::atomic_flag explained = ATOMIC_FLAG_INIT;
  if (debug != nullptr && !explained.test_and_set()) debug->explain(info->si_addr, "an access");
  const bool ours = inside && Stream::current() == nullptr;
  const bool again = ours && reported.test_and_set();
  if (ours && !again) report(info->si_addr);

  const bool has_handler = (previous.sa_flags & SA_SIGINFO) != 0 ||
      (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  if (!has_handler || again) {
    // The process dies of it once this returns.
    struct sigaction fallback = {};
    fallback.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &fallback, nullptr);
    // The instruction runs again and faults again, unless a stream opens the memory in between. Nor does a SIGSEGV that
    // somebody sent (kill) come back by itself.
    if (inside || info->si_code <= 0) raise(signal);
  } else if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
}

}  // namespace

void install_fault_handler(const void* base, std::size_t size) {
  region_begin = reinterpret_cast<std::uintptr_t>(base);
  region_end = region_begin + size;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // First learn what there is, then install: a fault in between must find `previous` filled in.
  sigaction(SIGSEGV, nullptr, &previous);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace openreg::driver
