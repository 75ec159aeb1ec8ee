// A file of a tree: its properties, from the model, and its text, for the writer.
#pragma once

#include "header/header.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

/// One file to render: a row of templates.yaml, with its names filled in.
struct Output {
  std::string template_name;  // relative to templates/, or to the spec's own folder
  std::string path;           // relative to the tree, with '/'
  FileClass file_class = FileClass::Generated;
  std::string key;        // the spec key that governs it
  std::string about;      // what it is for, one line
  std::string component;  // the one that it is of; empty: each tree has it
  std::string each;       // of a row with `each`: the list in the model, "ops.native"
  std::size_t index = 0;  // of the file's item in that list
  /// The subject of the file: "aten::relu", "mybackend::custom_abs"; for other owned files the template's name; else
  /// empty. It is unique among owned files, which are found by it wherever their owner moves them.
  std::string id;
  /// For an owned kernel: the C++ signature that PyTorch or the registration calls it with. Else empty.
  std::string signature;
  std::map<std::string, std::vector<std::string>> slots;  // what shared files are given with it
  bool user = false;  // its template is of the spec's own folder: rendered in the sandbox
};

/// One finished output. The spec itself is one too: owned, without a template.
struct RenderedFile {
  Output output;
  std::string text;
  /// For an owned file that this run has to write, as `add` writes the spec: the text that `text` was made from. If the
  /// text on disk is another one, the run is refused.
  std::optional<std::string> replaces;
};

}  // namespace openreg_gen
