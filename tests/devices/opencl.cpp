// The OpenCL device of backend `mybackend` without threads, and with a driver that refuses to flush.
#include <CL/cl.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "failures.h"
#include "mybackend.h"

namespace {

std::atomic<int> flushes_left{-1};      // until one that fails; negative: all succeed
constexpr std::size_t kStaged = 60007;  // bytes of pageable memory, a size that nothing else has
std::atomic<int> staged{0};             // blocks of that size

}  // namespace

extern "C" cl_int clFlush(cl_command_queue queue) {
  static const auto flush = reinterpret_cast<cl_int (*)(cl_command_queue)>(dlsym(RTLD_NEXT, "clFlush"));
  return flushes_left >= 0 && flushes_left-- == 0 ? CL_OUT_OF_RESOURCES : flush(queue);
}

void* operator new[](std::size_t size) {
  auto* const memory = static_cast<std::size_t*>(operator new(size + 16));
  *memory = size;
  if (size == kStaged) ++staged;
  return memory + 2;
}
void operator delete[](void* block) noexcept {
  if (block == nullptr) return;
  auto* const memory = static_cast<std::size_t*>(block) - 2;
  if (*memory == kStaged) {
    --staged;
    std::memset(block, 0xdb, kStaged);  // shows who reads it still
  }
  operator delete(memory);
}
void operator delete[](void* block, std::size_t) noexcept { operator delete[](block); }

namespace {

void nothing(void*) {}
void wait_for_flag(void* flag) {
  while (!*static_cast<std::atomic<bool>*>(flag)) usleep(1000);
}

mybackendStream_t new_stream() {
  mybackendStream_t stream = nullptr;
  CHECK(mybackendStreamCreate(&stream) == mybackendSuccess);
  return stream;
}

void no_thread() {
  const mybackendStream_t stream = new_stream();
  void* memory = nullptr;
  CHECK(mybackendMalloc(&memory, 8) == mybackendSuccess);
  no_threads = true;
  CHECK(mybackendLaunchKernel(stream, nothing, nullptr) == mybackendErrorUnknown);
  no_threads = false;
  CHECK(mybackendMemsetAsync(memory, 1, 8, stream) == mybackendSuccess);
  CHECK(mybackendStreamSynchronize(stream) == mybackendSuccess);
  CHECK(mybackendLaunchKernel(stream, nothing, nullptr) == mybackendSuccess);
  CHECK(mybackendStreamSynchronize(stream) == mybackendSuccess);
}

void memory_of_a_copy_that_was_not_flushed() {
  const mybackendStream_t stream = new_stream();
  void* memory = nullptr;
  CHECK(mybackendMalloc(&memory, kStaged) == mybackendSuccess);
  std::atomic<bool> go{false};
  CHECK(mybackendLaunchKernel(stream, wait_for_flag, &go) == mybackendSuccess);
  std::string host(kStaged, 'a');
  flushes_left = 0;
  CHECK(mybackendMemcpyAsync(memory, host.data(), kStaged, mybackendMemcpyHostToDevice, stream) != mybackendSuccess);
  CHECK(staged == 1);
  CHECK(mybackendStreamQuery(stream) == mybackendErrorNotReady);  // it is queued all the same
  go = true;
  CHECK(mybackendStreamSynchronize(stream) == mybackendSuccess);
  std::string found(kStaged, ' ');
  CHECK(mybackendMemcpy(found.data(), memory, kStaged, mybackendMemcpyDeviceToHost) == mybackendSuccess);
  CHECK(found == host);
}

void a_function_that_was_not_flushed() {
  for (const int flush : {0, 1}) {  // of the marker before it, of the barrier behind it
    const mybackendStream_t stream = new_stream();
    flushes_left = flush;
    CHECK(mybackendLaunchKernel(stream, nothing, nullptr) != mybackendSuccess);
    CHECK(mybackendStreamSynchronize(stream) == mybackendSuccess);
  }
}

}  // namespace

int main(int, char** arguments) {
  return run(arguments[1], {{"no_thread", no_thread},
                            {"memory_of_a_copy_that_was_not_flushed", memory_of_a_copy_that_was_not_flushed},
                            {"a_function_that_was_not_flushed", a_function_that_was_not_flushed}});
}
