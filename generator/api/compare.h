// What of a tree another PyTorch breaks, by both releases' headers and Python files, without compiling. See
// docs/reference/drift.md.
#pragma once

#include "api/headers.h"
#include "api/uses.h"
#include "diag/diagnostic.h"

#include <string>
#include <vector>

namespace openreg_gen::api {

struct Difference {
  Diagnostic what;            // an error breaks the tree; a note does not
  std::string kind;           // "virtual", "name", "macro", "header", "member", "module"
  std::string change;         // "new", "gone", "changed", "moved"
  std::string name;           // by which PyTorch declares it
  std::string before, after;  // how it is declared; empty where that says nothing
};

struct ApiDrift {
  std::vector<Difference> differences;                            // by place
  std::size_t headers = 0, names = 0, virtuals = 0, modules = 0;  // that were compared
  std::size_t breaks() const;
};

/// C++: the headers of both are read as far as the tree includes them.
void compare_cpp(const std::vector<SourceFile>& files, Headers& before, Headers& after, ApiDrift& out);

/// Of PyTorch's classes from which the tree derives; a part of compare_cpp().
void compare_virtuals(const TreeUses& uses, const Headers& before, const Headers& after, ApiDrift& out);

/// Python: modules, names of them and methods that the tree's files use, by the Python files of both packages.
void compare_python(const std::vector<SourceFile>& files, const fs::path& before, const fs::path& after,
                    const std::string& release, ApiDrift& out);

/// By file, line and column, errors first.
void sort_differences(ApiDrift& drift);

}  // namespace openreg_gen::api
