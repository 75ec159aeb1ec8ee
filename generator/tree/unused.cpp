#include "tree/unused.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

struct Source {
  std::vector<std::string> includes;  // files of the tree
  bool registers = false;
};

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

bool is_source(std::string_view path) { return ends_with_any(path, {".cpp", ".cc", ".cxx", ".cu"}); }
bool is_header(std::string_view path) { return ends_with_any(path, {".h", ".hpp", ".cuh", ".inc"}); }

bool serves_operators(std::string_view path) {
  return path.starts_with("csrc/aten/") || path.starts_with("csrc/host/");
}

void find_files(const Disk& disk, const std::string& folder, std::vector<std::string>& found) {
  for (const std::string& name : disk.list(folder)) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    const FileKind kind = disk.kind(path);
    if (kind == FileKind::Folder && !name.starts_with('.') && !name.starts_with("build")) find_files(disk, path, found);
    if (kind == FileKind::File && (is_source(name) || is_header(name))) found.push_back(path);
  }
}

/// "x/y.h" of a line `#include "x/y.h"`; empty if it is another line.
std::string_view included(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  constexpr std::string_view kWord = "include";
  if (!line.starts_with(kWord)) return {};
  line = trimmed(line.substr(kWord.size()));
  const std::size_t end = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
}

/// Whether a file registers operators or functions for PyTorch to call, with a macro of PyTorch or of the tree.
bool registers(std::string_view text) {
  return includes(text, "TORCH_LIBRARY") || includes(text, "_DISPATCH(") || includes(text, "_KERNEL(") ||
         includes(text, "_STRUCTURED_FORM(");
}

std::map<std::string, Source> read_sources(const Disk& disk) {
  std::vector<std::string> paths;
  find_files(disk, "", paths);
  std::map<std::string, Source> out;
  for (const std::string& path : paths) out.emplace(path, Source{});
  for (auto& [path, source] : out) {
    const std::string text = disk.read(path);
    source.registers = is_source(path) && registers(text);
    for (const std::string_view line : split_lines(text)) {
      const std::string_view name = included(line);
      if (name.empty()) continue;
      for (const std::string_view folder :
           {std::string_view("csrc"), std::string_view(path).substr(0, path.rfind('/'))})
        if (const std::string file = fmt::format("{}/{}", folder, name); out.contains(file))
          source.includes.push_back(file);
    }
  }
  return out;
}

/// The header that a source file implements; empty if there is none.
std::string header_of(const std::string& path, const Source& source) {
  const auto stem = [](const std::string& of) { return of.substr(0, of.rfind('.')); };
  const auto own =
      std::ranges::find_if(source.includes, [&](const std::string& each) { return stem(each) == stem(path); });
  if (own != source.includes.end()) return *own;
  return source.includes.empty() ? std::string() : source.includes.front();
}

}  // namespace

std::vector<std::string> unused_files(const Disk& disk, const Manifest& manifest, const std::set<std::string>& linked) {
  const std::map<std::string, Source> sources = read_sources(disk);
  const auto may_be_unused = [&](const std::string& path) {
    const ManifestFile* const file = serves_operators(path) ? find_file(manifest, path) : nullptr;
    return file && file->file_class != FileClass::Owned && !file->template_name.empty() && !file->key.empty() &&
           !linked.contains(file->template_name);
  };
  std::map<std::string, std::vector<std::string>> implementations;  // by header
  std::vector<std::string> waiting;
  for (const auto& [path, source] : sources) {
    const std::string header = is_source(path) ? header_of(path, source) : std::string();
    if (!may_be_unused(path) || source.registers || (is_source(path) && !serves_operators(header)))
      waiting.push_back(path);
    else if (is_source(path))
      implementations[header].push_back(path);
  }
  std::set<std::string> used;
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    if (!used.insert(path).second) continue;
    const std::vector<std::string>& includes = sources.at(path).includes;
    waiting.insert(waiting.end(), includes.begin(), includes.end());
    if (const auto found = implementations.find(path); found != implementations.end())
      waiting.insert(waiting.end(), found->second.begin(), found->second.end());
  }
  std::vector<std::string> out;
  for (const auto& [path, _] : sources)
    if (!used.contains(path) && may_be_unused(path)) out.push_back(path);
  return out;
}

}  // namespace openreg_gen
