// The parts of the verb `explain`.
#pragma once

#include "cli/invocation.h"
#include "diag/failure.h"

namespace openreg_gen {

/// The tree that is asked about.
struct ExplainedTree {
  std::filesystem::path root;
  Manifest manifest;
  Spec spec;
  std::string shown_spec;  // as the user would name it
};

/// A file of the tree, or what is in a line of it (0: none is asked for).
Exit explain_path(Invocation& call, const ExplainedTree& tree, const std::string& path, int line);
/// The spec, or the keys around a line of it.
Exit explain_spec(const Invocation& call, const ExplainedTree& tree, int line);

/// "owned: yours; written once, never again"
std::string class_meaning(FileClass file_class);
/// Empty if there is no such file.
std::string read_if_there(const std::filesystem::path& path);

}  // namespace openreg_gen
