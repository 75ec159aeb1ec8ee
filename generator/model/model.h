// From a spec and the catalogue to everything that templates show: finished names, escaped strings, sorted lists, and
// the list of files to render. Nothing here reads the disk, the clock, the environment or a container's order: same
// input, same model. The caller passes the list of templates.
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
/// `subjects` has the operators of the items of lists.
nlohmann::json make_globals(const ResolvedSpec& resolved, const DeviceKernels& kernels, const std::string& spec_file,
                            Subjects& subjects);

/// What the tree's files add to shared files: `slots.NAME` is a list of {file, path, about, words, text}, by path, for
/// each slot that a row of templates.yaml names. `slots.absent`: what missing components would add to torch.NAME, a
/// list of {component, words}. `slots.defined`: the words of slot "defines", one list.
nlohmann::json slots_of(const Templates& templates, const std::vector<Output>& outputs, const nlohmann::json& globals);

/// Fills in the rows of templates.yaml, in their order. Throws Failure(Internal, E060x) that names the row if a
/// template, a condition or a list does not exist. Templates of `user` replace those of the same name, and its rows
/// come last; an error there is Failure(BadInput, E0613).
std::vector<Output> expand_outputs(const Templates& templates, const nlohmann::json& globals, const Subjects& subjects,
                                   const UserTemplates& user = {});

/// Seen by one template, besides the globals and its item: file.{header,path,class}.
nlohmann::json job_context(const Output& output);

}  // namespace openreg_gen
