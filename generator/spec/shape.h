// Checks a document against the table of keys: unknown and repeated keys, types, words, ranges, rules.
#pragma once

#include "spec/keys.h"

namespace openreg_gen {

/// Reports everything that does not fit, and returns the tree in one form: shorthands written out as maps, `ops` as a
/// map, nulls and values that do not fit left out. What is in the result can be read without further checks.
Node check_shape(const Node& root, Diagnostics& diagnostics);

}  // namespace openreg_gen
