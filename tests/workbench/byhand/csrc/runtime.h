// The driver's wrapper, as vendors have one: memory, copies, streams. Here it is memory of the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace byhand::rt {

constexpr int kDevices = 2;

void* allocate(std::size_t size);
void release(void* data);
void copy(void* to, const void* from, std::size_t size);
int current();
void set_current(int device);
int64_t new_stream();
void tick();
int64_t ticks();

}  // namespace byhand::rt
