// From a spec and the catalogue to what the templates show: finished names, escaped strings, sorted lists, and the list
// of files to render. Nothing here reads the clock, the environment or a container's order: same input, same model.
#pragma once

#include "header/header.h"
#include "model/ops.h"
#include "model/user_templates.h"
#include "resolve/resolve.h"
#include "system/files.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// One file to render: a row of templates.yaml, with its names filled in.
struct Output {
  std::string template_name;  // relative to templates/, or to the spec's own folder
  std::string path;           // relative to the tree, with '/'
  std::string was;            // its path in trees of before; may be empty
  FileClass file_class = FileClass::Generated;
  std::string key;        // the spec key that governs it
  std::string about;      // what it is for, one line
  std::string component;  // the one that it is of; empty: each tree has it
  std::string each;       // of a row with `each`: the list in the model, "ops.native"
  std::size_t index = 0;  // of the file's item in that list
  /// What the file is about: "aten::relu", "mybackend::custom_abs"; of other owned files the template's name, of other
  /// files nothing. An owned file has it to itself and is found by it wherever its owner moves it.
  std::string id;
  /// Of an owned kernel: the C++ signature that PyTorch or the registration calls it with. Else empty.
  std::string signature;
  std::map<std::string, std::vector<std::string>> slots;  // what shared files are given with it
  bool user = false;  // its template is of the spec's own folder: rendered in the sandbox
};

/// What all templates see, for a spec without errors. `spec_file`: the spec's path inside its tree.
/// Of lists of operators, `subjects` says what their items are about.
nlohmann::json make_globals(const Resolved& resolved, const std::string& spec_file, Subjects& subjects);

/// What the files that are there give to files that others share, as templates see it: `slots.NAME` is a list of
/// {file, words}, by file, for each slot that a row of templates.yaml names.
nlohmann::json slots_of(const fs::path& templates, const std::vector<Output>& outputs);

/// Reads templates/templates.yaml and fills its rows in, in their order. Throws Failure(Internal, E060x) that names
/// the row if a template file, a condition or a list does not exist. `user` has its say: its templates take the place
/// of those of the same name, its rows come last; what is wrong there is Failure(BadInput, E0613).
std::vector<Output> expand_outputs(const fs::path& templates, const nlohmann::json& globals, const Subjects& subjects,
                                   const UserTemplates& user = {});

/// What one template sees besides the globals and its item: file.{header,path,class}.
nlohmann::json job_context(const Output& output, const nlohmann::json& globals);

}  // namespace openreg_gen
