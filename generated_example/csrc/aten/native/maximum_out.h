// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/ops/maximum_meta.h>

namespace openreg::native {

// aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
// meta() is inherited; impl() is in maximum_out.cpp. An impl() whose arguments no longer fit fails to compile.
struct maximum_out : at::meta::structured_maximum {
  void impl(const at::Tensor& self, const at::Tensor& other, const at::Tensor& out);
};

}  // namespace openreg::native
