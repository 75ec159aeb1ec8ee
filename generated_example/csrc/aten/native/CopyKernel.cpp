// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/Dispatch_v2.h>
#include <ATen/TensorIterator.h>
#include <c10/util/TypeCast.h>
#include <c10/util/complex.h>

#include "aten/native/DeviceLoop.h"
#include "aten/native/Kernels.h"
#include "host/Operator.h"
#include "runtime/Rows.h"

// Copies within a device. What moves bytes unchanged is the driver's: one copy, or copies of rows. The rest is a kernel. One for
// each pair of dtypes would be hundreds of loops; instead a block of
// elements is loaded into the widest type of its kind (int64, uint64, double, complex<double>), which loses
// nothing, and stored from there: one loader and four storers per dtype. Plain copies only move bytes.

namespace openreg::native {
namespace {

constexpr int64_t kBlock = 256;

struct Block {
  alignas(16) char bytes[kBlock * 16];
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes);
  }
};

enum class Wide {
  Signed,
  Unsigned,
  Real,
  Complex
};

template <class T>
constexpr Wide wide_of() {
  if constexpr (c10::is_complex<T>::value) {
    return Wide::Complex;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return Wide::Unsigned;
  } else if constexpr (std::is_integral_v<T>) {
    return Wide::Signed;
  } else {
    return Wide::Real;
  }
}

using Load = void (*)(Block& block, const char* src, int64_t stride, int64_t n);
using Store = void (*)(char* dst, int64_t stride, Block& block, int64_t n);

template <class W, class T>
void load(Block& block, const char* src, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    block.as<W>()[i] = c10::convert<W>(c10::load<T>(src + i * stride));
  }
}

template <class W, class T>
void store(char* dst, int64_t stride, Block& block, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(dst + i * stride) = c10::convert<T>(block.as<W>()[i]);
  }
}

template <Wide wide>
struct WideType;
template <>
struct WideType<Wide::Signed> {
  using type = int64_t;
};
template <>
struct WideType<Wide::Unsigned> {
  using type = uint64_t;
};
template <>
struct WideType<Wide::Real> {
  using type = double;
};
template <>
struct WideType<Wide::Complex> {
  using type = c10::complex<double>;
};

/// Calls fn<scalar type>() for `dtype`.
template <class Fn>
void with_dtype(at::ScalarType dtype, Fn fn) {
  AT_DISPATCH_V2(dtype, "copy_", AT_WRAP([&] { fn.template operator()<scalar_t>(); }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
      at::kBool, at::kHalf, at::kBFloat16, at::kComplexHalf);
}

std::pair<Load, Wide> loader(at::ScalarType dtype) {
  std::pair<Load, Wide> result;
  with_dtype(
      dtype, [&]<class T>() { result = {&load<typename WideType<wide_of<T>()>::type, T>, wide_of<T>()}; });
  return result;
}

Store storer(at::ScalarType dtype, Wide wide) {
  Store result = nullptr;
  with_dtype(dtype, [&]<class T>() {
    switch (wide) {
      case Wide::Signed:
        result = &store<int64_t, T>;
        break;
      case Wide::Unsigned:
        result = &store<uint64_t, T>;
        break;
      case Wide::Real:
        result = &store<double, T>;
        break;
      case Wide::Complex:
        result = &store<c10::complex<double>, T>;
        break;
    }
  });
  return result;
}

/// What the lazy conjugate and negative bits of source and destination come to.
struct Flags {
  bool conjugate = false;
  bool negate = false;
};

void apply(const Flags& flags, Wide wide, Block& block, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (wide == Wide::Complex) {
      auto& value = block.as<c10::complex<double>>()[i];
      value = flags.conjugate ? std::conj(value) : value;
      value = flags.negate ? -value : value;
    } else if (wide == Wide::Real) {
      block.as<double>()[i] = flags.negate ? -block.as<double>()[i] : block.as<double>()[i];
    } else {
      block.as<int64_t>()[i] = flags.negate ? -block.as<int64_t>()[i] : block.as<int64_t>()[i];
    }
  }
}

