#include "cli/api_view.h"

#include "base/text.h"
#include "catalog/build.h"
#include "cli/answer.h"
#include "cli/terminal_text.h"
#include "diag/failure.h"
#include "diag/render.h"

#include <fmt/format.h>

#include <array>

namespace openreg_gen {
namespace {

constexpr std::array<std::string_view, 9> kSources{".cpp", ".h", ".cc", ".hpp", ".cxx", ".hh", ".cu", ".cuh", ".py"};
constexpr std::size_t kLargest = 4 << 20;  // what is larger, nobody wrote by hand

/// A build, an environment, or somebody's own affair.
bool is_foreign(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  return name.starts_with('.') || name == "build" || name == "__pycache__" || name == "node_modules" ||
         fs::exists(folder / "CMakeCache.txt", error) || fs::exists(folder / "pyvenv.cfg", error);
}

std::vector<api::SourceFile> sources_of(const fs::path& root) {
  std::vector<api::SourceFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && is_foreign(at->path())) at.disable_recursion_pending();
    if (!at->is_regular_file(error) || !contains(kSources, at->path().extension().string())) continue;
    if (auto text = try_read_file(at->path(), kLargest))
      files.push_back({at->path().lexically_relative(root).generic_string(), std::move(*text)});
  }
  std::ranges::sort(files, {}, &api::SourceFile::path);
  return files;
}

bool is_python(const api::SourceFile& file) { return file.path.ends_with(".py"); }

/// The package's files: those of tests and examples use what a user of PyTorch uses.
std::vector<api::SourceFile> take_package(std::vector<api::SourceFile>& files) {
  std::vector<api::SourceFile> package;
  for (api::SourceFile& file : files) {
    const auto folder = file.path.substr(0, std::min(file.path.find('/'), file.path.size()));
    if (is_python(file) && find_by(files, folder + "/__init__.py", &api::SourceFile::path)) package.push_back(file);
  }
  std::erase_if(files, is_python);
  return package;
}

bool has_python(const fs::path& torch) {
  std::error_code error;
  return fs::exists(torch / "__init__.py", error);
}

nlohmann::ordered_json difference_json(const api::Difference& each) {
  const Diagnostic& what = each.what;
  return {{"kind", each.kind},    {"change", each.change},
          {"name", each.name},    {"breaks", what.severity == Severity::Error},
          {"code", what.code},    {"message", what.message},
          {"hint", what.hint},    {"file", what.at.file},
          {"line", what.at.line}, {"column", what.at.column},
          {"old", each.before},   {"new", each.after}};
}

}  // namespace

OtherTorch find_other_torch(const std::string& dir) {
  std::error_code error;
  OtherTorch other;
  try {
    other.torch = find_torch(dir);
    if (api::Headers::in(other.torch)) other.headers = other.torch;
    find_sources(other.torch);
  } catch (const Failure&) {
    // Headers alone are enough for C++.
    if (other.headers.empty() && api::Headers::in(dir)) other.headers = fs::weakly_canonical(dir, error);
    const bool declares = !other.torch.empty() && fs::exists(other.torch.parent_path() / "torchgen", error);
    if (other.headers.empty() || declares) throw;
    other.torch.clear();
  }
  if (!other.headers.empty()) other.version = api::Headers::version_of(other.headers);
  return other;
}

ApiAnswer compare_api(const fs::path& root, const fs::path& torch, const OtherTorch& other) {
  ApiAnswer answer;
  answer.before = api::Headers::version_of(torch);
  answer.after = other.version;
  if (root.empty())
    answer.not_compared = "no tree; name one with -C, or check the spec in its tree";
  else if (other.headers.empty())
    answer.not_compared = "the other PyTorch has no headers";
  else if (!api::Headers::in(torch))
    answer.not_compared = torch.string() + " has no headers; name an installed PyTorch with --torch";
  if (!answer.not_compared.empty()) return answer;
  auto files = sources_of(root);
  const auto package = take_package(files);
  api::Headers before(torch, answer.before), after(other.headers, answer.after);
  api::ApiDrift& drift = answer.drift.emplace();
  api::compare_cpp(files, before, after, drift);
  if (has_python(torch) && has_python(other.headers))
    api::compare_python(package, torch, other.headers, answer.after, drift);
  api::sort_differences(drift);
  files.insert(files.end(), package.begin(), package.end());
  for (api::Difference& each : drift.differences) {
    if (each.what.severity != Severity::Error) continue;
    if (const auto* file = find_by(files, each.what.at.file, &api::SourceFile::path)) {
      const auto lines = split_lines(file->text);
      const auto line = static_cast<std::size_t>(each.what.at.line);
      if (line > 0 && line <= lines.size()) each.what.source_line = lines[line - 1];
    }
  }
  return answer;
}

std::string api_text(const ApiAnswer& answer, const fs::path& root, bool colour) {
  if (!answer.drift) return fmt::format("C++ and Python: not compared: {}\n", answer.not_compared);
  const api::ApiDrift& drift = *answer.drift;
  std::string text;
  const auto width = std::max(answer.before.size(), answer.after.size());
  for (const api::Difference& each : drift.differences) {
    Diagnostics one;
    one.add(each.what);
    text += render_text(one, colour);
    if (!each.before.empty()) text += fmt::format("    {:<{}}  {}\n", answer.before, width, each.before);
    if (!each.after.empty()) text += fmt::format("    {:<{}}  {}\n", answer.after, width, each.after);
  }
  const auto breaks = drift.breaks();
  return text + fmt::format("{}: {}, {}, {} and {} compared; {}, {}\n", root.string(),
                            count_of(drift.headers, "header"), count_of(drift.names, "name"),
                            count_of(drift.virtuals, "virtual function"), count_of(drift.modules, "Python name"),
                            breaks == 0 ? "nothing breaks" : fmt::format("{} break", breaks),
                            count_of(drift.differences.size() - breaks, "note"));
}

nlohmann::ordered_json api_json(const ApiAnswer& answer) {
  if (!answer.drift) return {{"compared", false}, {"why", answer.not_compared}};
  const api::ApiDrift& drift = *answer.drift;
  return {{"compared", true},
          {"torch", answer.before},
          {"against", answer.after},
          {"breaks", drift.breaks()},
          {"headers", drift.headers},
          {"names", drift.names},
          {"virtuals", drift.virtuals},
          {"modules", drift.modules},
          {"differences", json_list(drift.differences, difference_json)}};
}

}  // namespace openreg_gen
