#include <ATen/core/Tensor.h>

namespace openreg::native {

// Works on shapes and symbols alike, so that one function serves both.
std::vector<at::Tensor> custom_shortened_meta(at::TensorList xs, at::OptionalSymIntArrayRef lengths) {
  std::vector<at::Tensor> out;
  for (size_t i = 0; i < xs.size(); ++i) {
    const c10::SymInt end = lengths.has_value() ? lengths->at(i) : xs[i].sym_size(0) - 1;
    out.push_back(xs[i].slice_symint(0, 0, end).clone());
  }
  return out;
}

std::vector<at::Tensor> custom_shortened(at::TensorList xs, at::OptionalIntArrayRef lengths) {
  std::vector<c10::SymInt> symbols;
  if (lengths.has_value()) {
    symbols.assign(lengths->begin(), lengths->end());
  }
  return custom_shortened_meta(xs, lengths.has_value() ? at::OptionalSymIntArrayRef(symbols) : std::nullopt);
}

}  // namespace openreg::native
