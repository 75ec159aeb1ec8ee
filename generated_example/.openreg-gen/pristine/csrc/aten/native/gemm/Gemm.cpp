// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/addmv_ops.h>
#include <ATen/ops/baddbmm_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm_ops.h>

#include "aten/native/gemm/Gemm.h"
#include "aten/native/Kernels.h"
#include "host/Kernel.h"
#include "runtime/Exception.h"
#include "runtime/Stream.h"

// All matrix products come here, and go to orGemm of the device's API: that is the function to port. The CPU's
// kernels compute what the device does not support, such as integers (Note [The CPU's kernels on the device]).

namespace openreg::native {
namespace {

std::optional<orDataType> data_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return orFloat16;
    case at::kBFloat16:
      return orBFloat16;
    case at::kFloat:
      return orFloat32;
    case at::kDouble:
      return orFloat64;
    case at::kComplexFloat:
      return orComplex64;
    case at::kComplexDouble:
      return orComplex128;
    default:
      return std::nullopt;
  }
}

/// A matrix, or a batch of them, as the device's API takes it: by columns, or transposed.
struct Matrix {
  explicit Matrix(at::Tensor tensor) : values(std::move(tensor)) {}
  /// False if neither its rows nor its columns are dense.
  bool describe() {
    const int64_t rows = values.size(-2);
    const int64_t columns = values.size(-1);
    stride = values.dim() == 3 && values.size(0) > 1 ? values.stride(0) : 0;
    if ((values.stride(-2) == 1 || rows == 1) && (values.stride(-1) >= std::max<int64_t>(1, rows) || columns == 1)) {
      transpose = orNotTransposed;
      ld = columns == 1 ? std::max<int64_t>(1, rows) : values.stride(-1);
      return true;
    }
    transpose = orTransposed;
    ld = rows == 1 ? std::max<int64_t>(1, columns) : values.stride(-2);
    return (values.stride(-1) == 1 || columns == 1) && (values.stride(-2) >= std::max<int64_t>(1, columns) || rows == 1);
  }
  at::Tensor values;
  orTranspose transpose = orNotTransposed;
  int64_t ld = 1;
  int64_t stride = 0;
};

Matrix input(const at::Tensor& tensor) {
  if (tensor.numel() == 0) {
    // Nothing is read, and the strides of what has no elements may be anything.
    Matrix empty(at::empty(tensor.sizes(), tensor.options()));
    empty.describe();
    return empty;
  }
  const bool conjugated = tensor.is_conj();
  Matrix matrix((conjugated ? tensor.conj() : tensor).resolve_neg());
  if (!matrix.describe()) {
    matrix.values = matrix.values.contiguous();
    matrix.describe();
  }
  if (!conjugated) {
    return matrix;
  }
  if (matrix.transpose == orTransposed) {
    matrix.transpose = orConjugateTransposed;
    return matrix;
  }
  matrix.values = tensor.resolve_conj().contiguous();
  matrix.describe();
  return matrix;
}

/// `out` by columns: out = alpha * (a @ b) + beta * out. False if the device does not support it.
bool device_gemm(const at::Tensor& out, int64_t ldc, const at::Tensor& a, const at::Tensor& b, const at::Scalar& beta,
    const at::Scalar& alpha) {
  const Matrix left = input(a);
  const Matrix right = input(b);
  orGemmProblem problem{};
  problem.type = *data_type(out.scalar_type());
  problem.transposeA = left.transpose;
  problem.transposeB = right.transpose;
  problem.m = out.size(-2);
  problem.n = out.size(-1);
  problem.k = a.size(-1);
  problem.batch = out.dim() == 3 ? out.size(0) : 1;
  const auto set = [&](double (&parts)[2], const at::Scalar& scalar) {
    const c10::complex<double> value = out.is_complex() ? scalar.toComplexDouble() : scalar.toDouble();
    parts[0] = value.real();
    parts[1] = value.imag();
  };
  set(problem.alpha, alpha);
  set(problem.beta, beta);
  problem.a = left.values.const_data_ptr();
  problem.lda = left.ld;
  problem.strideA = left.stride;
  problem.b = right.values.const_data_ptr();
  problem.ldb = right.ld;
  problem.strideB = right.stride;
  problem.c = out.mutable_data_ptr();
  problem.ldc = ldc;
  problem.strideC = out.dim() == 3 ? out.stride(0) : 0;
  OPENREG_CHECK_DEVICE();
  const orError_t gemm = orGemm(&problem, getCurrentStream().stream());
  if (gemm == orErrorNotSupported) {
    orGetLastError();
    return false;
  }
  OPENREG_CHECK_OF(gemm, orGemm);
  return true;
}

