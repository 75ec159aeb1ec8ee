// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Matrix products: a part of the device's C API that a device may leave out. openreg.h includes it.

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum orDataType {
  orFloat16 = 0,
  orBFloat16 = 1,
  orFloat32 = 2,
  orFloat64 = 3,
  orComplex64 = 4,  // real and imaginary part, each as Float32
  orComplex128 = 5
} orDataType;

typedef enum orTranspose {
  orNotTransposed = 0,
  orTransposed = 1,
  orConjugateTransposed = 2
} orTranspose;

// c = alpha * op(a) * op(b) + beta * c, for each of a batch of matrices; the transposes define op. Stored by columns,
// as in BLAS; distances are in elements: ld* from a column to the next, stride* from a matrix to the next (0: all
// products share that matrix).
typedef struct orGemmProblem {
  orDataType type;  // of all three matrices; those of 16 bits are added up in 32
  orTranspose transposeA;
  orTranspose transposeB;
  int64_t m;  // rows of op(a) and c
  int64_t n;  // columns of op(b) and c
  int64_t k;  // columns of op(a), rows of op(b)
  int64_t batch;
  double alpha[2];  // real and imaginary part
  double beta[2];  // 0: c is written, not read
  const void* a;
  int64_t lda;
  int64_t strideA;
  const void* b;
  int64_t ldb;
  int64_t strideB;
  void* c;
  int64_t ldc;
  int64_t strideC;
} orGemmProblem;

// Queues the products on `stream`; `problem` is read before it returns. orErrorNotSupported: not on this device, or
// not for this problem; the CPU then computes it. orErrorInvalidValue: negative sizes, an
// ld* below the length of a column, matrices that are not in device memory.
OPENREG_API orError_t orGemm(const orGemmProblem* problem, orStream_t stream);

#ifdef __cplusplus
}  // extern "C"
#endif
