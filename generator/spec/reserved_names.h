// Names that a backend can't take, because PyTorch, C, or Python has them already. Each list is sorted.
#pragma once

#include <span>
#include <string_view>

namespace openreg_gen {

std::span<const std::string_view> torch_names();
std::span<const std::string_view> c_names();
std::span<const std::string_view> header_names();
std::span<const std::string_view> stdlib_modules();
std::span<const std::string_view> python_keywords();

}  // namespace openreg_gen
