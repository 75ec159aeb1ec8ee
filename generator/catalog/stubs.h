// The DispatchStubs that a backend can serve so that PyTorch's own out kernel runs on its device.
//
// Listed are elementwise operators whose out kernel is the same function for CPU and CUDA in
// native_functions.yaml and ends in one DispatchStub over a TensorIterator, with scalars at most: in_tree.h says which
// one it is, facts.h how it is declared. No two operators share a stub. One is no kernel but a choice:
// _fused_sdp_choice, which F.scaled_dot_product_attention asks of each device by its stub.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace openreg_gen {

struct StubInfo {
  std::string_view op;       // "abs.out"
  std::string_view stub;     // "abs_stub", in namespace at::native
  std::string_view family;   // "UnaryOps": declared in ATen/native/UnaryOps.h
  std::string_view fn_type;  // as declared there: "unary_fn"

  std::string header() const { return "ATen/native/" + std::string(family) + ".h"; }
};

/// Sorted by op.
std::span<const StubInfo> all_stubs();
/// Null if `op` has no stub that a backend can serve.
const StubInfo* find_stub(std::string_view op);

}  // namespace openreg_gen
