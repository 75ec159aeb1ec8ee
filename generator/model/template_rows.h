// The rows of a templates.yaml as written: what is known of outputs before any model is made.
#pragma once

#include "header/header.h"
#include "system/files.h"

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

struct TemplateRow {
  std::string template_name{}, path{}, key{}, about{};
  FileClass file_class = FileClass::Generated;
  std::string when{}, each{}, where{};                      // may be empty; `when`: conditions, separated by spaces
  std::string component{};                                  // the one that the file is of; empty: each tree has it
  std::map<std::string, std::vector<std::string>> slots{};  // what shared files are given with it
  std::string place{};                                      // "templates.yaml:12"
  bool user = false;                                        // of the spec's own folder

  /// Throws Failure: E0604, our own fault, or E0613, the user's.
  [[noreturn]] void fail(const std::string& why) const;
};

/// The rows of a text of templates.yaml, those of its groups too; `name` is for messages. Throws as TemplateRow::fail.
std::vector<TemplateRow> parse_template_rows(const std::string& text, const std::string& name, bool user);

/// Those of openreg-gen itself. Throws Failure (E0604, E0608).
std::vector<TemplateRow> template_rows(const fs::path& templates);

}  // namespace openreg_gen
