// Which DispatchStubs those kernels call that PyTorch's devices share: machine code alone says it. The table is written
// by scripts/facts.py; scripts/stub_calls.py says how it is read, and which operators are left out.
#pragma once

#include <string_view>

namespace openreg_gen {

struct InTreeRow {
  std::string_view op;
  std::string_view stubs;  // "gather_expanded_index_stub gather_stub"; empty if it calls operators alone
};

/// Null for an operator without such a kernel, and for one that the table leaves out.
const InTreeRow* find_in_tree_row(std::string_view op);

}  // namespace openreg_gen
