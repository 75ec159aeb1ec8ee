// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <complex>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "test_support.h"

namespace {

using Complex = std::complex<double>;

// What the tests compare with: op(a)[i, p] by the definition.
template <typename T>
T element(const std::vector<T>& data, size_t start, int64_t ld, orTranspose transpose, int64_t row, int64_t column) {
  const bool as_is = transpose == orNotTransposed;
  const T value = data[start + static_cast<size_t>(as_is ? column * ld + row : row * ld + column)];
  if constexpr (std::is_same_v<T, Complex>) {
    if (transpose == orConjugateTransposed) return std::conj(value);
  }
  return value;
}

template <typename T>
T made(size_t i) {
  const auto part = [i](size_t by) { return static_cast<double>(static_cast<int>(i * by % 17) - 8) / 4; };
  if constexpr (std::is_same_v<T, Complex>) return {part(5), part(11)};
  return static_cast<T>(std::real(Complex(part(5))));
}

template <typename T>
class Operand {
 public:
  explicit Operand(int64_t elements) : host(static_cast<size_t>(elements)), device_(host.size() * sizeof(T)) {
    for (size_t i = 0; i < host.size(); ++i) host[i] = made<T>(i + host.size());
    EXPECT_OK(orMemcpy(device_.get(), host.data(), host.size() * sizeof(T), orMemcpyHostToDevice));
  }
  void* get() const { return device_.get(); }
  std::vector<T> now() const {
    std::vector<T> copy(host.size());
    EXPECT_OK(orMemcpy(copy.data(), device_.get(), host.size() * sizeof(T), orMemcpyDeviceToHost));
    return copy;
  }
  std::vector<T> host;

 private:
  Buffer device_;
};

class GemmTest : public DeviceTest {
 protected:
  // Compares every element of c, those between its columns too, which must stay.
  template <typename T>
  void check(orGemmProblem problem, double tolerance) {
    const auto& [m, n, k] = std::tie(problem.m, problem.n, problem.k);
    problem.lda = (problem.transposeA == orNotTransposed ? m : k) + 2;
    problem.ldb = (problem.transposeB == orNotTransposed ? k : n) + 1;
    problem.ldc = m + 3;
    const int64_t columns_a = problem.transposeA == orNotTransposed ? k : m;
    const int64_t columns_b = problem.transposeB == orNotTransposed ? n : k;
    problem.strideA = problem.lda * columns_a + 5;
    problem.strideB = 0;
    problem.strideC = problem.ldc * n + 4;
    const Operand<T> a(problem.strideA * problem.batch + 1);
    const Operand<T> b(problem.ldb * columns_b + 1);
    const Operand<T> c(problem.strideC * problem.batch + 1);
    problem.a = a.get();
    problem.b = b.get();
    problem.c = c.get();
    ASSERT_OK(orGemm(&problem, nullptr));
    ASSERT_OK(orStreamSynchronize(nullptr));
    std::vector<T> expected = c.host;
    for (int64_t i = 0; i < problem.batch; ++i) {
      for (int64_t column = 0; column < n; ++column) {
        for (int64_t row = 0; row < m; ++row) {
          T sum{};
          for (int64_t p = 0; p < k; ++p) {
            const auto start = static_cast<size_t>(i * problem.strideA);
            sum += element(a.host, start, problem.lda, problem.transposeA, row, p) * element(b.host, 0, problem.ldb, problem.transposeB, p, column);
          }
          T& to = expected[static_cast<size_t>(i * problem.strideC + column * problem.ldc + row)];
          to = scale<T>(problem.alpha) * sum + scale<T>(problem.beta) * to;
        }
      }
    }
    const std::vector<T> result = c.now();
    for (size_t i = 0; i < result.size(); ++i) ASSERT_LE(std::abs(result[i] - expected[i]), tolerance) << "at " << i;
  }

  template <typename T>
  static T scale(const double (&parts)[2]) {
    if constexpr (std::is_same_v<T, Complex>) return {parts[0], parts[1]};
    return static_cast<T>(std::real(Complex(parts[0])));
  }

