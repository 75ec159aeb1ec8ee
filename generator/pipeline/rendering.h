// From a valid spec and its catalogue to the texts of a tree.
#pragma once

#include "model/model.h"
#include "pipeline/component_sizes.h"
#include "render/renderer.h"
#include "resolve/resolve.h"
#include "tree/plan.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// Everything to render, and the resulting manifest (without its files).
struct Rendering {
  nlohmann::json model;  // what request.globals is the text of
  Subjects subjects;
  std::vector<Output> outputs;
  Sizes sizes;  // of its components
  RenderRequest request;
  Templates templates;
  Manifest next;
  UserTemplates user;
  std::vector<RenderedFile> lists;  // files that the spec names, which the tree takes along
};
/// Identifies the inputs of a tree: the request without its jobs, and the manifest.
Rendering prepare(const ResolvedSpec& resolved, const DataDir& data, const std::string& spec_file);

/// Adds the outputs, each with its job, and the files that the spec names.
void add_outputs(Rendering& rendering, const ResolvedSpec& resolved, const DataDir& data);

/// Renders, and adds the files that the spec names and, as the last, the spec. Throws Failure (E06xx).
std::vector<RenderedFile> render(Renderer& renderer, const Rendering& rendering, std::string spec_text);

}  // namespace openreg_gen
