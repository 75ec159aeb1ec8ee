// A list of operators in a file of its own: what `openreg-gen record` writes about a model, what `@model:FILE`
// in a spec and `add --model FILE` take.
//
// Three forms, recognised by the text: the recorder's JSON object {"format": "openreg-gen ops", "version": 1, "torch",
// "ops": [{"op", "calls", "fallback", "bytes", "seconds"}]}, a JSON list of names, and plain text with one name per
// line and # comments. Names may carry "aten::" or, as Python prints them, "aten." and ".default".
#pragma once

#include "diag/diagnostic.h"
#include "system/files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct RecordedOp {
  SpecValue<std::string> name;  // "add.Tensor"; the place is in the file it was read from
  std::uint64_t calls = 0;      // how often it was called
  std::uint64_t fallback = 0;   // how many of those calls fell back
  std::uint64_t bytes = 0;      // what the fallback moved
  double seconds = 0;           // what it took
  bool costs = false;           // whether the file says how many fell back
};

struct OpsFile {
  std::string torch;            // the release it was recorded with; empty if the file does not say
  std::vector<RecordedOp> ops;  // sorted by name, each once: repeated ones are added up
};

/// Reads FILE. Errors are appended to `diagnostics`, with the place in FILE and its source line; no value if
/// there was an error. Operators of other namespaces are left out, with a warning. Never throws for bad input; at most
/// 1 MiB is read.
std::optional<OpsFile> read_ops_file(const fs::path& path, Diagnostics& diagnostics);
/// The same on a text in memory; `path` is used in locations only.
std::optional<OpsFile> parse_ops_file(std::string_view text, const fs::path& path, Diagnostics& diagnostics);

}  // namespace openreg_gen
