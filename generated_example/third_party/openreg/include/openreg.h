// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Note [The device's C API]
// What it is for: the PyTorch backend reaches the device only through this header. It is modelled on the CUDA runtime
//   API, so that code for either looks alike.
// Who calls it: csrc/runtime (allocator, streams, events, guard) and the kernels in csrc/aten. Nothing above them does.
// Without it: nothing works; it is the first thing to port to real hardware.
//
// Errors: each function returns orSuccess or an error; none throws or aborts. A failure is also
//   kept as the calling thread's last error until orGetLastError() takes it. orErrorNotReady is an
//   answer, not a failure, and is not kept.
// Threads: each function may be called from any thread at any time. The current device belongs to the thread.
// Ownership: the creator of a handle destroys it. A destroyed or invalid handle gives
//   orErrorInvalidHandle; a pointer that was freed, or never allocated, orErrorInvalidValue.
// Units: sizes are in bytes, times in milliseconds, devices are numbered from 0.
// Fork: a child of a process that has used the device cannot use it: orErrorForked. Functions that only describe
//   (device count, current device, properties, error names) still work.
// Exit: after main() returns, in exit handlers and destructors of static objects, tensors may still be destroyed. The backend
//   then calls functions that release (Free, FreeHost, StreamDestroy, EventDestroy and similar), wait or describe,
//   and SetDevice; for memory that several streams use also EventCreateWithFlags and EventRecord. Threads that still run may
//   call any function. None may crash or hang, even if the driver has ended. Functions that release or wait may return
//   orSuccess without doing anything; the others may fail, and the backend then waits for the device instead.
// Kernels: a function run by orLaunchKernel must not call this API, except orFree. Calls that would
//   wait for the device from there give orErrorNotSupported.
//
// Note [The simulated device]
// The device is this process: its memory is a part of the address space that the host may not touch, its streams are
// threads. Host code that dereferences device memory dies with SIGSEGV and a message, as on a real card.
// Environment, read at the first call:
//   OPENREG_DEVICE_COUNT  how many devices the machine has, 0 to 64 (default 2)
//   OPENREG_VISIBLE_DEVICES  which of them the process sees, and in which order: "1,0", "1"; the first is its device 0.
//     Like CUDA_VISIBLE_DEVICES: empty means none, the first entry that is not a device number ends the list, and naming a
//     device twice leaves none. (default: all)
//   OPENREG_ISOLATION     how device memory is kept from the host (default auto):
//     pkey      memory protection keys: only the streams' threads hold the right. Costs next to nothing.
//     mprotect  memory is opened while streams run and closed before a synchronization returns (later, if that would take too
//               much time, as with much memory in use), for all threads: a stray access during that
//               time goes unnoticed.
//     off       host code may touch device memory; data races are yours.
//     auto      pkey if the CPU has it, otherwise mprotect
//   OPENREG_MEMORY_DEBUG  1: use after free, accesses up to a page beyond an allocation, and double frees end the
//     process with a message that has the stacks of the allocation and of the free. Slow, for debugging. (default 0)
//   OPENREG_STREAM_JITTER  delays each task of a stream by up to so many microseconds, 0 to 1000000 (default 0). Finds
//     code that forgets to wait for a stream: run the tests with it.

#include <stddef.h>
#include <stdint.h>

#if defined(OPENREG_BUILDING_DEVICE)
#define OPENREG_API __attribute__((visibility("default")))
#else
#define OPENREG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum orError {
  orSuccess = 0,
  orErrorInvalidValue = 1,  // an argument is null, out of range, or no such memory
  orErrorMemoryAllocation = 2,  // the device, or the host, is out of memory
  orErrorInvalidDevice = 3,  // no device has this number, or there are none
  orErrorInvalidHandle = 4,  // no such stream or event, or it cannot do this
  orErrorNotReady = 5,  // queued work has not finished; ask again
  orErrorNotSupported = 6,  // the device cannot do this, or not from here
  orErrorNotPorted = 7,  // the port layer lacks this function; the error string names it
  orErrorForked = 8,  // the process was forked after the device was used
  orErrorUnknown = 9,  // anything else, such as a kernel that threw
  orErrorCaptureUnsupported = 10,  // not while the stream is captured, which ends with an error for that
  orErrorCaptureInvalidated = 11  // the capture did what it must not, or left work of another stream unjoined
} orError_t;

// Opaque. The null stream is the default stream of the calling thread's current device: an ordinary stream that
// always exists and cannot be destroyed; no other stream waits for it by itself.
typedef struct orStream* orStream_t;
typedef struct orEvent* orEvent_t;

typedef struct orGraph* orGraph_t;  // what a stream was given while it was captured

