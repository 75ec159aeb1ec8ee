// What a tree's C++ uses of PyTorch, by its own sources: headers, macros, qualified names, members, classes that it
// derives.
#pragma once

#include "api/headers.h"
#include "diag/diagnostic.h"

#include <set>
#include <string>
#include <vector>

namespace openreg_gen::api {

struct SourceFile {
  std::string path, text;  // the path in the tree
};

struct Use {
  enum Kind : unsigned char { Header, Macro, Name, Member };
  Kind kind = Name;
  std::string name;    // "c10/core/Device.h", "TORCH_CHECK", "c10::Storage", "nbytes"
  int arguments = -1;  // of a call; -1: not a call, or how many is not known
  unsigned line = 0, column = 0;
};

struct FileUses {
  const SourceFile* file = nullptr;
  std::vector<Use> uses;
  std::vector<std::string> opened;    // PyTorch's namespaces whose names it writes without them
  std::vector<std::string> includes;  // PyTorch's headers, of the tree's headers that it includes, too
};

struct TreeUses {
  std::vector<FileUses> files;
  Declared declared;  // by the tree; Declaration::file is the place in `files`
};

/// What the tree uses when it is built with that release: what it guards with #if for another one is left out.
TreeUses read_uses(const std::vector<SourceFile>& files, const std::string& torch_version);

}  // namespace openreg_gen::api
