#include "header/header.h"

#include "base/text.h"

#include <fmt/format.h>

#include <filesystem>

namespace openreg_gen {
namespace {

constexpr std::string_view kWho = "Written by openreg-gen ";
constexpr std::string_view kMark = "[openreg-gen ";
constexpr std::size_t kTop = 1000;  // bytes; a header is at the top

struct Style {
  std::string_view open, prefix, close;
};

constexpr Style kHash{"# ", "# ", ""};
constexpr Style kSlashes{"// ", "// ", ""};
constexpr Style kMarkup{"<!-- ", "     ", " -->"};

constexpr std::string_view kClasses[] = {"generated", "shared", "owned"};
constexpr std::string_view kCppExtensions[] = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".inc", ".cl", ".mm"};

Style style_of(std::string_view extension) {
  if (contains(kCppExtensions, extension)) return kSlashes;
  if (extension == ".md" || extension == ".html") return kMarkup;
  return kHash;  // Python, CMake, TOML, YAML, shell, dot files
}

std::string class_line(const Header& header) {
  constexpr const char* kLines[] = {"Generated: do not edit; `{}` in the spec changes it, then `openreg-gen generate`.",
                                    "Shared: rendered, then yours to edit; `{}` in the spec changes what is rendered.",
                                    "Owned: yours to edit; openreg-gen never writes it again."};
  return fmt::format(fmt::runtime(kLines[static_cast<std::size_t>(header.file_class)]), header.key);
}

bool is_marked(const Header& header) { return header.file_class == FileClass::Owned && !header.id.empty(); }

std::string mark(const Header& header) { return fmt::format("{}{}]", kMark, header.id); }

/// The lines of the class and of the mark; all but the first begin with `prefix`.
std::string class_and_mark(const Header& header, std::string_view prefix) {
  std::string out = class_line(header);
  if (is_marked(header))
    out += fmt::format("\n{}Move or rename it as you like; it is found by this mark: {}", prefix, mark(header));
  return out;
}

void remove_mark(std::string& text, const Header& header) {
  const std::size_t at = text.find(mark(header));
  if (at == std::string::npos || at >= kTop) return;
  const std::size_t begin = text.rfind('\n', at), end = text.find('\n', at);
  if (begin == std::string::npos || end == std::string::npos) return;
  // An HTML comment ends on the mark's line.
  const bool closes = std::string_view(text).substr(0, end).ends_with(kMarkup.close);
  text.replace(begin, end - begin, closes ? kMarkup.close : "");
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
  return fmt::format("{}{}from {}.\n{}{}{}", style.open, kWho, spec_file, style.prefix,
                     class_and_mark(header, style.prefix), style.close);
}

std::string without_version(std::string text) {
  const std::size_t who = text.find(kWho);
  if (who == std::string::npos || who > kTop) return text;
  const std::size_t version = who + kWho.size(), end = text.find_first_of(" \n", version);
  const bool there = is_digit(text[version]) && end != std::string::npos && text.compare(end, 6, " from ") == 0;
  return there ? text.erase(version, end + 1 - version) : text;
}

std::string with_class(const std::string& text, const Header& was, const Header& now) {
  const std::string line = class_line(was);
  const std::size_t at = text.find(line);
  if (at == std::string::npos || at > kTop) return text;
  const std::size_t begin = text.rfind('\n', at) + 1;  // of the line; 0 if it is the first
  std::string out = text;
  out.replace(at, line.size(), class_and_mark(now, std::string_view(text).substr(begin, at - begin)));
  if (is_marked(was)) remove_mark(out, was);
  return out;
}

std::string without_header(std::string_view text) {
  std::string kept;
  for (const std::string_view line : lines_with_ends(text))
    if (!includes(line, kWho) && !includes(line, kMark)) kept += line;
  return kept;
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
