// Each allocation of the device library fails once, and each start of a thread: build this file with the library's sources,
// device_library.py says how. Each failure is a process of its own, forked from one that has not used the device.
//
// A scenario is a list of calls of the device's C API. The call whose allocation fails says so by its status, has done nothing, and
// works when it is called again; then the scenario goes on, its results are right, and the device has as much memory as before.
// Prints a line for each problem, one with the counts, and returns 1 if there were problems.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "openreg.h"

namespace {

enum class What {
  kAllocation,
  kThread
};

// Counts while the main thread is in a call, and on the device's threads always.
struct Failures {
  std::atomic<bool> armed{false};
  std::atomic<int> seen[2]{};
  std::atomic<int> fail_at[2]{-1, -1};
  std::atomic<bool> on_main{false};
  std::atomic<bool> elsewhere{false};
};
Failures failures;
thread_local bool main_thread = false;
thread_local bool in_call = false;

bool fails(What what) {
  if (!failures.armed || (main_thread && !in_call)) return false;
  const auto kind = static_cast<std::size_t>(what);
  if (failures.seen[kind]++ != failures.fail_at[kind]) return false;
  (main_thread ? failures.on_main : failures.elsewhere) = true;
  return true;
}

void* allocate(std::size_t size) {
  if (fails(What::kAllocation)) throw std::bad_alloc();
  if (void* pointer = std::malloc(size != 0 ? size : 1)) return pointer;
  throw std::bad_alloc();
}

void* allocate_aligned(std::size_t size, std::align_val_t alignment) {
  if (fails(What::kAllocation)) throw std::bad_alloc();
  const auto step = static_cast<std::size_t>(alignment);
  if (void* pointer = std::aligned_alloc(step, (size + step - 1) / step * step)) return pointer;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate_aligned(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate_aligned(size, alignment); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return fails(What::kAllocation) ? nullptr : std::malloc(size); }
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete[](void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }

// std::thread calls it, by the executable's name for it.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  if (fails(What::kThread)) return EAGAIN;
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, function, argument);
}

