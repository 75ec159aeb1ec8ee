// The small simulated device of backend `mybackend` without memory, without threads, and with kernels that throw.
#include "mybackend.h"

#include <cstring>
#include <stdexcept>

#include "failures.h"

namespace {

void nothing(void*) {}
void throws(void*) { throw std::runtime_error("a kernel"); }

void errors_of_kernels_are_not_taken_by_free() {
  void* memory = nullptr;
  CHECK(mybackendMalloc(&memory, 100) == mybackendSuccess);
  CHECK(mybackendLaunchKernel(nullptr, throws, nullptr) == mybackendSuccess);
  CHECK(mybackendFree(memory) == mybackendSuccess);
  CHECK(mybackendDeviceSynchronize() == mybackendErrorUnknown);
  CHECK(mybackendDeviceSynchronize() == mybackendSuccess);
}

mybackendStream_t new_stream() {
  mybackendStream_t stream = nullptr;
  CHECK(mybackendStreamCreateWithPriority(&stream, 0) == mybackendSuccess);
  return stream;
}

void no_thread() {
  mybackendEvent_t event = nullptr;
  CHECK(mybackendEventCreateWithFlags(&event, 0) == mybackendSuccess);
  const mybackendStream_t stream = new_stream();
  no_threads = true;
  CHECK(mybackendLaunchKernel(stream, nothing, nullptr) == mybackendErrorUnknown);
  CHECK(mybackendEventRecord(event, stream) == mybackendErrorUnknown);
  no_threads = false;
  CHECK(mybackendStreamSynchronize(stream) == mybackendSuccess);
  CHECK(mybackendEventSynchronize(event) == mybackendSuccess);
  CHECK(mybackendLaunchKernel(stream, nothing, nullptr) == mybackendSuccess);
  CHECK(mybackendEventRecord(event, stream) == mybackendSuccess);
  CHECK(mybackendEventSynchronize(event) == mybackendSuccess);
}

void no_memory_of_the_host() {
  const auto each = [](const auto& function) {
    fail_each_allocation(function, mybackendSuccess, mybackendErrorMemoryAllocation);
  };
  int count = 0;
  each([&] { return mybackendGetDeviceCount(&count); });
  void* memory = nullptr;
  char host[8] = "1234567";
  mybackendStream_t stream = nullptr;
  mybackendEvent_t event = nullptr;
  each([&] { return mybackendMalloc(&memory, 100); });
  each([&] { return mybackendStreamCreateWithPriority(&stream, 0); });
  each([&] { return mybackendEventCreateWithFlags(&event, 0); });
  for (int round = 0; round < 200; ++round) {  // queues allocate now and then
    each([&] { return mybackendLaunchKernel(stream, nothing, nullptr); });
    each([&] { return mybackendEventRecord(event, stream); });
    each([&] { return mybackendStreamWaitEvent(stream, event); });
    each([&] { return mybackendMemcpyAsync(memory, host, sizeof(host), mybackendMemcpyHostToDevice, stream); });
    each([&] { return mybackendMemsetAsync(memory, 1, 4, stream); });
  }
  each([&] { return mybackendDeviceSynchronize(); });
  CHECK(mybackendEventSynchronize(event) == mybackendSuccess);
  CHECK(mybackendMemcpyAsync(host, memory, sizeof(host), mybackendMemcpyDeviceToHost, stream) == mybackendSuccess);
  CHECK(std::memcmp(host,
                    "\1\1\1\1"
                    "567",
                    sizeof(host)) == 0);
  void* other = nullptr;
  CHECK(mybackendMalloc(&other, 100) == mybackendSuccess);
  each([&] { return mybackendFree(memory); });
}

}  // namespace

int main(int, char** arguments) {
  return run(arguments[1], {{"errors_of_kernels_are_not_taken_by_free", errors_of_kernels_are_not_taken_by_free},
                            {"no_thread", no_thread},
                            {"no_memory_of_the_host", no_memory_of_the_host}});
}
