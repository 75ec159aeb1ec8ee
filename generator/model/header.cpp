// The first lines of each output: who wrote it, from what, whose it is.
#include "model/model.h"

#include <fmt/format.h>

#include <array>

namespace openreg_gen {
namespace {

struct Style {
  std::string_view open, prefix, close;
};

constexpr Style kHash{"", "# ", ""};
constexpr Style kSlashes{"", "// ", ""};
constexpr Style kMarkup{"<!-- ", "     ", " -->"};

constexpr std::array<std::string_view, 9> kCppExtensions{".h",  ".hpp", ".c",  ".cc", ".cpp",
                                                         ".cu", ".inc", ".cl", ".mm"};

Style style_of(std::string_view extension) {
  for (std::string_view cpp : kCppExtensions) {
    if (extension == cpp) return kSlashes;
  }
  if (extension == ".md" || extension == ".html") return kMarkup;
  return kHash;  // Python, CMake, TOML, YAML, shell, dot files
}

}  // namespace

std::string_view to_string(FileClass file_class) {
  switch (file_class) {
    case FileClass::Generated:
      return "generated";
    case FileClass::Shared:
      return "shared";
    case FileClass::Owned:
      return "owned";
  }
  return {};
}

bool parse_file_class(std::string_view text, FileClass& file_class) {
  for (FileClass each : {FileClass::Generated, FileClass::Shared, FileClass::Owned}) {
    if (to_string(each) == text) {
      file_class = each;
      return true;
    }
  }
  return false;
}

std::string class_line(const Output& output) {
  switch (output.file_class) {
    case FileClass::Generated:
      return fmt::format("Generated: do not edit; `{}` in the spec changes it, then `openreg-gen generate`.",
                         output.key);
    case FileClass::Shared:
      return fmt::format("Shared: rendered, then yours to edit; `{}` in the spec changes what is rendered.",
                         output.key);
    case FileClass::Owned:
      return "Owned: yours to edit; openreg-gen never writes it again.";
  }
  return {};
}

std::string id_mark(std::string_view id) { return fmt::format("[openreg-gen {}]", id); }

std::string file_header(const Output& output, std::string_view tool_version, std::string_view spec_file) {
  const std::string extension = std::filesystem::path(output.path).extension().string();
  if (extension == ".json") return {};
  const std::string who = fmt::format("Written by openreg-gen {} from {}.", tool_version, spec_file);
  const Style style = style_of(extension);
  std::string out =
      fmt::format("{}{}\n{}{}", style.open.empty() ? style.prefix : style.open, who, style.prefix, class_line(output));
  if (output.file_class == FileClass::Owned && !output.id.empty()) {
    out += fmt::format("\n{}Move or rename it as you like; it is found by this mark: {}", style.prefix,
                       id_mark(output.id));
  }
  return out + std::string(style.close);
}

}  // namespace openreg_gen
