// .openreg-gen/manifest.json: the files that openreg-gen wrote into a tree. It is checked in with the tree, and is the
// same on any machine.
#pragma once

#include "header/header.h"

#include <map>
#include <string>
#include <string_view>

namespace openreg_gen {

struct ManifestFile {
  FileClass file_class = FileClass::Generated;  // owned also if its owner took it with `own`
  std::string sha256{};                         // of the bytes that the tool last wrote there
  std::string template_name{};                  // empty for the spec and other files that its owner wrote
  std::string key{};        // the spec key that governs it; empty: none, as for the spec and files that it left
  std::string id{};         // what it is found by when it was moved: "aten::relu"; empty for most
  std::string at{};         // where an owned file was moved to; empty: it is at its own path
  std::string signature{};  // of an owned kernel: what it was last seen to fit
  std::string wanted{};     // the signature it should have, if it does not fit that yet
  std::string render{};     // of an owned file: hash of the last render
  /// Its owner wrote it or took it with `own`: known only by its path, and never written, even if it doesn't exist.
  bool taken() const { return file_class == FileClass::Owned && id.empty(); }
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::string tool;    // version that wrote it
  std::string torch;   // identity of the catalogue
  std::string spec;    // the spec's path in the tree
  std::string inputs;  // hash_request of the last render
  std::map<std::string, ManifestFile> files;
  /// No render has it any more. It stayed because its owner had edited or taken it.
  bool is_left(const std::string& path) const { return path != spec && files.at(path).key.empty(); }
  bool operator==(const Manifest&) const = default;
};

/// Sorted, one file per line, so that it merges and diffs well.
std::string manifest_text(const Manifest& manifest);

/// The entry whose file is at `path`, even if it was moved there; null if there is none. `rendered_as` (may be null)
/// gets the path that it is rendered to.
const ManifestFile* find_file(const Manifest& manifest, const std::string& path, std::string* rendered_as = nullptr);

/// Throws Failure(BadInput, E0507) if the text is not a manifest, is from a newer openreg-gen, or has paths outside a
/// tree.
Manifest parse_manifest(std::string_view text);

}  // namespace openreg_gen