template <size_t size>
void move_elements(char** data, const int64_t* strides, int64_t n0, int64_t n1) {
  constexpr int64_t element = size;
  for (int64_t j = 0; j < n1; ++j) {
    char* dst = data[0] + j * strides[2];
    const char* src = data[1] + j * strides[3];
    if (strides[0] == element && strides[1] == element) {
      std::memmove(dst, src, static_cast<size_t>(n0) * size);
      continue;
    }
    for (int64_t i = 0; i < n0; ++i) {
      std::memcpy(dst + i * strides[0], src + i * strides[1], size);
    }
  }
}

void move_all(at::TensorIteratorBase& iter) {
  switch (iter.element_size(0)) {
    case 1:
      return for_each(iter, &move_elements<1>);
    case 2:
      return for_each(iter, &move_elements<2>);
    case 4:
      return for_each(iter, &move_elements<4>);
    case 8:
      return for_each(iter, &move_elements<8>);
    case 16:
      return for_each(iter, &move_elements<16>);
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "copy_: elements of ", iter.element_size(0), " bytes");
  }
}

/// Beyond this many calls of the driver, a copy whose result lies in one run is quicker by way of the host.
constexpr size_t kMostCalls = 512;

/// Moves the elements by the device's own copies, which wait for nothing. False where a kernel is to do it: copies of bytes must
/// not overlap, and a kernel that reaches the memory is quicker with strides.
bool move_by_driver(const at::TensorIteratorBase& iter) {
  const auto itemsize = static_cast<size_t>(iter.element_size(0));
  const Rows rows = rows_of(iter.shape(), {iter.strides(0), iter.strides(1)}, itemsize);
  if ((rows.height != 1 || !rows.outer.empty()) && kernels_reach_memory()) {
    return false;
  }
  auto* const dst = static_cast<char*>(iter.data_ptr(0));
  const auto* const src = static_cast<const char*>(iter.data_ptr(1));
  size_t dst_bytes = itemsize;
  size_t src_bytes = itemsize;
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    dst_bytes += static_cast<size_t>((iter.shape()[dim] - 1) * iter.strides(0)[dim]);
    src_bytes += static_cast<size_t>((iter.shape()[dim] - 1) * iter.strides(1)[dim]);
  }
  const bool overlap = dst < src + src_bytes && src < dst + dst_bytes;
  const bool dense = dst_bytes == itemsize * static_cast<size_t>(iter.numel());
  if (overlap || (dense && rows.calls() > kMostCalls)) {
    return false;
  }
  copy_rows(rows, dst, src, orMemcpyDeviceToDevice, getCurrentStream());
  return true;
}

}  // namespace

/// dst = src, on one device, with broadcast done. Asynchronous, in the current stream.
void copy_on_device(const at::Tensor& dst, const at::Tensor& src, bool check_overlap) {
  static constexpr RegisteredKernel kMoves{"aten::copy_", "minimal", /*moves=*/true};
  const OperatorScope scope(kMoves);
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(check_overlap)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(dst)
                  .add_const_input(src)
                  .build();
  const Flags flags{dst.is_conj() != src.is_conj(), dst.is_neg() != src.is_neg()};
  const bool complex_to_real = src.is_complex() && !dst.is_complex();
  const Flags needed{flags.conjugate && !complex_to_real, flags.negate};
  if (iter.numel() == 0) {
    return;
  }
  if (dst.scalar_type() == src.scalar_type() && !needed.conjugate && !needed.negate) {
    if (!move_by_driver(iter)) {
      move_all(iter);
    }
    return;
  }
  const auto [load_block, wide] = loader(src.scalar_type());
  const Store store_block = storer(dst.scalar_type(), wide);
  for_each(iter,
      [load_block = load_block, wide = wide, store_block, needed](
          char** data, const int64_t* strides, int64_t n0, int64_t n1) {
        Block block;
        for (int64_t j = 0; j < n1; ++j) {
          for (int64_t begin = 0; begin < n0; begin += kBlock) {
            const int64_t n = std::min(kBlock, n0 - begin);
            load_block(block, data[1] + j * strides[3] + begin * strides[1], strides[1], n);
            if (needed.conjugate || needed.negate) {
              apply(needed, wide, block, n);
            }
            store_block(data[0] + j * strides[2] + begin * strides[0], strides[0], block, n);
          }
        }
      });
}

}  // namespace openreg::native
