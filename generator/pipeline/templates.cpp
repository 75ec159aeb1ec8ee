#include "pipeline/templates.h"

#include "diag/failure.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

constexpr std::size_t kMaxUserTemplates = 1000;
constexpr std::size_t kMaxUserBytes = std::size_t{4} << 20;  // of all together

[[noreturn]] void fail(const Spec& spec, const std::string& why, const std::string& hint = {}) {
  const Location& at = spec.templates.at;
  throw Failure(Exit::BadInput, "E0612",
                fmt::format("{}:{}:{}: templates '{}': {}", at.file, at.line, at.column, *spec.templates, why), hint);
}

}  // namespace

Templates read_templates(const DataDir& data) {
  const fs::path rows = data.templates / "templates.yaml";
  return {list_templates(data), parse_template_rows(read_data(rows), "templates.yaml", false)};
}

UserTemplates read_user_templates(const Spec& spec) {
  UserTemplates user;
  if (spec.templates->empty()) return user;
  user.folder = fs::path(*spec.templates).lexically_normal().generic_string();
  while (user.folder.ends_with('/')) user.folder.pop_back();
  const fs::path root = spec.path.parent_path() / user.folder;
  std::error_code error;
  if (fs::is_symlink(root, error) || !fs::is_directory(root, error))
    fail(spec, "no such folder beside the spec", "create it, or remove the key");
  std::size_t bytes = 0;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().lexically_relative(root).generic_string();
    if (at->is_symlink(error)) fail(spec, fmt::format("'{}' is a symlink", name), "put the file itself there");
    if (!at->is_regular_file(error) || (!name.ends_with(".j2") && name != "templates.yaml")) continue;
    auto text = try_read_file(at->path());
    if (!text) fail(spec, fmt::format("'{}' cannot be read", name));
    bytes += text->size();
    if (bytes > kMaxUserBytes || user.texts.size() >= kMaxUserTemplates)
      fail(spec, "it holds more than 1000 files or 4 MiB", "templates are small; is this the right folder?");
    user.texts.emplace(name, std::move(*text));
  }
  if (error) fail(spec, "it cannot be read: " + error.message());
  return user;
}

}  // namespace openreg_gen
