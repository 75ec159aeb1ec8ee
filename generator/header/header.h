// The comment that opens each file of a tree: who wrote it, who owns it, and the mark by which it is found. Only this
// file writes and recognises it. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// Who owns a file. generated: openreg-gen; shared: rendered, then edited by its owner; owned: written once.
enum class FileClass { Generated, Shared, Owned };
std::string_view to_string(FileClass file_class);
/// False if `text` names no class.
bool parse_file_class(std::string_view text, FileClass& file_class);

/// The content of a header.
struct Header {
  std::string path;  // its extension gives the style of the comment
  FileClass file_class = FileClass::Generated;
  std::string key;  // the spec key that governs it
  std::string id;   // of an owned file: what it is found by when it was moved; may be empty
};

/// Without a line break at its end. Empty for files that can hold no comment (JSON). It names no version of the tool: a
/// release would change every file of every tree; the manifest names it.
std::string header_text(const Header& header);

/// The text of a file with a header for `was`, changed to the class `now`. A header that its owner edited stays.
std::string with_class(const std::string& text, const std::string& key, FileClass was, FileClass now);

/// The ids that a text is marked with, "[openreg-gen aten::relu]", in order; one file may have several.
std::vector<std::string> marks_in(std::string_view text);

}  // namespace openreg_gen
