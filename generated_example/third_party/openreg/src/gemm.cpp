// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "gemm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

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

// False if the process's BLAS cannot do it.
template <typename T, typename Blas>
bool multiply_by_blas(Blas* blas, const orGemmProblem& problem, const T* a, const T* b, T* c) {
  if (blas == nullptr) return false;
  const std::int64_t largest = std::max({problem.m, problem.n, problem.k, problem.lda, problem.ldb, problem.ldc});
  if (largest > INT_MAX) return false;
  const char* letters = "NTC";
  const T alpha = number<T>(problem.alpha);
  const T beta = number<T>(problem.beta);
  const int sizes[] = {static_cast<int>(problem.m), static_cast<int>(problem.n), static_cast<int>(problem.k)};
  const int lds[] = {static_cast<int>(problem.lda), static_cast<int>(problem.ldb), static_cast<int>(problem.ldc)};
  blas(&letters[problem.transposeA], &letters[problem.transposeB], &sizes[0], &sizes[1], &sizes[2], &alpha, a, &lds[0],
      b, &lds[1], &beta, c, &lds[2]);
  return true;
}

template <typename T, typename Computed = T, typename Blas = void()>
void multiply_batch(const orGemmProblem& problem, [[maybe_unused]] Blas* blas = nullptr) {
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    const T* a = static_cast<const T*>(problem.a) + i * problem.strideA;
    const T* b = static_cast<const T*>(problem.b) + i * problem.strideB;
    T* c = static_cast<T*>(problem.c) + i * problem.strideC;
    if constexpr (!std::is_same_v<Blas, void()>) {
      if (multiply_by_blas(blas, problem, a, b, c)) continue;
    }
    multiply<T, Computed>(problem, a, b, c);
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
      return multiply_batch<float>(problem, sgemm_);
    case orFloat64:
      return multiply_batch<double>(problem, dgemm_);
    case orComplex64:
      return multiply_batch<std::complex<float>>(problem, cgemm_);
    case orComplex128:
      return multiply_batch<std::complex<double>>(problem, zgemm_);
  }
}

}  // namespace openreg::driver
