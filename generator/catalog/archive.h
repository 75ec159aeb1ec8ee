// The catalogue as a flat run of bytes and back; what the cache holds. One list of fields serves both ways.
#pragma once

#include "catalog/catalog.h"

#include <optional>
#include <string>
#include <string_view>

namespace openreg_gen {

/// `key` names what the catalogue was built for; only the same key opens it again.
std::string to_archive(const Catalog& catalog, std::uint64_t key);
/// Nothing if the bytes are not a whole, unharmed archive of this format and key. Never throws for bad bytes.
std::optional<Catalog> from_archive(std::string_view bytes, std::uint64_t key);

}  // namespace openreg_gen
