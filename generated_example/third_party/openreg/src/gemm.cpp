// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device.h"
#include "error.h"
#include "stream.h"

// Note [Products of matrices]
// Where the process has a BLAS, as one with PyTorch does, its functions compute on the stream's thread. What it has no
// function for (16 bits, sizes beyond an int), and processes without one, are served by a blocked loop.

// Of the process's BLAS, if it has one: Fortran's convention, matrices by columns.
#define BLAS_GEMM(name, T) \
  extern "C" __attribute__((weak)) void name( \
      const char* transpose_a, const char* transpose_b, const int* m, const int* n, \
      const int* k, const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, \
      const T* beta, T* c, const int* ldc)

BLAS_GEMM(sgemm_, float);
BLAS_GEMM(dgemm_, double);
BLAS_GEMM(cgemm_, std::complex<float>);
BLAS_GEMM(zgemm_, std::complex<double>);

// Many products of one size at once, if it has that (MKL, OpenBLAS): what starting its threads takes is more than a small
// product does. In C's convention; groups of products, of which there is one here.
#define BLAS_GEMM_BATCH(name, T) \
  extern "C" __attribute__((weak)) void name( \
      int layout, const int* transpose_a, const int* transpose_b, const int* m, const int* n, \
      const int* k, const T* alpha, const T** a, const int* lda, const T** b, const int* ldb, \
      const T* beta, T** c, const int* ldc, int groups, const int* sizes_of_groups)

BLAS_GEMM_BATCH(cblas_sgemm_batch, float);
BLAS_GEMM_BATCH(cblas_dgemm_batch, double);
BLAS_GEMM_BATCH(cblas_cgemm_batch, std::complex<float>);
BLAS_GEMM_BATCH(cblas_zgemm_batch, std::complex<double>);

namespace openreg::driver {
namespace {

// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits;
  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest_even = 0x7fff + (wide >> 16 & 1);
    bits = static_cast<std::uint16_t>(value != value ? 0x7fc0 : (wide + nearest_even) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

template <typename T>
T conjugate(T value) {
  return value;
}
template <typename T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

template <typename T>
T number(const double (&parts)[2]) {
  return static_cast<T>(parts[0]);
}
template <>
std::complex<float> number(const double (&parts)[2]) {
  return {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
}
template <>
std::complex<double> number(const double (&parts)[2]) {
  return {parts[0], parts[1]};
}

// Element (row, column) of op(matrix), to compute with.
template <typename T, typename Computed>
struct Matrix {
  const T* data;
  std::int64_t ld;
  orTranspose transpose;
  Computed at(std::int64_t row, std::int64_t column) const {
    if (transpose == orNotTransposed) return static_cast<Computed>(data[column * ld + row]);
    const auto value = static_cast<Computed>(data[row * ld + column]);
    return transpose == orConjugateTransposed ? conjugate(value) : value;
  }
};

constexpr std::int64_t kRows = 8;  // of a tile, which the compiler keeps in registers
constexpr std::int64_t kColumns = 4;
constexpr std::int64_t kBlock = 128;  // rows and columns of c that are computed together
constexpr std::int64_t kDepth = 256;  // elements that are added up before the next block is packed

// tile += panel_a * panel_b; both are packed, one step of the sum after another.
template <typename T>
void multiply_tile(const T* a, const T* b, std::int64_t depth, T* tile, std::int64_t ld) {
  T sums[kColumns][kRows] = {};
  for (std::int64_t p = 0; p < depth; ++p, a += kRows, b += kColumns) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      for (std::int64_t i = 0; i < kRows; ++i) sums[j][i] += a[i] * b[j];
    }
  }
  for (std::int64_t j = 0; j < kColumns; ++j) {
    for (std::int64_t i = 0; i < kRows; ++i) tile[j * ld + i] += sums[j][i];
  }
}

// Panels of `width` lines of `depth` elements each, filled up with zeros.
template <std::int64_t width, typename T, typename Get>
void pack(std::vector<T>& to, std::int64_t lines, std::int64_t depth, const Get& get) {
  auto next = to.begin();
  for (std::int64_t line = 0; line < lines; line += width) {
    for (std::int64_t p = 0; p < depth; ++p) {
      for (std::int64_t i = line; i < line + width; ++i) *next++ = i < lines ? get(i, p) : T{};
    }
  }
}

template <typename T, typename Computed>
void multiply(const orGemmProblem& problem, const T* a_data, const T* b_data, T* c) {
  const Matrix<T, Computed> a{a_data, problem.lda, problem.transposeA};
  const Matrix<T, Computed> b{b_data, problem.ldb, problem.transposeB};
  const auto alpha = number<Computed>(problem.alpha);
  const auto beta = number<Computed>(problem.beta);
  std::vector<Computed> packed_a(kBlock * kDepth);
  std::vector<Computed> packed_b(kBlock * kDepth);
  std::vector<Computed> block(kBlock * kBlock);
  for (std::int64_t column = 0; column < problem.n; column += kBlock) {
    const std::int64_t columns = std::min(kBlock, problem.n - column);
    for (std::int64_t row = 0; row < problem.m; row += kBlock) {
      const std::int64_t rows = std::min(kBlock, problem.m - row);
      std::fill(block.begin(), block.end(), Computed{});
      for (std::int64_t begin = 0; begin < problem.k; begin += kDepth) {
        const std::int64_t depth = std::min(kDepth, problem.k - begin);
        pack<kRows>(packed_a, rows, depth, [&](auto i, auto p) { return a.at(row + i, begin + p); });
        pack<kColumns>(packed_b, columns, depth, [&](auto j, auto p) { return b.at(begin + p, column + j); });
        for (std::int64_t j = 0; j < columns; j += kColumns) {
          for (std::int64_t i = 0; i < rows; i += kRows) {
            multiply_tile(&packed_a[i * depth], &packed_b[j * depth], depth, &block[j * kBlock + i], kBlock);
          }
        }
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = 0; i < rows; ++i) {
          T& to = c[(column + j) * problem.ldc + row + i];
          const Computed product = alpha * block[j * kBlock + i];
          to = static_cast<T>(beta == Computed{} ? product : product + beta * static_cast<Computed>(to));
        }
      }
    }
  }
}

// The functions of BLAS for a dtype; null where the process has none.
template <typename T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto one = sgemm_;
  static constexpr auto batch = cblas_sgemm_batch;
};
template <>
struct Blas<double> {
  static constexpr auto one = dgemm_;
  static constexpr auto batch = cblas_dgemm_batch;
};
template <>
struct Blas<std::complex<float>> {
  static constexpr auto one = cgemm_;
  static constexpr auto batch = cblas_cgemm_batch;
};
template <>
struct Blas<std::complex<double>> {
  static constexpr auto one = zgemm_;
  static constexpr auto batch = cblas_zgemm_batch;
};

