// Copies and fills. Vulkan copies between buffers. If both ends are buffers of the stream's device, a copy is one
// command. Other copies pass through pinned memory, piece by piece, while the caller waits.
#include <algorithm>
#include <array>
#include <cstring>

#include "vulkan.h"

namespace mybackend::port {
namespace {

constexpr size_t kInline = 4096;  // copies up to this size are written into the command buffer; Vulkan allows 65536

/// Rows of bytes; each starts `pitch` bytes after the previous one.
struct Rows {
  char* at;
  size_t pitch;
  std::optional<Block> block;  // empty for pageable memory

  bool on_device() const { return block && !block->pinned; }
  bool in_place(const Device& device) const { return block && block->device == &device; }
  VkDeviceSize offset() const { return static_cast<VkDeviceSize>(at - block->base) + block->offset; }
  Rows row(size_t index) const { return {at + index * pitch, pitch, block}; }
};

Rows rows_at(const void* pointer, size_t pitch, size_t width, size_t height, bool device) {
  Rows rows{static_cast<char*>(const_cast<void*>(pointer)), pitch, find_block(pointer, (height - 1) * pitch + width)};
  if (rows.on_device() == device) return rows;
  throw Failure(mybackendErrorInvalidValue,
                device ? "not in one allocation of device memory" : "device memory where the host's is expected");
}

/// Makes what the device wrote to pinned memory visible to the host when the operation has ended.
void show_to_host(VkCommandBuffer commands) {
  auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                       0, nullptr);
}

void copy_in_place(Stream& stream, const Rows& to, const Rows& from, size_t width, size_t height) {
  std::vector<VkBufferCopy> regions;
  if (to.pitch == width && from.pitch == width) {
    regions.push_back({from.offset(), to.offset(), width * height});
  } else {
    for (size_t row = 0; row < height; ++row)
      regions.push_back({from.offset() + row * from.pitch, to.offset() + row * to.pitch, width});
  }
  stream.queue([&](Commands& commands) {
    vkCmdCopyBuffer(commands.buffer, from.block->buffer.buffer, to.block->buffer.buffer,
                    static_cast<uint32_t>(regions.size()), regions.data());
    if (to.block->pinned) show_to_host(commands.buffer);
  });
}

/// Copies to device memory without waiting, if the size and the alignment allow it.
bool copy_inline(Stream& stream, const Rows& to, const char* from, size_t size) {
  if (size > kInline || size % 4 != 0 || to.offset() % 4 != 0) return false;
  stream.queue([&](Commands& commands) {
    vkCmdUpdateBuffer(commands.buffer, to.block->buffer.buffer, to.offset(), size, from);
  });
  return true;
}

/// Copies one row between device memory and host memory that the device cannot reach.
void copy_in_pieces(Stream& stream, const Rows& device_end, char* host_end, size_t size, bool to_device) {
  Device& device = stream.device;
  std::array<uint64_t, 2> ends{};
  const auto queue = [&](const char* piece, size_t offset, size_t bytes, int buffer) {
    const VkDeviceSize at_piece = static_cast<VkDeviceSize>(piece - device.pieces.mapped);
    const VkDeviceSize at_device = device_end.offset() + offset;
    ends[static_cast<size_t>(buffer)] = stream.queue([&](Commands& commands) {
      const VkBufferCopy region{to_device ? at_piece : at_device, to_device ? at_device : at_piece, bytes};
      const VkBuffer from = to_device ? device.pieces.buffer : device_end.block->buffer.buffer;
      vkCmdCopyBuffer(commands.buffer, from, to_device ? device_end.block->buffer.buffer : device.pieces.buffer, 1,
                      &region);
      if (!to_device) show_to_host(commands.buffer);
    });
  };
  const auto wait = [&](int buffer) { stream.wait(ends[static_cast<size_t>(buffer)]); };
  to_device ? device.staging->to_device(host_end, size, queue, wait)
            : device.staging->to_host(host_end, size, queue, wait);
}

/// A stream of the device that owns the memory: the given one, or the default stream.
Stream& stream_for(const Rows& rows, Stream& stream) {
  return rows.block->device == &stream.device ? stream : *default_stream(*rows.block->device);
}

/// Copies what cannot be copied in place. The copy is done when this returns.
void copy_by_host(Stream& stream, const Rows& to, const Rows& from, size_t width) {
  stream.finish();  // before the staging memory is locked: a stream that this one waits for may need it
  if (to.on_device() && from.on_device()) {
    std::vector<char> bytes(width);
    copy_in_pieces(stream_for(from, stream), from, bytes.data(), width, false);
    copy_in_pieces(stream_for(to, stream), to, bytes.data(), width, true);
  } else if (to.on_device()) {
    copy_in_pieces(stream_for(to, stream), to, from.at, width, true);
  } else if (from.on_device()) {
    copy_in_pieces(stream_for(from, stream), from, to.at, width, false);
  } else {
    std::memmove(to.at, from.at, width);
  }
}

Status copy(void* destination, size_t to_pitch, const void* source, size_t from_pitch, size_t width, size_t height,
            mybackendMemcpyKind kind, Stream& stream) {
  if (width == 0 || height == 0) return mybackendSuccess;
  if (destination == nullptr || source == nullptr || to_pitch < width || from_pitch < width || kind < 0 || kind > 3)
    return mybackendErrorInvalidValue;
  const Rows to = rows_at(destination, to_pitch, width, height,
                          kind == mybackendMemcpyHostToDevice || kind == mybackendMemcpyDeviceToDevice);
  const Rows from = rows_at(source, from_pitch, width, height,
                            kind == mybackendMemcpyDeviceToHost || kind == mybackendMemcpyDeviceToDevice);
  if (to.in_place(stream.device) && from.in_place(stream.device)) {
    copy_in_place(stream, to, from, width, height);
    return mybackendSuccess;
  }
  const bool may_inline = to.on_device() && to.in_place(stream.device) && !from.block;
  for (size_t row = 0; row < height; ++row) {
    if (may_inline && copy_inline(stream, to.row(row), from.row(row).at, width)) continue;
    if (in_host_function())
      throw Failure(mybackendErrorNotSupported, "a function that runs in a stream cannot wait for a copy");
    copy_by_host(stream, to.row(row), from.row(row), width);
  }
  return mybackendSuccess;
}

/// vkCmdFillBuffer sets whole words. The bytes before and after them are copied from Device::patterns.
Status set(void* pointer, int value, size_t size, Stream& stream) {
  if (size == 0) return mybackendSuccess;
  const Rows rows = rows_at(pointer, size, size, 1, true);
  if (!rows.in_place(stream.device))
    throw Failure(mybackendErrorInvalidValue, "memory of another device than the stream's");
  const uint32_t byte = static_cast<uint8_t>(value);
  const VkBuffer buffer = rows.block->buffer.buffer;
  const VkDeviceSize start = rows.offset();
  const VkDeviceSize end = start + size;
  const VkDeviceSize first = std::min((start + 3) / 4 * 4, end);
  const VkDeviceSize last = std::max(end / 4 * 4, first);
  stream.queue([&](Commands& commands) {
    if (last > first) vkCmdFillBuffer(commands.buffer, buffer, first, last - first, byte * 0x01010101U);
    for (const auto& [from, to] : {std::pair{start, first}, std::pair{last, end}}) {
      const VkBufferCopy region{byte * 4, from, to - from};
      if (to > from) vkCmdCopyBuffer(commands.buffer, stream.device.patterns.buffer, buffer, 1, &region);
    }
  });
  return mybackendSuccess;
}

/// The device that owns the memory of one of the pointers, else the current device.
Device& owner_of(const void* pointer, const void* other) {
  for (const void* const each : {pointer, other}) {
    const auto block = find_block(each, 1);
    if (block && !block->pinned) return *block->device;
  }
  return device_at(current_device());
}

}  // namespace
}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

