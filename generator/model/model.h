// From a spec and the catalogue to what the templates show: finished names, escaped strings, sorted lists, and the list
// of files to render. Nothing here reads the disk, the clock, the environment or a container's order: same input, same
// model. What templates there are is handed in.
#pragma once

#include "model/ops.h"
#include "model/template_rows.h"
#include "output/output.h"
#include "resolve/resolve.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// What all templates see, for a spec without errors. `spec_file`: the spec's path inside its tree.
/// Of lists of operators, `subjects` says what their items are about.
nlohmann::json make_globals(const Resolved& resolved, const DeviceKernels& kernels, const std::string& spec_file,
                            Subjects& subjects);

/// What the files that are there give to files that others share, as templates see it: `slots.NAME` is a list of
/// {file, words}, by file, for each slot that a row of templates.yaml names. `slots.absent`: what components that the
/// tree does not have would give to torch.NAME, a list of {component, words}.
nlohmann::json slots_of(const Templates& templates, const std::vector<Output>& outputs, const nlohmann::json& globals);

/// Fills in the rows of templates.yaml, in their order. Throws Failure(Internal, E060x) that names the row if a
/// template, a condition or a list does not exist. `user` has its say: its templates take the place of those of the
/// same name, its rows come last; what is wrong there is Failure(BadInput, E0613).
std::vector<Output> expand_outputs(const Templates& templates, const nlohmann::json& globals, const Subjects& subjects,
                                   const UserTemplates& user = {});

/// What one template sees besides the globals and its item: file.{header,path,class}.
nlohmann::json job_context(const Output& output, const nlohmann::json& globals);

}  // namespace openreg_gen
