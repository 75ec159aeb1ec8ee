// What tests of operators share: catalogues, read once.
#pragma once

#include "catalog/build.h"
#include "catalog/catalog.h"
#include "files.h"

#include <string_view>

namespace openreg_gen {

/// The operators that tests name, checked in: scripts/declarations.py. No PyTorch is needed.
inline const Catalog& catalog() {
  static const Catalog small = build_catalog(find_sources(TESTS_DIR "/torch-2.13.0"));
  return small;
}

/// The catalogue of the active environment. Throws, and so fails the test, where there is no PyTorch.
inline const Catalog& installed() {
  static const Catalog loaded = load_catalog(find_torch({}));
  return loaded;
}

/// The same, past the cache.
inline const Catalog& built() {
  static const Catalog fresh = build_catalog(find_sources(find_torch({})));
  return fresh;
}

/// Where PyTorch's wheel keeps what it declares, beside its folder.
inline constexpr std::string_view kDeclarations = "torchgen/packaged/ATen/native";

}  // namespace openreg_gen