typedef enum orMemcpyKind {
  orMemcpyHostToHost = 0,
  orMemcpyHostToDevice = 1,
  orMemcpyDeviceToHost = 2,
  orMemcpyDeviceToDevice = 3  // within a device or between two
} orMemcpyKind;

typedef enum orMemoryType {
  orMemoryTypeUnregistered = 0,  // host memory that this library did not allocate, or no memory at all
  orMemoryTypeHost = 1,  // pinned: from orMallocHost
  orMemoryTypeDevice = 2  // from orMalloc
} orMemoryType;

typedef struct orDeviceProperties {
  char name[64];  // zero-terminated
  size_t totalMemory;  // bytes
  int multiProcessorCount;  // kernels that can run at once, at best
  int major;  // version of the hardware
  int minor;
  int hostAccessible;  // 1: a host function run by orLaunchKernel can dereference device memory; 2: any thread can, at any time
} orDeviceProperties;

typedef struct orPointerAttributes {
  orMemoryType type;
  int device;  // the owner for device memory, else -1
  void* base;  // start of the allocation; null if unregistered
  size_t size;  // bytes asked for; 0 if unregistered
} orPointerAttributes;

// Names memory of one process to another. Plain bytes: send it by any means.
typedef struct orIpcMemHandle {
  char reserved[64];
} orIpcMemHandle_t;

// Which threads a capture forbids calls that would wait, or reach what it records.
typedef enum orCaptureMode {
  orCaptureModeGlobal = 0,  // all
  orCaptureModeThreadLocal = 1,  // the one that began the capture
  orCaptureModeRelaxed = 2  // none, but for calls about the captured streams themselves
} orCaptureMode;

typedef enum orCaptureStatus {
  orCaptureStatusNone = 0,
  orCaptureStatusActive = 1,
  orCaptureStatusInvalidated = 2  // by a call that may not be captured; it still has to be ended
} orCaptureStatus;

typedef enum orActivityKind {
  orActivityKernel = 0,
  orActivityMemcpy = 1,
  orActivityMemset = 2
} orActivityKind;

// What a device did, for profilers. Times are in nanoseconds of orActivityTime().
typedef struct orActivity {
  orActivityKind kind;
  orMemcpyKind copy;  // of a Memcpy
  int pageable;  // of a Memcpy: 1 if an end on the host is not pinned
  int device;
  int stream;  // its number on the device; 0: the default stream
  int thread;  // the system's number of the thread that queued it
  int replayed;  // 1: a part of a graph, which orGraphLaunch() queued as a whole
  uint64_t correlation;  // as orActivityCorrelate() set it on that thread
  const char* name;  // as orActivityName() gave it, or the device's own; null if neither
  uint64_t bytes;  // of a Memcpy or Memset
  uint64_t queueStart;  // of the call that queued it
  uint64_t queueEnd;
  uint64_t start;  // of what the device did
  uint64_t end;
} orActivity;

enum {
  orEventDefault = 0,  // keeps the time at which it happened
  orEventDisableTiming = 1  // does not; cheaper on real hardware
};

// --- Devices

// Number of devices in *count. Succeeds with 0 if there are none, and is cheap: `import` calls it.
OPENREG_API orError_t orGetDeviceCount(int* count);
// The calling thread's current device in *device; 0 until the thread sets another.
OPENREG_API orError_t orGetDevice(int* device);
// Makes `device` the calling thread's current one. Touches no device, starts nothing.
OPENREG_API orError_t orSetDevice(int device);
OPENREG_API orError_t orGetDeviceProperties(orDeviceProperties* properties, int device);
// Free and total memory of the current device, in bytes.
OPENREG_API orError_t orMemGetInfo(size_t* free, size_t* total);
// Waits for all work queued so far on every stream of the current device. orErrorUnknown: a kernel threw.
OPENREG_API orError_t orDeviceSynchronize(void);
// Priorities that streams can have. As in CUDA, a smaller number is more urgent: greatest <= 0, least is 0.
OPENREG_API orError_t orDeviceGetStreamPriorityRange(int* least, int* greatest);

// --- Memory

// `size` bytes on the current device, aligned to 256 bytes or more, contents undefined. The caller frees
// *pointer. A size of 0 succeeds with null. orErrorMemoryAllocation (with *pointer null): not enough is left.
OPENREG_API orError_t orMalloc(void** pointer, size_t size);
// Waits for all queued work on all devices, then frees it, so that no queued work loses its operands. Only the
// start of an allocation can be freed; null is fine. On a stream's own thread it does not wait: the caller can no
// longer use the memory, and the device's next synchronization frees it.
OPENREG_API orError_t orFree(void* pointer);
// Pinned host memory: host code uses it like any other, and copies from and to it are really asynchronous.
OPENREG_API orError_t orMallocHost(void** pointer, size_t size);
// Waits for all queued work on all devices, then frees pinned memory. null is fine.
OPENREG_API orError_t orFreeHost(void* pointer);
// The memory that `pointer` points into, at its start or anywhere inside. Unknown memory is Unregistered, not an error.
OPENREG_API orError_t orPointerGetAttributes(orPointerAttributes* attributes, const void* pointer);

