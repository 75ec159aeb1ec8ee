#include "header/header.h"

#include "base/text.h"

#include <fmt/format.h>

#include <filesystem>

namespace openreg_gen {
namespace {

constexpr std::string_view kMark = "[openreg-gen ";
constexpr std::size_t kTop = 1000;  // bytes; a header is at the top

struct Style {
  std::string_view open, prefix, close;
};

constexpr Style kHash{"# ", "# ", ""};
constexpr Style kSlashes{"// ", "// ", ""};
constexpr Style kMarkup{"<!-- ", "     ", " -->"};

constexpr std::string_view kClasses[] = {"generated", "shared", "owned"};
constexpr std::string_view kCppExtensions[] = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".inc", ".cl", ".mm", ".glsl"};

Style style_of(std::string_view extension) {
  if (contains(kCppExtensions, extension)) return kSlashes;
  if (extension == ".md" || extension == ".html") return kMarkup;
  return kHash;  // Python, CMake, TOML, YAML, shell, dot files
}

std::string class_line(FileClass file_class, const std::string& key) {
  constexpr const char* kLines[] = {"Generated: do not edit; `{}` in the spec changes it, then `openreg-gen generate`.",
                                    "Shared: rendered, then yours to edit; `{}` in the spec changes what is rendered.",
                                    "Owned: yours to edit; openreg-gen never writes it again."};
  return fmt::format(fmt::runtime(kLines[static_cast<std::size_t>(file_class)]), key);
}

}  // namespace

std::string_view to_string(FileClass file_class) { return kClasses[static_cast<std::size_t>(file_class)]; }

bool parse_file_class(std::string_view text, FileClass& file_class) {
  const auto found = std::ranges::find(kClasses, text);
  if (found != std::end(kClasses)) file_class = static_cast<FileClass>(found - kClasses);
  return found != std::end(kClasses);
}

std::string header_text(const Header& header, std::string_view spec_file) {
  const std::string extension = std::filesystem::path(header.path).extension().string();
  if (extension == ".json") return {};
  const Style style = style_of(extension);
  std::string mark;
  if (header.file_class == FileClass::Owned && !header.id.empty())
    mark = fmt::format("\n{}Move or rename it as you like; it is found by this mark: {}{}]", style.prefix, kMark,
                       header.id);
  return fmt::format("{}Written by openreg-gen from {}.\n{}{}{}{}", style.open, spec_file, style.prefix,
                     class_line(header.file_class, header.key), mark, style.close);
}

std::string with_class(const std::string& text, const std::string& key, FileClass was, FileClass now) {
  const std::string line = class_line(was, key);
  const std::size_t at = text.find(line);
  if (at == std::string::npos || at > kTop) return text;
  return std::string(text).replace(at, line.size(), class_line(now, key));
}

std::vector<std::string> marks_in(std::string_view text) {
  std::vector<std::string> ids;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at)) {
    at += kMark.size();
    const std::size_t end = text.find_first_of("]\n", at);
    if (end != std::string_view::npos && text[end] == ']') ids.emplace_back(text.substr(at, end - at));
  }
  return ids;
}

}  // namespace openreg_gen