namespace {

// What a child leaves behind.
struct Report {
  int seen[2];
  bool hit;
  bool ended;
  char call[128];  // what was called when it failed
  char problems[4096];
};
Report* report = nullptr;

void problem(const std::string& text) {
  const std::size_t used = std::strlen(report->problems);
  std::snprintf(report->problems + used, sizeof(report->problems) - used, "  %s\n", text.c_str());
}

const char* name_of(orError_t status) { return orGetErrorName(status); }

// Makes the call; again, if its allocation failed.
template <typename Call>
orError_t made(const char* text, const Call& call) {
  for (bool again = false;; again = true) {
    failures.on_main = false;
    in_call = true;
    const orError_t status = call();
    in_call = false;
    if (failures.on_main) report->hit = true;
    if (failures.on_main || (failures.elsewhere && report->call[0] == 0)) std::snprintf(report->call, sizeof(report->call), "%s", text);
    if (status == orSuccess || status == orErrorNotReady) return status;
    // What failed on a stream's thread is what a wait for the stream says, once.
    if (status == orErrorUnknown && failures.elsewhere.exchange(false)) {
      report->hit = true;
      return status;
    }
    if (again || !failures.on_main) {
      problem(std::string(text) + (again ? ", called again: " : ": ") + name_of(status));
      return status;
    }
    // The API has no name for the error that a thread can't be started.
    const orError_t wanted = failures.fail_at[0] >= 0 ? orErrorMemoryAllocation : orErrorUnknown;
    if (status != wanted) problem(std::string(text) + " says " + name_of(status) + ", not " + name_of(wanted));
#ifdef HAS_HOST_MEMORY  // small devices keep none
    if (orGetLastError() != status) problem(std::string(text) + ": its status is not the thread's last error");
#endif
    if (orGetErrorString(status) == nullptr) problem("no text for the error");
  }
}
#define MADE(expression) made(#expression, [&] { return expression; })

void expect(bool right, const char* text) {
  if (!right) problem(std::string("wrong: ") + text);
}
#define EXPECT(expression) expect(expression, #expression)

void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

std::vector<char> fetched(const void* device, std::size_t size) {
  std::vector<char> bytes(size);
  MADE(orMemcpyAsync(bytes.data(), device, size, orMemcpyDeviceToHost, nullptr));
  return bytes;
}

std::size_t free_memory(int device) {
  std::size_t free = 0;
  std::size_t total = 0;
  MADE(orSetDevice(device));
  MADE(orMemGetInfo(&free, &total));
  return free;
}

// What the device of a minimal tree can do.
void a_small_device() {
  constexpr std::size_t kSize = 1000;
  static orStream_t stream = nullptr;  // a small device never destroys one
  orEvent_t start = nullptr;
  orEvent_t end = nullptr;
  void* pointers[2] = {};
  int number = 0;
  orDeviceProperties properties{};
  MADE(orGetDeviceCount(&number));
  EXPECT(number == 2);
  MADE(orSetDevice(0));
  MADE(orGetDevice(&number));
  MADE(orGetDeviceProperties(&properties, 0));
  if (stream == nullptr) MADE(orStreamCreateWithPriority(&stream, 0));
  MADE(orStreamGetPriority(stream, &number));
  MADE(orEventCreateWithFlags(&start, 0));
  MADE(orEventCreateWithFlags(&end, 0));
  for (void*& pointer : pointers) MADE(orMalloc(&pointer, kSize));
  const std::vector<char> bytes(kSize, 3);
  MADE(orEventRecord(start, nullptr));
  MADE(orMemcpyAsync(pointers[0], bytes.data(), kSize, orMemcpyHostToDevice, nullptr));
  MADE(orEventRecord(end, nullptr));
  MADE(orStreamWaitEvent(stream, end));
  MADE(orMemcpyAsync(pointers[1], pointers[0], kSize, orMemcpyDeviceToDevice, stream));
  MADE(orMemsetAsync(pointers[1], 8, kSize / 2, stream));
  std::atomic<int> runs{0};
  for (int i = 0; i < 70; ++i) MADE(orLaunchKernel(stream, count_up, &runs));
  MADE(orStreamSynchronize(stream));
  MADE(orStreamQuery(stream));
  MADE(orEventQuery(end));
  MADE(orEventSynchronize(end));
  float milliseconds = -1;
  MADE(orEventElapsedTime(&milliseconds, start, end));
  EXPECT(runs == 70 && milliseconds >= 0);
  const auto result = fetched(pointers[1], kSize);
  EXPECT(result.front() == 8 && result.back() == 3);
  orPointerAttributes attributes{};
  MADE(orPointerGetAttributes(&attributes, pointers[0]));
  EXPECT(attributes.device == 0);
  MADE(orDeviceSynchronize());
  for (void* pointer : pointers) MADE(orFree(pointer));
  MADE(orEventDestroy(start));
  MADE(orEventDestroy(end));
}

#ifdef HAS_HOST_MEMORY
void copies_and_kernels() {
  constexpr std::size_t kSize = 4096;
  orStream_t stream = nullptr;
  orStream_t urgent = nullptr;
  orEvent_t start = nullptr;
  orEvent_t end = nullptr;
  void* device[3] = {};
  void* pinned = nullptr;
  int least = 0;
  int greatest = 0;
  MADE(orSetDevice(0));
  MADE(orDeviceGetStreamPriorityRange(&least, &greatest));
  MADE(orStreamCreate(&stream));
  MADE(orStreamCreateWithPriority(&urgent, greatest));
  MADE(orEventCreate(&start));
  MADE(orEventCreateWithFlags(&end, orEventDefault));
  for (void*& pointer : device) MADE(orMalloc(&pointer, kSize));
  MADE(orMallocHost(&pinned, kSize));
  std::memset(pinned, 5, kSize);
  MADE(orEventRecord(start, stream));
  MADE(orMemcpyAsync(device[0], pinned, kSize, orMemcpyHostToDevice, stream));
  MADE(orEventRecord(end, stream));
  MADE(orStreamWaitEvent(urgent, end));
  MADE(orMemcpyAsync(device[1], device[0], kSize, orMemcpyDeviceToDevice, urgent));
  MADE(orMemsetAsync(device[2], 7, kSize, urgent));
  MADE(orMemcpy2DAsync(device[2], 256, device[0], 256, 16, 16, orMemcpyDeviceToDevice, urgent));
  std::atomic<int> runs{0};
  for (int i = 0; i < 200; ++i) MADE(orLaunchKernel(urgent, count_up, &runs));  // more than a block of the queue
  MADE(orStreamSynchronize(urgent));
  EXPECT(runs == 200);
  float milliseconds = -1;
  MADE(orEventElapsedTime(&milliseconds, start, end));
  MADE(orStreamQuery(urgent));
  EXPECT(fetched(device[1], kSize) == std::vector<char>(kSize, 5));
  const auto rows = fetched(device[2], kSize);
  for (std::size_t i = 0; i < kSize; ++i) expect(rows[i] == (i % 256 < 16 ? 5 : 7), "rows of a copy");
  std::vector<char> pageable(kSize, 9);
  MADE(orMemcpyAsync(device[0], pageable.data(), kSize, orMemcpyHostToDevice, stream));
  MADE(orMemset(device[1], 1, kSize));
  MADE(orDeviceSynchronize());
  EXPECT(fetched(device[0], kSize) == pageable);
  EXPECT(fetched(device[1], kSize) == std::vector<char>(kSize, 1));
  orPointerAttributes attributes{};
  MADE(orPointerGetAttributes(&attributes, static_cast<char*>(device[2]) + 3));
  EXPECT(attributes.base == device[2] && attributes.size == kSize);
  MADE(orEventSynchronize(end));
  MADE(orEventDestroy(start));
  MADE(orEventDestroy(end));
  for (void* pointer : device) MADE(orFree(pointer));
  MADE(orFreeHost(pinned));
  MADE(orStreamDestroy(stream));
  MADE(orStreamDestroy(urgent));
}

void two_devices() {
  constexpr std::size_t kSize = 1 << 20;
  void* pointer[2] = {};
  int reaches = 0;
  MADE(orDeviceCanAccessPeer(&reaches, 0, 1));
  for (int device = 0; device < 2; ++device) {
    MADE(orSetDevice(device));
    MADE(orMalloc(&pointer[device], kSize));
    MADE(orMemset(pointer[device], 3 + device, kSize));
  }
  MADE(orDeviceEnablePeerAccess(0));
  MADE(orMemcpy(pointer[1], pointer[0], kSize, orMemcpyDeviceToDevice));
  EXPECT(fetched(pointer[1], kSize) == std::vector<char>(kSize, 3));
  MADE(orFree(pointer[0]));
  MADE(orFree(pointer[1]));
  MADE(orSetDevice(0));
}

#endif  // HAS_HOST_MEMORY

#ifdef HAS_GRAPHS
void graphs() {
  constexpr std::size_t kSize = 64;
  orStream_t stream = nullptr;
  orStream_t other = nullptr;
  orEvent_t fork = nullptr;
  orEvent_t join = nullptr;
  void* from = nullptr;
  void* to = nullptr;
  MADE(orStreamCreate(&stream));
  MADE(orStreamCreate(&other));
  MADE(orEventCreate(&fork));
  MADE(orEventCreate(&join));
  MADE(orMalloc(&from, kSize));
  MADE(orMalloc(&to, kSize));
  MADE(orMemset(from, 2, kSize));
  MADE(orMemset(to, 0, kSize));
  std::atomic<int> runs{0};
  std::atomic<int> released{0};
  orGraph_t graph = nullptr;
  // What fails while a stream is captured is recorded when it is called again. A capture whose end failed has ended.
  for (int trial = 0; graph == nullptr && trial < 2; ++trial) {
    MADE(orStreamBeginCapture(stream, orCaptureModeGlobal));
    MADE(orStreamCaptureRetain(stream, &released, count_up));
    MADE(orEventRecord(fork, stream));
    MADE(orStreamWaitEvent(other, fork));
    for (int i = 0; i < 40; ++i) MADE(orLaunchKernel(i % 2 != 0 ? other : stream, count_up, &runs));
    MADE(orEventRecord(join, other));
    MADE(orStreamWaitEvent(stream, join));
    MADE(orMemcpyAsync(to, from, kSize, orMemcpyDeviceToDevice, stream));
    failures.on_main = false;
    in_call = true;
    const orError_t ended = orStreamEndCapture(stream, &graph);
    in_call = false;
    const bool hit = failures.on_main;
    if (hit) {
      report->hit = true;
      std::snprintf(report->call, sizeof(report->call), "the end of a capture");
    }
    orGetLastError();
    if ((ended == orSuccess) != (graph != nullptr)) problem("the end of a capture says one thing and does another");
    if (graph == nullptr && !hit) problem(std::string("the end of a capture: ") + name_of(ended));
    orCaptureStatus status = orCaptureStatusActive;
    for (orStream_t each : {stream, other}) {
      MADE(orStreamGetCaptureInfo(each, &status, nullptr));
      EXPECT(status == orCaptureStatusNone);
    }
  }
  const int retained = released + 1;
  EXPECT(runs == 0);
  std::size_t nodes = 0;
  MADE(orGraphGetNodeCount(graph, &nodes));
  EXPECT(nodes == 41);
  for (int i = 0; i < 3; ++i) MADE(orGraphLaunch(graph, stream));
  MADE(orStreamSynchronize(stream));
  EXPECT(runs == 120);
  EXPECT(fetched(to, kSize) == std::vector<char>(kSize, 2));
  MADE(orGraphDebugPrint(graph, "/dev/null"));
  MADE(orGraphDestroy(graph));
  EXPECT(released == retained);
  MADE(orFree(from));
  MADE(orFree(to));
  MADE(orEventDestroy(fork));
  MADE(orEventDestroy(join));
  MADE(orStreamDestroy(stream));
  MADE(orStreamDestroy(other));
}
#endif

#ifdef HAS_ACTIVITIES
void activities() {
  void* pointer = nullptr;
  std::atomic<int> runs{0};
  MADE(orActivityEnable(1));
  MADE(orActivityCorrelate(11));
  MADE(orMalloc(&pointer, 256));
  MADE(orMemset(pointer, 1, 256));
  constexpr int kKernels = 40;
  for (int i = 0; i < kKernels; ++i) {
    MADE(orActivityName("count_up"));
    MADE(orLaunchKernel(nullptr, count_up, &runs));
  }
  MADE(orDeviceSynchronize());
  MADE(orActivityEnable(0));
  EXPECT(runs == kKernels);
  std::vector<orActivity> read(128);
  std::size_t count = 0;
  std::size_t lost = 0;
  MADE(orActivityRead(read.data(), read.size(), &count, &lost));
  // A record may be lost for lack of memory; then it is counted.
  EXPECT(count + lost >= kKernels + 1 && (lost == 0 || report->hit || failures.elsewhere));
  MADE(orFree(pointer));
}
#endif

#ifdef HAS_GEMM
void products() {
  constexpr int kSide = 70;
  constexpr std::size_t kBytes = sizeof(float) * kSide * kSide;
  void* pointers[3] = {};
  for (void*& pointer : pointers) MADE(orMalloc(&pointer, kBytes));
  const std::vector<float> ones(kSide * kSide, 1.0F);
  for (void* pointer : pointers) MADE(orMemcpy(pointer, ones.data(), kBytes, orMemcpyHostToDevice));
  orGemmProblem problem{};
  problem.type = orFloat32;
  problem.transposeA = problem.transposeB = orNotTransposed;
  problem.m = problem.n = problem.k = kSide;
  problem.batch = 1;
  problem.alpha[0] = 1;
  problem.a = pointers[0];
  problem.b = pointers[1];
  problem.c = pointers[2];
  problem.lda = problem.ldb = problem.ldc = kSide;
  std::vector<float> result(kSide * kSide);
  for (int trial = 0; trial < 2; ++trial) {
    MADE(orGemm(&problem, nullptr));
    if (MADE(orMemcpy(result.data(), pointers[2], kBytes, orMemcpyDeviceToHost)) == orSuccess) break;
  }
  EXPECT(result == std::vector<float>(kSide * kSide, float(kSide)));
  for (void* pointer : pointers) MADE(orFree(pointer));
}
#endif

#ifdef HAS_VIRTUAL_MEMORY
void virtual_memory() {
  std::size_t step = 0;
  void* range = nullptr;
  orMemHandle_t parts[2] = {};
  MADE(orMemGetAllocationGranularity(&step));
  MADE(orMemAddressReserve(&range, 4 * step));
  for (int i = 0; i < 2; ++i) {
    MADE(orMemCreate(&parts[i], step));
    MADE(orMemMap(static_cast<char*>(range) + static_cast<std::size_t>(i) * step, step, parts[i]));
    MADE(orMemRelease(parts[i]));
  }
  MADE(orMemset(range, 6, 2 * step));
  EXPECT(fetched(range, 2 * step) == std::vector<char>(2 * step, 6));
  MADE(orMemUnmap(range, 2 * step));
  MADE(orMemAddressFree(range, 4 * step));
}
#endif

#ifdef HAS_IPC
void handles_of_processes() {
  void* pointer = nullptr;
  orIpcMemHandle_t handle{};
  MADE(orMalloc(&pointer, 4096));
  MADE(orIpcGetMemHandle(&handle, pointer));
  MADE(orMemset(pointer, 4, 4096));
  EXPECT(fetched(pointer, 4096) == std::vector<char>(4096, 4));
  MADE(orFree(pointer));
}
#endif

struct Scenario {
  const char* name;
  void (*run)();
};
const std::vector<Scenario> kScenarios{
    {"a small device", a_small_device},
#ifdef HAS_HOST_MEMORY
    {"copies and kernels", copies_and_kernels},
    {"two devices", two_devices},
#endif
#ifdef HAS_GRAPHS
    {"graphs", graphs},
#endif
#ifdef HAS_ACTIVITIES
    {"activities", activities},
#endif
#ifdef HAS_GEMM
    {"products", products},
#endif
#ifdef HAS_VIRTUAL_MEMORY
    {"virtual memory", virtual_memory},
#endif
#ifdef HAS_IPC
    {"handles of processes", handles_of_processes},
#endif
};

// Runs the scenario twice: the first time something fails, the second time nothing does. Returns from the child only.
void child(const Scenario& scenario, int allocation, int thread) {
  main_thread = true;
  alarm(20);
  failures.fail_at[0] = allocation;
  failures.fail_at[1] = thread;
  failures.armed = true;
  scenario.run();
  failures.armed = false;
  report->seen[0] = failures.seen[0];
  report->seen[1] = failures.seen[1];
  if (failures.elsewhere) report->hit = true;
  // What is free is compared with a second run: the device may keep pages that it has made for later.
  const std::size_t before[2] = {free_memory(0), free_memory(1)};
  scenario.run();
  for (int device = 0; device < 2; ++device) {
    if (free_memory(device) != before[device]) problem("device " + std::to_string(device) + " has lost memory");
  }
  report->ended = true;
}

int forked(const Scenario& scenario, int allocation, int thread) {
  std::memset(static_cast<void*>(report), 0, sizeof(*report));
  const pid_t id = fork();
  if (id == 0) {
    child(scenario, allocation, thread);
    std::exit(0);  // runs exit handlers, the leak sanitizer's with them
  }
  int status = 0;
  waitpid(id, &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    problem(signal == SIGALRM ? "it did not end" : std::string("it ended by signal ") + strsignal(signal));
  } else if (WEXITSTATUS(status) != 0) {
    problem("it ended with status " + std::to_string(WEXITSTATUS(status)));
  }
  return status;
}

}  // namespace

int main() {
  report = static_cast<Report*>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int wrong = 0;
  for (const Scenario& scenario : kScenarios) {
    forked(scenario, -1, -1);
    const int counts[2] = {report->seen[0], report->seen[1]};
    int problems = report->problems[0] != 0 || !report->ended;
    if (problems != 0) std::printf("%s, nothing fails:\n%s", scenario.name, report->problems);
    const char* const kinds[2] = {"allocation", "thread"};
    for (int kind = 0; kind < 2; ++kind) {
      for (int k = 0; k < counts[kind]; ++k) {
        forked(scenario, kind == 0 ? k : -1, kind == 1 ? k : -1);
        if (report->problems[0] == 0) continue;
        ++problems;
        std::printf("%s, %s %d of %d, in %s:\n%s", scenario.name, kinds[kind], k + 1, counts[kind], report->call, report->problems);
        std::fflush(stdout);
      }
    }
    std::printf("%s: %d allocations, %d threads, %d problems\n", scenario.name, counts[0], counts[1], problems);
    std::fflush(stdout);
    wrong += problems;
  }
  return wrong != 0;
}
