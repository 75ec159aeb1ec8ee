// How PyTorch's headers declare the DispatchStubs that a backend may serve. The table is written by scripts/facts.py.
#pragma once

#include <string_view>

namespace openreg_gen {

struct StubDeclaration {
  std::string_view name;     // "abs_stub", in at::native
  std::string_view family;   // "UnaryOps": declared in ATen/native/UnaryOps.h
  std::string_view fn_type;  // "unary_fn"; empty where the type has no name
};

/// Null for a stub that no table of operators names.
const StubDeclaration* find_stub_declaration(std::string_view name);

}  // namespace openreg_gen