/// By the CPU's kernels, which throw for dtypes that they do not take; waits for them.
void host_gemm(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
    const at::Scalar& beta, const at::Scalar& alpha) {
  at::Tensor result = out;
  if (!self.defined()) {
    a.dim() == 3 ? host_call<at::_ops::bmm_out>(a, b, result) : host_call<at::_ops::mm_out>(a, b, result);
  } else if (b.dim() == 1) {
    host_call<at::_ops::addmv_out>(self, a, b, beta, alpha, result);
  } else if (a.dim() == 3) {
    host_call<at::_ops::baddbmm_out>(self, a, b, beta, alpha, result);
  } else {
    host_call<at::_ops::addmm_out>(self, a, b, beta, alpha, result);
  }
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  return a.is_alias_of(b) && at::get_overlap_status(a, b) != at::MemOverlapStatus::No;
}

/// Throws where the CPU's products refuse an `out` whose elements share memory: products of two matrices (but mm of nothing) and
/// what copies `self` first always, batches from the size on that the CPU gives to BLAS.
void refuse_shared_elements(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a) {
  constexpr int64_t kLoops = 400;  // smaller batches are computed by loops that write each element
  const bool copies = self.defined() && !self.is_same(out);
  if (copies || (out.dim() == 2 && (self.defined() || a.numel() > 0))) {
    at::assert_no_internal_overlap(out);
  } else if (out.dim() == 3 && a.size(-1) * out.size(-2) * out.size(-1) >= kLoops) {
    at::assert_no_internal_overlap(out.select(0, 0));
  }
}

/// Whether two tensors are the same elements in the same order.
bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
      a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

/// False where the device does not do it; `out` may hold `self` then.
bool product(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
    const at::Scalar& beta, const at::Scalar& alpha) {
  const auto dtype = out.scalar_type();
  const bool numbers = detail::fits(beta, dtype) && detail::fits(alpha, dtype);  // else the CPU knows which it refuses
  if (!data_type(dtype) || a.scalar_type() != dtype || b.scalar_type() != dtype || out.is_conj() || out.is_neg() || !numbers) {
    return false;
  }
  if (b.dim() == 1) {
    const bool column = self.defined() && self.dim() > 0;
    return product(out.unsqueeze(-1), column ? self.unsqueeze(-1) : self, a, b.unsqueeze(-1), beta, alpha);
  }
  Matrix result(out);
  const bool apart = !overlap(out, a) && !overlap(out, b);  // else factors would be overwritten while they are read
  const bool fits = apart && result.describe() && (out.dim() < 3 || out.size(0) == 1 || result.stride != 0);
  if (!fits) {
    result.values = at::empty(out.sizes(), out.options());
    result.describe();
  }
  // Without self nothing is read; with a beta of 0, neither, so that what was not a number there does not spread.
  const bool adds = self.defined() && !beta.equal(0);
  if (adds && !same(self, result.values)) {
    result.values.copy_(self.expand(out.sizes()));
  }
  const at::Scalar factor = adds ? beta : at::Scalar(0);
  const bool by_rows = result.transpose == orTransposed;
  // By rows: the transposed result is the product of the transposed factors in the other order.
  const bool done = by_rows
      ? device_gemm(result.values.mT(), result.ld, b.mT(), a.mT(), factor, alpha)
      : device_gemm(result.values, result.ld, a, b, factor, alpha);
  if (done && !fits) {
    copy_on_device(out, result.values, /*check_overlap=*/false);  // the CPU's products, too, go to elements that share memory
  }
  return done;
}

}  // namespace

void gemm(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
    const at::Scalar& beta, const at::Scalar& alpha) {
  if (self.defined()) {
    static_cast<void>(self.expand(out.sizes()));  // throws if it does not broadcast, whether there is something to add or not
  }
  // The CPU's mm checks this of empty matrices, too; its batches don't. meta() checks the other operators.
  TORCH_CHECK(out.dim() != 2 || a.scalar_type() == b.scalar_type(), "expected m1 and m2 to have the same dtype, but got: ",
      a.dtype(), " != ", b.dtype());
  if (out.numel() == 0) {
    return;
  }
  refuse_shared_elements(out, self, a);
  if (!product(out, self, a, b, beta, alpha)) {
    host_gemm(out, self, a, b, beta, alpha);
  }
}

}  // namespace openreg::native
