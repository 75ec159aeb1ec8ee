// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "device.h"
#include "error.h"
#include "gemm.h"
#include "stream.h"

using namespace openreg::driver;

extern "C" {

orError_t orGemm(const orGemmProblem* problem, orStream_t stream) {
  return call([&] {
    if (problem == nullptr || !valid(*problem)) return orErrorInvalidValue;
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (problem->m == 0 || problem->n == 0 || problem->batch == 0) return orSuccess;
    Devices& devices = Devices::get();
    // Without anything to add up, a and b are not read.
    const bool reads = problem->k != 0;
    const void* const matrices[] = {problem->c, reads ? problem->a : problem->c, reads ? problem->b : problem->c};
    for (const void* matrix : matrices) {
      if (devices.device_of(matrix) < 0) return orErrorInvalidValue;
    }
    found->submit(Stream::Touches::kMemory, [given = *problem] { run_gemm(given); }, {.name = "gemm"});
    return orSuccess;
  });
}

}  // extern "C"