// Copies `size` bytes and returns when that is done. It runs on the default stream of the device whose memory it is
// (the source's, if both are on devices, after the destination's default stream has run dry), and does not wait for
// other streams. orErrorInvalidValue: pointers that do not fit `kind`, or a range that leaves its allocation.
OPENREG_API orError_t orMemcpy(
    void* destination, const void* source, size_t size, orMemcpyKind kind);
// Queues the copy on `stream`. With pinned memory it returns at once, and the host must not touch either range until
// the copy is done. With pageable memory (malloc, stack) it returns when the host range can be reused, which may
// require waiting for the stream.
OPENREG_API orError_t orMemcpyAsync(
    void* destination, const void* source, size_t size, orMemcpyKind kind, orStream_t stream);
// Queues the copy of `height` rows of `width` bytes each on `stream`. A pitch is the distance in bytes from the start of one row
// to the start of the next, at least `width`. Host memory is treated as by orMemcpyAsync.
OPENREG_API orError_t orMemcpy2DAsync(void* destination, size_t destinationPitch, const void* source, size_t sourcePitch,
    size_t width, size_t height, orMemcpyKind kind, orStream_t stream);
// Sets each byte of device memory to the low byte of `value`, on the default stream of the memory's device, and waits.
OPENREG_API orError_t orMemset(void* pointer, int value, size_t size);
OPENREG_API orError_t orMemsetAsync(void* pointer, int value, size_t size, orStream_t stream);

// --- Memory of other processes: optional, orErrorNotSupported if the device lacks it. Only the owner may free the
// memory, and not while others have it open.

// A handle for the allocation that starts at `pointer`. orErrorNotSupported also for memory of another
// process. The handle is valid while the allocation and its process live.
OPENREG_API orError_t orIpcGetMemHandle(orIpcMemHandle_t* handle, void* pointer);
// Makes the memory accessible to the device of the same number in this process, at *pointer, until it is closed.
// orErrorInvalidHandle: the owner is gone, or belongs to another user.
OPENREG_API orError_t orIpcOpenMemHandle(void** pointer, orIpcMemHandle_t handle);
// Waits for all queued work on all devices, then closes the memory opened at `pointer`.
OPENREG_API orError_t orIpcCloseMemHandle(void* pointer);

// --- Memory of other devices: optional

// Whether kernels of `device` can reach the memory of `peer`, in *can_access. A device is not its own peer.
OPENREG_API orError_t orDeviceCanAccessPeer(int* can_access, int device, int peer);
// Lets kernels of the current device reach the memory of `peer`. May be called again.
OPENREG_API orError_t orDeviceEnablePeerAccess(int peer);

// --- Streams: work on one runs in the order in which it was queued, two of them run side by side

// A stream of the current device with the least priority.
OPENREG_API orError_t orStreamCreate(orStream_t* stream);
// Priorities out of range are clamped. A priority is a hint: it never changes the order of a stream's own work.
OPENREG_API orError_t orStreamCreateWithPriority(orStream_t* stream, int priority);
// The handle is gone at once; queued work still runs. The default stream gives orErrorInvalidHandle.
OPENREG_API orError_t orStreamDestroy(orStream_t stream);
// Waits for all work queued on the stream so far. orErrorUnknown: a kernel threw (reported once).
OPENREG_API orError_t orStreamSynchronize(orStream_t stream);
// orSuccess: all work is done; orErrorNotReady: it isn't. Never waits.
OPENREG_API orError_t orStreamQuery(orStream_t stream);
// Work queued on the stream from now on runs after the event's latest record, which may be on any device. The host
// does not wait. An event that was never recorded delays nothing.
OPENREG_API orError_t orStreamWaitEvent(orStream_t stream, orEvent_t event);
OPENREG_API orError_t orStreamGetPriority(orStream_t stream, int* priority);
OPENREG_API orError_t orStreamGetDevice(orStream_t stream, int* device);

// --- Events: marks in a stream. Functions other than record look at the latest record; before the first one, an event
// counts as having happened.

OPENREG_API orError_t orEventCreate(orEvent_t* event);
OPENREG_API orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags);
// The handle is gone at once; streams that wait for the event still do.
OPENREG_API orError_t orEventDestroy(orEvent_t event);
// Queues the mark. An event may be recorded again; streams already waiting keep waiting for the record they saw.
OPENREG_API orError_t orEventRecord(orEvent_t event, orStream_t stream);
OPENREG_API orError_t orEventSynchronize(orEvent_t event);
// orSuccess: the stream got there; orErrorNotReady: not yet. Never waits.
OPENREG_API orError_t orEventQuery(orEvent_t event);
// Milliseconds from `start` to `end`, negative if they happened the other way round. orErrorNotReady: one has
// not happened yet; orErrorInvalidHandle: one was never recorded or keeps no time.
OPENREG_API orError_t orEventElapsedTime(float* milliseconds, orEvent_t start, orEvent_t end);

