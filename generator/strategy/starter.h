// Small tables of kernels' starting code and parameters. Pure functions.
#pragma once

#include "strategy/item.h"

#include <string>
#include <string_view>

namespace openreg_gen {

/// The starting code of this operator's kernel: a loop, as an example; without an expression, a call to the CPU's
/// kernel.
struct Starter {
  std::string expression;
  std::string kernel_value;         // the same of the elements x_self and so on, as each language of devices has it
  std::string dispatch;             // arguments of AT_DISPATCH_V2 after the body
  std::vector<std::string> dtypes;  // the same dtypes by their names in specs
};
Starter starter(std::string_view op);

/// Parameters of a DispatchStub's function. Throws std::out_of_range on a type that stubs.cpp doesn't use.
struct StubSignature {
  std::string params;  // "at::TensorIteratorBase& iter, const at::Scalar& a"
  std::string args;    // "iter, a"
};
StubSignature stub_signature(std::string_view fn_type);

/// Whether the result of an operator without a meta() is true or false, by its base name: a comparison to PyTorch,
/// whose `out` may be of any dtype. Structured ones give it in meta().
bool boolean_result(std::string_view base);

/// Whether it is an operator of fused attention, its kernels or the choice of one. The CPU has nothing to compare them
/// with; tests/test_attention.py has their tests.
bool of_attention(std::string_view op);
/// The function that such a kernel calls at first, of csrc/aten/native/AttentionMath.h; empty for other operators.
std::string attention_start(std::string_view op);
/// _fused_sdp_choice, whose stub is a choice, not a kernel: PyTorch's function of that name chooses for the CPU.
bool is_attention_choice(std::string_view op);
/// {fused_attention, fused_attention_backward, attention_choice}: those that the spec names.
void add_attention(StrategySummary& listed);

}  // namespace openreg_gen
