// Which operators PyTorch's default kernels call, as scripts/decompositions.py traced them.
#pragma once

#include "catalog/catalog.h"
#include "system/files.h"

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

struct Decompositions {
  std::string torch;                                    // the release traced; empty: the file could not be read
  std::map<std::string, std::vector<std::string>> ops;  // "linear" -> what it calls itself: "addmm", "t", sorted
};

/// The traced calls of one operator.
struct OpTrace {
  std::string torch;                      // as in Decompositions
  bool composite = false;                 // a default kernel serves it, so it should have been traced
  std::vector<std::string> into;          // its own calls; empty: not traced
  std::vector<std::string> ends_in;       // what these end in, where some are composite themselves; else empty
  std::vector<std::string> reached_from;  // operators that end up calling it; those that call it themselves come first
};

/// Empty, without a torch version, if the file is missing or was not written by the script.
Decompositions read_decompositions(const fs::path& path);
/// The operator that serves a structured group is reached through each of its forms.
OpTrace find_traced(const Op& op, const Catalog& catalog, const Decompositions& decompositions);

}  // namespace openreg_gen
