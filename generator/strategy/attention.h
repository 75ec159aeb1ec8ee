// Fused attention: which operators of a spec are its kernels and its choice, and what they start as.
#pragma once

#include "strategy/item.h"

#include <string>

namespace openreg_gen {

/// Whether it is one of these operators. The CPU has nothing to compare them with; tests/test_attention.py has their
/// tests.
bool of_attention(std::string_view op);
/// The function that such a kernel calls at first, of csrc/aten/native/AttentionMath.h; empty for other operators.
std::string attention_start(std::string_view op);
/// _fused_sdp_choice, whose stub is no kernel: PyTorch's function of that name is the CPU's own choice.
bool is_attention_choice(std::string_view op);
/// {fused_attention, fused_attention_backward, attention_choice}: what of it the spec names.
void add_attention(Listed& listed);

}  // namespace openreg_gen