Status mybackendMemcpy(void* destination, const void* source, size_t size, mybackendMemcpyKind kind) {
  return call_and_wait([&] {
    Device& to = owner_of(destination, nullptr);
    Device& device = owner_of(source, destination);
    if (kind == mybackendMemcpyDeviceToDevice && &to != &device) default_stream(to)->finish();
    const Status status = copy(destination, size, source, size, size, 1, kind, *default_stream(device));
    default_stream(device)->finish();
    return status;
  });
}

Status mybackendMemcpyAsync(void* destination, const void* source, size_t size, mybackendMemcpyKind kind,
                            mybackendStream_t stream) {
  return call([&] { return copy(destination, size, source, size, size, 1, kind, *stream_of(stream)); });
}

Status mybackendMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, mybackendMemcpyKind kind, mybackendStream_t stream) {
  return call([&] {
    return copy(destination, destination_pitch, source, source_pitch, width, height, kind, *stream_of(stream));
  });
}

Status mybackendMemset(void* pointer, int value, size_t size) {
  return call_and_wait([&] {
    Stream& stream = *default_stream(owner_of(pointer, nullptr));
    const Status status = set(pointer, value, size, stream);
    stream.finish();
    return status;
  });
}

Status mybackendMemsetAsync(void* pointer, int value, size_t size, mybackendStream_t stream) {
  return call([&] { return set(pointer, value, size, *stream_of(stream)); });
}

}  // extern "C"
