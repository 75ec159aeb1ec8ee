// What tests of operators share: the catalogue of the installed PyTorch, read once.
#pragma once

#include "catalog/build.h"
#include "catalog/catalog.h"
#include "files.h"

#include <string_view>

namespace openreg_gen {

/// The catalogue of the active environment. Throws, and so fails the test, where there is no PyTorch.
inline const Catalog& catalog() {
  static const Catalog loaded = load_catalog(find_torch({}));
  return loaded;
}

/// The same, past the cache.
inline const Catalog& installed() {
  static const Catalog built = build_catalog(find_sources(find_torch({})));
  return built;
}

/// Where PyTorch's wheel keeps what it declares, beside its folder.
inline constexpr std::string_view kDeclarations = "torchgen/packaged/ATen/native";

}  // namespace openreg_gen
