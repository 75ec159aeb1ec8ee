// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "openreg.h"

// Names and sentences of the errors. A new error code is a new line in each of the two, or the compiler warns.

extern "C" {

const char* orGetErrorName(orError_t error) {
  switch (error) {
    case orSuccess:
      return "orSuccess";
    case orErrorInvalidValue:
      return "orErrorInvalidValue";
    case orErrorMemoryAllocation:
      return "orErrorMemoryAllocation";
    case orErrorInvalidDevice:
      return "orErrorInvalidDevice";
    case orErrorInvalidHandle:
      return "orErrorInvalidHandle";
    case orErrorNotReady:
      return "orErrorNotReady";
    case orErrorNotSupported:
      return "orErrorNotSupported";
    case orErrorNotPorted:
      return "orErrorNotPorted";
    case orErrorForked:
      return "orErrorForked";
    case orErrorUnknown:
      return "orErrorUnknown";
    case orErrorCaptureUnsupported:
      return "orErrorCaptureUnsupported";
    case orErrorCaptureInvalidated:
      return "orErrorCaptureInvalidated";
  }
  return "unrecognized error code";
}

const char* orGetErrorString(orError_t error) {
  switch (error) {
    case orSuccess:
      return "no error";
    case orErrorInvalidValue:
      return "invalid argument";
    case orErrorMemoryAllocation:
      return "out of memory";
    case orErrorInvalidDevice:
      return "invalid device ordinal";
    case orErrorInvalidHandle:
      return "invalid stream or event";
    case orErrorNotReady:
      return "the device is not ready";
    case orErrorNotSupported:
      return "operation not supported";
    case orErrorNotPorted:
      return "not ported";
    case orErrorForked:
      return "the device cannot be used in a process forked after it was used; start processes with 'spawn'";
    case orErrorUnknown:
      return "unknown error";
    case orErrorCaptureUnsupported:
      return "operation not permitted while a stream is captured into a graph";
    case orErrorCaptureInvalidated:
      return "the capture of a graph failed: a call that cannot be captured, or work of another stream that was not joined";
  }
  return "unrecognized error code";
}

}  // extern "C"
