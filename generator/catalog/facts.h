// What PyTorch's sources and machine code say of its kernels. The tables are written by scripts/facts.py.
#pragma once

#include <string_view>

namespace openreg_gen {

/// How PyTorch's headers declare a DispatchStub that a backend may serve.
struct StubDeclaration {
  std::string_view name;     // "abs_stub", in at::native
  std::string_view family;   // "UnaryOps": declared in ATen/native/UnaryOps.h
  std::string_view fn_type;  // "unary_fn"; empty where the type has no name
};

/// Null for a stub that no table of operators names.
const StubDeclaration* find_stub_declaration(std::string_view name);

/// Which DispatchStubs a kernel calls that PyTorch's devices share: machine code alone says it. scripts/stub_calls.py
/// says how it is read, and which operators are left out.
struct InTreeRow {
  std::string_view op;
  std::string_view stubs;  // "gather_expanded_index_stub gather_stub"; empty if it calls operators alone
};

/// Null for an operator without such a kernel, and for one that the table leaves out.
const InTreeRow* find_in_tree_row(std::string_view op);

}  // namespace openreg_gen
