// Names that a backend can't take, because PyTorch, C, or Python has them already: words, sorted.
#pragma once

#include <string_view>

namespace openreg_gen {

extern const std::string_view kTorchNames, kCNames, kHeaderNames, kStdlibModules, kPythonKeywords;

}  // namespace openreg_gen
