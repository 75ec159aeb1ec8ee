#include "model/template_rows.h"

#include "diag/failure.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace openreg_gen {

std::vector<TemplateRow> template_rows(const std::filesystem::path& templates) {
  const std::filesystem::path file = templates / "templates.yaml";
  std::vector<TemplateRow> rows;
  try {
    for (const auto& node : YAML::LoadFile(file.string())) {
      const auto get = [&](const char* key) { return node[key] ? node[key].as<std::string>() : std::string(); };
      rows.push_back({get("template"), get("path"), get("class"), get("key"), get("about"), node.Mark().line + 1});
    }
  } catch (const YAML::BadFile&) {
    throw Failure(Exit::Environment, "E0608", "cannot read " + file.string(), "install openreg-gen again");
  } catch (const YAML::Exception& e) {
    throw Failure(Exit::Internal, "E0604", fmt::format("templates.yaml:{}: {}", e.mark.line + 1, e.msg));
  }
  return rows;
}

const TemplateRow* find_row(const std::vector<TemplateRow>& rows, std::string_view template_name,
                            std::string_view file_class) {
  for (const TemplateRow& row : rows) {
    if (row.template_name == template_name && row.file_class == file_class) return &row;
  }
  return nullptr;
}

}  // namespace openreg_gen
