#include "model/ops_tables.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace openreg_gen {
namespace {

struct StubType {
  std::string_view name;
  bool base;          // TensorIteratorBase, not TensorIterator
  int scalars;        // const at::Scalar& that follow
  bool flag = false;  // and a bool
};
constexpr StubType kStubTypes[] = {
    {"binary_fn", false, 0},
    {"binary_fn_alpha", true, 1},
    {"elu_backward_fn", true, 3, true},
    {"elu_fn", true, 3},
    {"hardsigmoid_backward_fn", true, 0},
    {"hardsigmoid_fn", true, 0},
    {"hardswish_fn", false, 0},
    {"hardtanh_backward_fn", false, 2},
    {"is_infinity_op_fn", true, 0},
    {"leaky_relu_backward_fn", true, 1},
    {"leaky_relu_fn", true, 1},
    {"lerp_fn_scalar", true, 1},
    {"lerp_fn_tensor", true, 0},
    {"pow_tensor_tensor_fn", true, 0},
    {"shrink_backward_fn", true, 1},
    {"shrink_fn", true, 1},
    {"softplus_backward_fn", true, 2},
    {"softplus_fn", true, 2},
    {"softshrink_fn", true, 1},
    {"structured_activation_backward_fn", true, 0},
    {"structured_activation_fn", true, 0},
    {"structured_binary_fn", true, 0},
    {"structured_pointwise_fn", true, 1},
    {"threshold_fn", true, 2},
    {"unary_fn", true, 0},
    {"unary_fn_with_scalar", true, 1},
};

}  // namespace

Starter starter(std::string_view op) {
  const std::string ordered = "AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16";
  // The NaN of either argument wins, as PyTorch has it.
  if (op == "maximum.out") return {"at::_isnan(self) || self > other ? self : other", ordered};
  if (op == "minimum.out") return {"at::_isnan(self) || self < other ? self : other", ordered};
  if (op == "abs.out") return {"std::abs(self)", "AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16"};
  return {};
}

StubSignature stub_signature(std::string_view fn_type) {
  for (const StubType& type : kStubTypes) {
    if (type.name != fn_type) continue;
    StubSignature out{type.base ? "at::TensorIteratorBase& iter" : "at::TensorIterator& iter", "iter"};
    for (int i = 0; i < type.scalars; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      out.params += ", const at::Scalar& " + name;
      out.args += ", " + name;
    }
    if (type.flag) {
      out.params += ", bool flag";
      out.args += ", flag";
    }
    return out;
  }
  throw std::out_of_range("no parameters known for " + std::string(fn_type));
}

bool boolean_result(std::string_view base) {
  constexpr std::string_view kBases[] = {"isinf", "isnan", "logical_and", "logical_not", "logical_or", "logical_xor"};
  if (base.ends_with('_')) base.remove_suffix(1);  // in-place
  return std::ranges::find(kBases, base) != std::end(kBases);
}

}  // namespace openreg_gen
