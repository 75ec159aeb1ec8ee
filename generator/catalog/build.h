#pragma once

#include "catalog/catalog.h"

namespace openreg_gen {

/// The files a catalogue is made of. `declarations` is empty for a folder that holds only the YAML files.
struct CatalogSources {
  std::filesystem::path torch;  // as find_torch gives it
  std::filesystem::path declarations, native_functions, tags;
  std::string version;  // "2.13.0" or "unknown"
};

/// Throws Failure(Environment) that names the missing file.
CatalogSources find_sources(const std::filesystem::path& torch);
/// Reads and merges the files, without any cache. Some 0.2 s.
Catalog build_catalog(const CatalogSources& sources);

}  // namespace openreg_gen
