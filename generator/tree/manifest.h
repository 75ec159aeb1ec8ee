// .openreg-gen/manifest.json: what the tool wrote into a tree. Checked in with the tree: the same on any machine.
#pragma once

#include "header/header.h"

#include <map>
#include <string>
#include <string_view>

namespace openreg_gen {

struct ManifestFile {
  FileClass file_class = FileClass::Generated;
  std::string sha256{};         // of the bytes that the tool last wrote there
  std::string template_name{};  // empty for the spec itself
  std::string key{};            // the spec key that governs it
  std::string id{};             // what it is found by when it was moved: "aten::relu"; empty for most
  std::string at{};             // where an owned file was moved to; empty: it is at its own path
  std::string signature{};      // of an owned kernel: what it was last seen to fit
  std::string wanted{};         // the signature it should have, if it does not fit that yet
  std::string body{};           // of an owned file: hash of the last render without its header
  bool claimed = false;         // its owner took it with `own`
  bool ignored = false;         // .openreg-gen/ignore names it: neither written nor removed
  bool conflict = false;        // it was written with conflict markers, which may still be there
  bool left = false;            // the spec no longer asks for it, and it was kept
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

/// The entry whose file is at `path`, also if it was moved there; null if there is none. `rendered_as` (may be null)
/// gets the path that it is rendered to.
const ManifestFile* find_file(const Manifest& manifest, const std::string& path, std::string* rendered_as = nullptr);

/// Throws Failure(BadInput, E0507) if the text is no manifest, is of a newer tool, or holds paths that are not inside a
/// tree.
Manifest parse_manifest(std::string_view text);

}  // namespace openreg_gen
