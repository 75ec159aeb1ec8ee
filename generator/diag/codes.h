// Every diagnostic code of the command, in one table; docs/reference/diagnostics.md is printed from it.
//
// E01xx the spec's text, keys and values; E02xx operators; E03xx AMP; E04xx PyTorch and the environment;
// E05xx the tree and its files; E06xx templates and rendering. A code is never reused for something else.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace openreg_gen {

struct Code {
  std::string_view code;         // "E0112"
  std::string_view title;        // a few words
  std::string_view explanation;  // what it means, why it is refused, what to do; Markdown
};

/// Sorted by code.
std::span<const Code> all_codes();
/// Null if there is no such code.
const Code* find_code(std::string_view code);
/// The reference page docs/reference/diagnostics.md.
std::string codes_markdown();

}  // namespace openreg_gen
