// A small audit, as Python writes one: a backend with the holes that tests look for.
#pragma once

#include <string>

namespace openreg_gen {

inline std::string small_audit() {
  return R"({"format": "openreg-gen audit", "schema": 1, "device": "mine", "key": "PrivateUse1", "torch": "2.13.0",
 "package": "torch_mine 0.1", "seconds": 1.5, "provides": ["modes"],
 "registrations": [
  {"op": "aten::add.out", "key": "PrivateUse1", "at": [0, 10], "kind": "typed", "active": true},
  {"op": "aten::relu", "key": "PrivateUse1", "at": [0, 10], "kind": "typed", "active": true},
  {"op": "aten::relu", "key": "PrivateUse1", "at": [0, 3], "kind": "typed", "active": false},
  {"op": "aten::reshape", "key": "PrivateUse1", "at": [0, 10], "kind": "boxed", "active": true},
  {"op": "aten::_nnz", "key": "SparsePrivateUse1", "at": [0, 20], "kind": "typed", "active": true},
  {"op": "mine::own", "key": "PrivateUse1", "at": [0, 30], "kind": "typed", "active": true}],
 "fallbacks": [
  {"key": "PrivateUse1", "at": [0, 40], "kind": "boxed"}],
 "ops": [
  ["add.out", "kernel", 0, 10],
  ["add.Tensor", "default", 1, 7],
  ["relu", "kernel", 0, 10],
  ["relu.out", "default", 1, 8],
  ["reshape", "boxed", 0, 10],
  ["sub.out", "fallback", 0, 40],
  ["sub.Tensor", "default", 1, 9],
  ["unfold", "fallback", 0, 40],
  ["empty_strided", "fallback", 0, 40],
  ["_cudnn_rnn", "fallback", 0, 40],
  ["_nnz", "none", -1, 0],
  ["batch_norm_stats", "none", -1, 0],
  ["convolution_overrideable", "default", 1, 5]],
 "files": ["/src/Kernels.cpp", "RegisterComposite.cpp"],
 "interfaces": [
  {"group": "hooks", "name": "is_available", "verdict": "answers", "message": "True", "needs": "all", "provide": "hooks"}],
 "dtypes": [
  {"op": "add.Tensor", "takes": "float32", "refuses": {"float16": "no float16"}},
  {"op": "sub.Tensor", "takes": "float32", "refuses": {"float16": "the CPU's fallback"}}],
 "deaths": [
  {"sample": "linalg.svd", "verdict": "crashes", "message": "died of SIGSEGV"}]}
)";
}

}  // namespace openreg_gen
