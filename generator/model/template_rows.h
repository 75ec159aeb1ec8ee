// The rows of a templates.yaml as written, before there is a model.
#pragma once

#include "header/header.h"
#include "spec/spec.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

struct TemplateRow {
  std::string template_name{}, path{}, key{}, about{};
  FileClass file_class = FileClass::Generated;
  std::string when{}, each{}, where{};   // may be empty; `when`: conditions, separated by spaces
  std::vector<std::string> operators{};  // those that have a kernel with it, in the device's language
  std::string component{};               // those it needs, and is of the first of; empty: none
  std::map<std::string, std::vector<std::string>> slots{};  // what shared files are given with it
  std::string place{};                                      // "templates.yaml:12"
  bool user = false;                                        // of the spec's own folder

  /// Throws Failure: E0604 for our own rows, E0613 for rows of the user.
  [[noreturn]] void fail(const std::string& why) const;
};

/// The rows of a text of templates.yaml, those of its groups too; `name` is for messages. Throws as TemplateRow::fail.
std::vector<TemplateRow> parse_template_rows(const std::string& text, const std::string& name, bool user);

/// openreg-gen's own templates.
struct Templates {
  std::vector<std::string> names;  // all files of the folder, sorted: "csrc/a.cpp.j2"
  std::vector<TemplateRow> rows;   // of its templates.yaml
  bool has(const std::string& name) const { return std::ranges::binary_search(names, name); }
};

/// What the templates have in the language of the spec's device: the sources in its folder, and the operators of the
/// rows whose conditions `kernel.FILE` these meet.
DeviceKernels device_kernels(const Templates& templates, const Spec& spec);

/// The user's templates, in the folder that `templates:` names, beside the spec. A file with the name of one of
/// openreg-gen's replaces it; rows of a templates.yaml in the folder add outputs.
struct UserTemplates {
  std::string folder;                          // relative to the spec, with '/'; empty: there are none
  std::map<std::string, std::string> texts{};  // by name; "templates.yaml" among them if there is one
  bool has(const std::string& name) const { return texts.contains(name); }
};

}  // namespace openreg_gen
