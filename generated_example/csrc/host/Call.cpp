// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Call.h"

#include <cstdlib>
#include <exception>

#include <ATen/Dispatch_v2.h>

namespace openreg::native::detail {

namespace {

/// Each dtype holds it, or wraps it around.
bool is_small(const c10::Scalar& number) {
  constexpr int kSmall = 127;
  if (number.isFloatingPoint()) {
    return std::abs(number.toDouble()) <= kSmall;
  }
  if (number.type() == at::kUInt64) {  // above what int64_t holds
    return false;
  }
  return number.isBoolean() || (number.isIntegral(false) && -kSmall <= number.toLong() && number.toLong() <= kSmall);
}

}  // namespace

bool fits(const c10::Scalar& number, at::ScalarType dtype) {
  if (dtype == at::ScalarType::Undefined || number.isSymbolic() || is_small(number)) {
    return true;
  }
  try {
    AT_DISPATCH_V2(dtype, "fits", AT_WRAP([&] { static_cast<void>(number.to<scalar_t>()); }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
        AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kComplexHalf, at::kHalf, at::kBFloat16, at::kBool);
  } catch (const std::exception&) {  // an overflow is not a c10::Error
    return false;
  }
  return true;
}

}  // namespace openreg::native::detail