// Where the matrices of a batch are.
template <typename T>
struct Batch {
  const T* a;
  const T* b;
  T* c;
  Batch(const orGemmProblem& problem, std::int64_t i)
      : a(static_cast<const T*>(problem.a) + i * problem.strideA),
        b(static_cast<const T*>(problem.b) + i * problem.strideB),
        c(static_cast<T*>(problem.c) + i * problem.strideC) {}
};

// False if the process's BLAS cannot do it.
template <typename T>
bool multiply_by_blas(const orGemmProblem& problem) {
  if (Blas<T>::one == nullptr) return false;
  const std::int64_t largest = std::max({problem.m, problem.n, problem.k, problem.lda, problem.ldb, problem.ldc, problem.batch});
  if (largest > INT_MAX) return false;
  const T alpha = number<T>(problem.alpha);
  const T beta = number<T>(problem.beta);
  const int sizes[] = {static_cast<int>(problem.m), static_cast<int>(problem.n), static_cast<int>(problem.k)};
  const int lds[] = {static_cast<int>(problem.lda), static_cast<int>(problem.ldb), static_cast<int>(problem.ldc)};
  if (problem.batch > 1 && Blas<T>::batch != nullptr) {
    constexpr int columns = 102;
    constexpr int not_transposed = 111;
    const int transposes[] = {not_transposed + problem.transposeA, not_transposed + problem.transposeB};
    const int count = static_cast<int>(problem.batch);
    std::vector<const T*> a, b;
    std::vector<T*> c;
    for (std::int64_t i = 0; i < problem.batch; ++i) {
      const Batch<T> at(problem, i);
      a.push_back(at.a);
      b.push_back(at.b);
      c.push_back(at.c);
    }
    Blas<T>::batch(columns, &transposes[0], &transposes[1], &sizes[0], &sizes[1], &sizes[2], &alpha, a.data(), &lds[0],
        b.data(), &lds[1], &beta, c.data(), &lds[2], 1, &count);
    return true;
  }
  const char* letters = "NTC";
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    const Batch<T> at(problem, i);
    Blas<T>::one(&letters[problem.transposeA], &letters[problem.transposeB], &sizes[0], &sizes[1], &sizes[2], &alpha, at.a,
        &lds[0], at.b, &lds[1], &beta, at.c, &lds[2]);
  }
  return true;
}

template <typename T, typename Computed = T>
void multiply_batch(const orGemmProblem& problem) {
  if constexpr (std::is_same_v<T, Computed>) {
    if (multiply_by_blas<T>(problem)) return;
  }
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    const Batch<T> at(problem, i);
    multiply<T, Computed>(problem, at.a, at.b, at.c);
  }
}

}  // namespace

bool valid(const orGemmProblem& problem) noexcept {
  const auto known = [](int transpose) { return transpose >= orNotTransposed && transpose <= orConjugateTransposed; };
  const int type = problem.type;
  const int a = problem.transposeA;
  const int b = problem.transposeB;
  const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
  if (type < orFloat16 || type > orComplex128 || !known(a) || !known(b)) return false;
  if (m < 0 || n < 0 || k < 0 || problem.batch < 0) return false;
  const auto fits = [](std::int64_t ld, std::int64_t rows) { return ld >= std::max<std::int64_t>(1, rows); };
  return fits(problem.lda, a == orNotTransposed ? m : k) && fits(problem.ldb, b == orNotTransposed ? k : n) &&
      fits(problem.ldc, m);
}

void run_gemm(const orGemmProblem& problem) {
  switch (problem.type) {
    case orFloat16:
      return multiply_batch<_Float16, float>(problem);
    case orBFloat16:
      return multiply_batch<BFloat16, float>(problem);
    case orFloat32:
      return multiply_batch<float>(problem);
    case orFloat64:
      return multiply_batch<double>(problem);
    case orComplex64:
      return multiply_batch<std::complex<float>>(problem);
    case orComplex128:
      return multiply_batch<std::complex<double>>(problem);
  }
}

}  // namespace openreg::driver

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