  static orGemmProblem problem(orDataType type, int64_t m, int64_t n, int64_t k, int64_t batch) {
    orGemmProblem result{};
    result.type = type;
    result.m = m;
    result.n = n;
    result.k = k;
    result.batch = batch;
    result.lda = result.ldb = result.ldc = 1024;
    result.alpha[0] = 1;
    return result;
  }
};

TEST_F(GemmTest, AllTransposes) {
  for (const auto a : {orNotTransposed, orTransposed, orConjugateTransposed}) {
    for (const auto b : {orNotTransposed, orTransposed, orConjugateTransposed}) {
      auto given = problem(orComplex128, 13, 9, 7, 3);
      given.transposeA = a;
      given.transposeB = b;
      given.alpha[1] = 0.5;
      given.beta[0] = 2;
      given.beta[1] = -1;
      check<Complex>(given, 1e-10);
    }
  }
}

TEST_F(GemmTest, AcrossBlocks) {
  auto given = problem(orFloat32, 131, 137, 300, 1);
  given.transposeB = orTransposed;
  given.beta[0] = 1;
  check<float>(given, 1e-2);
  check<double>(problem(orFloat64, 257, 3, 1, 1), 1e-10);
}

TEST_F(GemmTest, NothingToAddUpLeavesBeta) {
  auto given = problem(orFloat32, 3, 4, 0, 2);
  given.beta[0] = 0.5;
  check<float>(given, 0);
  given.beta[0] = 0;
  check<float>(given, 0);
}

// Small integers are exact in 16 bits; the sums would not be, were they kept in 16 bits.
TEST_F(GemmTest, HalvesAreAddedUpInFloat) {
  constexpr size_t kTerms = 4096;
  for (const auto& [type, one, many] : {std::tuple{orFloat16, 0x3c00, 0x6c00}, std::tuple{orBFloat16, 0x3f80, 0x4580}}) {
    Buffer ones(kTerms * 2);
    Buffer sum(2);
    const std::vector<uint16_t> bits(kTerms, static_cast<uint16_t>(one));
    ASSERT_OK(orMemcpy(ones.get(), bits.data(), kTerms * 2, orMemcpyHostToDevice));
    auto given = problem(type, 1, 1, kTerms, 1);
    given.lda = 1;
    given.ldb = kTerms;
    given.a = given.b = ones.get();
    given.c = sum.get();
    ASSERT_OK(orGemm(&given, nullptr));
    const std::vector<char> bytes = fetch(sum.get(), 2);
    uint16_t result = 0;
    std::memcpy(&result, bytes.data(), 2);
    EXPECT_EQ(result, many);
  }
}

TEST_F(GemmTest, IsQueued) {
  OwnedStream stream;
  Buffer one(sizeof(double));
  Buffer product(sizeof(double));
  ASSERT_OK(orMemset(one.get(), 0, sizeof(double)));
  ASSERT_OK(orMemset(product.get(), 1, sizeof(double)));
  auto given = problem(orFloat64, 1, 1, 1, 1);
  given.a = given.b = one.get();
  given.c = product.get();
  {
    Gate gate(stream.get());
    ASSERT_OK(orGemm(&given, stream.get()));
    given.m = 0;  // it was read
    EXPECT_EQ(orStreamQuery(stream.get()), orErrorNotReady);
    EXPECT_EQ(fetch(product.get(), 1)[0], 1);
  }
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(fetch(product.get(), 1)[0], 0);
}

TEST_F(GemmTest, RefusesWhatMakesNoSense) {
  Buffer memory(64);
  auto good = problem(orFloat32, 2, 2, 2, 1);
  good.a = good.b = good.c = memory.get();
  EXPECT_EQ(orGemm(nullptr, nullptr), orErrorInvalidValue);
  const auto refused = [&](auto change) {
    auto bad = good;
    change(bad);
    return orGemm(&bad, nullptr) == orErrorInvalidValue;
  };
  float host[4] = {};
  EXPECT_TRUE(refused([](auto& bad) { bad.m = -1; }));
  EXPECT_TRUE(refused([](auto& bad) { bad.batch = -1; }));
  EXPECT_TRUE(refused([](auto& bad) { bad.lda = 1; }));
  EXPECT_TRUE(refused([](auto& bad) { bad.ldc = 1; }));
  EXPECT_TRUE(refused([&](auto& bad) { bad.a = host; }));
  EXPECT_TRUE(refused([&](auto& bad) { bad.c = nullptr; }));
  EXPECT_EQ(orGemm(&good, reinterpret_cast<orStream_t>(8)), orErrorInvalidHandle);
}

}  // namespace
