// Makes allocations of the calling thread and new threads fail, in a program that is linked with a simulated device.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>

inline thread_local int allocations_left = -1;  // negative: all succeed
inline bool no_threads = false;

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      std::_Exit(1);                                               \
    }                                                              \
  } while (false)

void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* settings, void* (*run)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : create(thread, settings, run, argument);
}

/// Calls `function` with its first, second, ... allocation failing, until none is left that can fail.
template <class Function, class Error>
void fail_each_allocation(const Function& function, Error success, Error out_of_memory) {
  for (int allocation = 0;; ++allocation) {
    allocations_left = allocation;
    const Error error = function();
    const bool failed = allocations_left < 0;
    allocations_left = -1;
    CHECK(error == (failed ? out_of_memory : success));
    if (!failed) return;
  }
}

/// Runs the test of that name, for at most a minute, and ends the process: the device's threads are still there.
inline int run(const std::string& name, const std::map<std::string, void (*)()>& tests) {
  alarm(60);
  tests.at(name)();
  std::_Exit(0);
}