// --- Kernels

// Queues a call of function(argument) on the stream's device; both must stay valid until it has run. The function must
// not throw, nor wait for a thread that may wait for the stream, such as for Python's GIL.
OPENREG_API orError_t orLaunchKernel(
    orStream_t stream, void (*function)(void* argument), void* argument);

// --- Graphs: optional, orErrorNotSupported where the device lacks them. As CUDA's, made by capturing streams.

// From now on what is queued on `stream` is recorded and not run. A stream that waits for an event recorded there joins the
// capture, on whichever device; it leaves when the capture ends, and `stream` must have waited for its work by then. Functions
// of orLaunchKernel and their arguments must stay valid, and may be called again, until the graph is destroyed.
// Calls that wait for a captured stream, or query it, give orErrorCaptureUnsupported and invalidate the
// capture; depending on `mode`, so do calls that wait for its whole device.
OPENREG_API orError_t orStreamBeginCapture(orStream_t stream, orCaptureMode mode);
// Ends the capture that began on `stream`. The caller owns *graph; null if the capture failed, orErrorCaptureInvalidated.
OPENREG_API orError_t orStreamEndCapture(orStream_t stream, orGraph_t* graph);
// *id names the capture that the stream is in, and is never 0 then; it may be null.
OPENREG_API orError_t orStreamGetCaptureInfo(orStream_t stream, orCaptureStatus* status, uint64_t* id);
// Gives `object` to the graph that `stream` is captured into: release(object) is called when no part of the graph can run any more.
OPENREG_API orError_t orStreamCaptureRetain(orStream_t stream, void* object, void (*release)(void* object));
// Queues all recorded work, in its order, on a stream of the device that the capture began on.
OPENREG_API orError_t orGraphLaunch(orGraph_t graph, orStream_t stream);
// The handle is gone at once; what was launched still runs.
OPENREG_API orError_t orGraphDestroy(orGraph_t graph);
// How many kernels, copies and memsets it has.
OPENREG_API orError_t orGraphGetNodeCount(orGraph_t graph, size_t* count);
// Writes it to a file in the DOT language. orErrorInvalidValue: the file cannot be written.
OPENREG_API orError_t orGraphDebugPrint(orGraph_t graph, const char* path);

// --- Activities: optional, orErrorNotSupported if the device can't record its work. Like CUPTI for CUDA.

// 1: records work queued from now on, by any thread, until it is read; 0: stops, records stay. Off at first, and
// then has no measurable cost.
OPENREG_API orError_t orActivityEnable(int enable);
// Marks the work that the calling thread queues from now on with a number; 0 at first.
OPENREG_API orError_t orActivityCorrelate(uint64_t correlation);
// Names the kernel that the calling thread queues next. The text must stay valid until its record was read.
OPENREG_API orError_t orActivityName(const char* name);
// Moves up to `capacity` records of finished work to `activities`, with their number in *count; *lost is the number of records
// lost for lack of memory since the last call. Never waits.
OPENREG_API orError_t orActivityRead(orActivity* activities, size_t capacity, size_t* count, size_t* lost);
// The time now on the clock of the records. It never goes back.
OPENREG_API orError_t orActivityTime(uint64_t* nanoseconds);

// --- Errors: of the calling thread

// The last failure since the last orGetLastError(), or orSuccess; forgets it.
OPENREG_API orError_t orGetLastError(void);
// The same, without forgetting.
OPENREG_API orError_t orPeekAtLastError(void);
// The constant's name, and a sentence for people. Never null; the text lives as long as the calling thread.
OPENREG_API const char* orGetErrorName(orError_t error);
OPENREG_API const char* orGetErrorString(orError_t error);

// --- Only in the simulated device

// For tests: after `calls` more calls, of any thread, that could touch the device, one fails with `error` and does
// nothing. A negative number calls it off.
OPENREG_API void orDebugFailAfter(int calls, orError_t error);
// The same for one function, "orFree" say, or each if it is null: after `calls` more calls of it the next `times`
// calls fail, all that follow if `times` is negative. 0 calls it off. Those that need no device can fail too.
OPENREG_API void orDebugFailCall(const char* function, int calls, int times, orError_t error);

#ifdef __cplusplus
}  // extern "C"
#endif
#include "openreg_gemm.h"  // an optional part
#include "openreg_virtual_memory.h"  // an optional part
