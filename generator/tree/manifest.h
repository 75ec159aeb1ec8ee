// .openreg-gen/manifest.json: what the tool wrote into a tree. Checked in with the tree: the same on any machine.
#pragma once

#include "model/model.h"

#include <map>
#include <string>
#include <string_view>

namespace openreg_gen {

struct ManifestFile {
  FileClass file_class = FileClass::Generated;
  std::string sha256;         // of the bytes that the tool last wrote there
  std::string template_name;  // empty for the spec itself
  std::string key;            // the spec key that governs it
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::string tool;    // version that wrote it
  std::string torch;   // identity of the catalogue
  std::string spec;    // the spec's path in the tree
  std::string inputs;  // hash_request of the last render
  std::map<std::string, ManifestFile> files;
  bool operator==(const Manifest&) const = default;
};

/// Sorted, one file a line, so that it merges and diffs well.
std::string manifest_text(const Manifest& manifest);

/// Throws Failure(BadInput, E0507) if the text is no manifest, is of a newer tool, or holds paths that are not inside a
/// tree.
Manifest parse_manifest(std::string_view text);

}  // namespace openreg_gen
