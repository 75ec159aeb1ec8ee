// The rows of templates.yaml as they stand there: what is said about outputs without rendering any.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct TemplateRow {
  std::string template_name, path, file_class, key, about;
  int line = 0;
};

/// Throws Failure (E0604, E0608) as expand_outputs does.
std::vector<TemplateRow> template_rows(const std::filesystem::path& templates);
/// The row of an output of this template and class; null if there is none.
const TemplateRow* find_row(const std::vector<TemplateRow>& rows, std::string_view template_name,
                            std::string_view file_class);

}  // namespace openreg_gen
