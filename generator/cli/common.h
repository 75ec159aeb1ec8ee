// What `new` and `generate` share: from a spec to its renders. How a plan is shown: cli/plan_view.h.
#pragma once

#include "catalog/catalog.h"
#include "diag/failure.h"
#include "render/renderer.h"
#include "spec/spec.h"
#include "tree/plan.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

/// Parses and validates; prints what is wrong (as JSON on stdout if `json`). Null if there are errors. The catalogue is
/// loaded in between; a PyTorch that is not found is a Failure(Environment), unless the spec itself is wrong.
struct Inputs {
  Spec spec;
  Catalog catalog;
};
std::optional<Inputs> read_inputs(std::string text, const std::filesystem::path& path, const std::string& torch,
                                  bool json);
/// The same of a spec that was parsed, and of what was found then.
std::optional<Inputs> read_inputs(Spec spec, Diagnostics& diagnostics, const std::string& torch, bool json);
/// The same for another text of a spec that was read before; its catalogue is kept.
std::optional<Inputs> read_again(Inputs inputs, std::string text, bool json);

/// The same of a file.
std::optional<Inputs> read_inputs(const std::filesystem::path& path, const std::string& torch, bool json);

/// All that is to be rendered, and the manifest it leads to (without its files).
struct Rendering {
  nlohmann::json model;  // what request.globals is the text of
  std::vector<Output> outputs;
  RenderRequest request;
  Manifest next;
  UserTemplates user;
  Ignore ignore;
  std::vector<Rendered> lists;  // files that the spec names, which the tree takes along
};
/// What tells whether a tree is of these inputs: the request without its jobs, and the manifest.
Rendering prepare(const Inputs& inputs, const DataDir& data, const std::string& spec_file, Ignore ignore = {});

/// Adds the outputs, each with its job, but for the ignored ones; and the files that the spec names.
void add_outputs(Rendering& rendering, const Inputs& inputs, const DataDir& data);

/// Renders, and adds the files that the spec names. Throws Failure (E06xx).
std::vector<Rendered> render(Renderer& renderer, const Rendering& rendering);

/// The spec as an output of the tree: owned.
Rendered spec_output(const std::string& spec_file, std::string text);

/// The word as a POSIX shell reads it.
std::string shell_quoted(const std::string& word);

}  // namespace openreg_gen
