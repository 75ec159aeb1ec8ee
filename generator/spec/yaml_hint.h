// What to type where YAML's parser stopped: its own messages ("illegal map value") name no remedy.
#pragma once

#include "diag/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>

namespace openreg_gen {

/// `said`: the parser's message; `at`: where it stopped; `open`: the innermost bracket that was not closed by then.
std::string yaml_hint(std::string_view text, std::string_view said, const Location& at,
                      const std::optional<Location>& open);

/// Whether the quoted scalar that begins at the offset has no end. The parser takes it as far as the text goes.
bool is_unclosed_quote(std::string_view text, std::size_t offset);

}  // namespace openreg_gen
