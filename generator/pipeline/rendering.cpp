#include "pipeline/rendering.h"

#include "diag/failure.h"
#include "pipeline/templates.h"
#include "tree/paths.h"

#include <algorithm>

namespace openreg_gen {
namespace {

/// Rows of the user's templates must follow the rules of paths, and must not overwrite the spec and the templates.
void check_user_paths(const std::vector<Output>& outputs, const UserTemplates& user, const std::string& spec_file) {
  std::vector<std::string> paths{spec_file};
  bool any = false;
  for (const Output& output : outputs) {
    any = any || output.user;
    paths.push_back(output.path);
  }
  for (const auto& [name, text] : user.texts) paths.push_back(user.folder + "/" + name);
  if (!any) return;
  try {
    check_paths(paths);
  } catch (const Failure& failure) {
    throw Failure(Exit::BadInput, failure.code(), user.folder + "/templates.yaml: " + failure.what(),
                  "change the row's path");
  }
}

}  // namespace

Rendering prepare(const ResolvedSpec& resolved, const DataDir& data, const std::string& spec_file) {
  Rendering rendering;
  rendering.request.templates_hash = hash_templates(data);
  rendering.templates = read_templates(data);
  rendering.model =
      make_globals(resolved, device_kernels(rendering.templates, resolved.spec), spec_file, rendering.subjects);
  rendering.request.globals = rendering.model.dump();
  rendering.user = read_user_templates(resolved.spec);
  rendering.request.user_folder = rendering.user.folder;
  rendering.request.user = rendering.user.texts;
  rendering.next.tool = OPENREG_GEN_VERSION;
  rendering.next.torch = resolved.catalog.identity();
  rendering.next.spec = spec_file;
  rendering.next.inputs = hash_request(rendering.request);
  return rendering;
}

void add_outputs(Rendering& rendering, const ResolvedSpec& resolved, const DataDir& data) {
  const std::string& spec_file = rendering.next.spec;
  const UserTemplates& user = rendering.user;
  const Templates& templates = rendering.templates;
  rendering.outputs = expand_outputs(templates, rendering.model, rendering.subjects, user);
  check_user_paths(rendering.outputs, user, spec_file);
  rendering.model["slots"] = slots_of(templates, rendering.outputs, rendering.model);
  rendering.sizes = component_sizes(rendering.outputs, data.templates);
  for (const auto& component : rendering.model["components"])  // some may have no file, as this spec has it
    rendering.sizes.of[component["name"].get<std::string>()];
  rendering.model["measured"] = rendering.sizes.measured;
  rendering.request.globals = rendering.model.dump();
  for (const Output& output : rendering.outputs) {
    rendering.request.jobs.push_back(
        {output.template_name, job_context(output), output.user, output.each, output.index});
  }
  const auto folder = fs::path(spec_file).parent_path();
  const auto add = [&](const fs::path& path, const char* key, const char* about, const std::string& text) {
    Output output;
    output.path = (folder / path).lexically_normal().generic_string();
    output.file_class = FileClass::Owned;
    output.key = key;
    output.about = about;
    rendering.lists.push_back({std::move(output), text, std::nullopt});
  };
  for (const ListFile& list : resolved.lists)
    add(list.path, "ops", "a list of operators that the spec selects", list.text);
  for (const auto& [name, text] : user.texts)
    add(fs::path(user.folder) / name, "templates", "one of your templates", text);
}

std::vector<RenderedFile> render(Renderer& renderer, const Rendering& rendering, std::string spec_text) {
  std::vector<std::string> texts = renderer.render(rendering.request);
  std::vector<RenderedFile> renders;
  for (std::size_t i = 0; i < texts.size(); ++i)
    renders.push_back({rendering.outputs[i], std::move(texts[i]), std::nullopt});
  if (const auto readme = std::ranges::find(renders, "README.md", [](const RenderedFile& r) { return r.output.path; });
      readme != renders.end())
    readme->text = with_sizes(std::move(readme->text), rendering.sizes);
  renders.insert(renders.end(), rendering.lists.begin(), rendering.lists.end());
  Output spec;
  spec.path = rendering.next.spec;
  spec.file_class = FileClass::Owned;
  spec.about = "the spec that this tree is rendered from";
  renders.push_back({std::move(spec), std::move(spec_text), std::nullopt});
  return renders;
}

}  // namespace openreg_gen
