// The steps of the parser: a document is checked, then its values and lists are read.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Checks a document against the table of keys: unknown and repeated keys, types, words, ranges, rules. Reports
/// everything that does not fit, and returns the tree in one form: shorthands written out as maps, `ops` as a map,
/// nulls and values that do not fit left out. What is in the result can be read without further checks.
Node check_shape(const Node& root, Diagnostics& diagnostics);

// The lists are read from a checked node, which may be null, and report what contradicts itself.

/// `text`: the spec's, for places inside of values.
std::vector<CustomOpSpec> read_custom_ops(const Node* list, std::string_view text, Diagnostics& diagnostics);
void read_skips(OpTests& tests, const Node* map, Diagnostics& diagnostics);
void read_tests(TestsSpec& out, const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
