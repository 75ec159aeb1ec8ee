// How a catalogue is made of the files that declare operators.
#pragma once

#include "catalog/catalog.h"
#include "catalog/declarations.h"
#include "system/files.h"

namespace openreg_gen {

/// The files a catalogue is made of. `declarations` and `autocast` are empty for a folder that holds only the YAML
/// files.
struct CatalogSources {
  fs::path torch;  // as find_torch gives it
  fs::path declarations, native_functions, tags, autocast;
  std::string version;  // "2.13.0" or "unknown"
};

/// Throws Failure(Environment) that names the missing file.
CatalogSources find_sources(const fs::path& torch);
/// Reads and merges the files, without any cache. Some 0.2 s.
Catalog build_catalog(const CatalogSources& sources);

/// The catalogue as a flat run of bytes and back: what the cache holds.
std::string to_archive(Catalog catalog);
/// Nothing if the bytes are not a whole archive. Never throws for bad bytes.
std::optional<Catalog> from_archive(std::string_view bytes);

// Its steps.

/// Appends the out and functional forms that the entries' `autogen` lines announce (tag "generated"): schema, kernel
/// name and tags as PyTorch's codegen derives them. Throws Failure(Environment, "E0402") where an entry announces a
/// form that cannot be derived from its group.
void add_generated_forms(std::vector<NativeFunction>& functions);

/// The lists of ATen/autocast_mode.h, and the one operator that CUDA bans by hand. Empty if a list is missing.
std::vector<AutocastRule> read_autocast_rules(std::string_view header);

/// The op's one class, from its other fields, which must be filled in.
OpClass classify(const Op& op);
/// PyTorch's own rule: it returns an alias of an argument, or changes only its metadata.
bool is_view_op(const Schema& schema, const std::vector<std::string>& tags);

}  // namespace openreg_gen
