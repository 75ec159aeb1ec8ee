// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "activity.h"
#include "error.h"

using namespace openreg::driver;

extern "C" {

orError_t orActivityEnable(int enable) {
  return call([&] {
    Activities::enable(enable != 0);
    return orSuccess;
  });
}

orError_t orActivityCorrelate(uint64_t correlation) {
  return describe([&] {
    Activities::correlate(correlation);
    return orSuccess;
  });
}

orError_t orActivityName(const char* name) {
  return describe([&] {
    Activities::name(name);
    return orSuccess;
  });
}

orError_t orActivityRead(orActivity* activities, size_t capacity, size_t* count, size_t* lost) {
  return call([&] {
    if (activities == nullptr || count == nullptr || lost == nullptr) return orErrorInvalidValue;
    *count = Activities::read(activities, capacity, lost);
    return orSuccess;
  });
}

orError_t orActivityTime(uint64_t* nanoseconds) {
  return describe([&] {
    if (nanoseconds == nullptr) return orErrorInvalidValue;
    *nanoseconds = Activities::now();
    return orSuccess;
  });
}

}  // extern "C"
