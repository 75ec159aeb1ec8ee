#include "cli/common.h"

#include "cli/report.h"
#include "cli/usage.h"
#include "tree/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace openreg_gen {
namespace {

bool says_something(const Step& step) { return step.action != Action::Unchanged && !step.reason.empty(); }

}  // namespace

namespace {

std::optional<Inputs> complete(Spec spec, Diagnostics& diagnostics, const std::string& torch, bool json) {
  Inputs inputs{std::move(spec), {}};
  try {
    inputs.catalog =
        load_catalog(find_torch(torch.empty() ? std::nullopt : std::optional<std::filesystem::path>(torch)));
  } catch (const Failure&) {
    diagnostics.finish(inputs.spec.text);
    if (report(diagnostics, json)) return std::nullopt;
    throw;
  }
  validate_spec(inputs.spec, inputs.catalog, diagnostics);
  if (report(diagnostics, json)) return std::nullopt;
  return inputs;
}

}  // namespace

std::optional<Inputs> read_inputs(std::string text, const std::filesystem::path& path, const std::string& torch,
                                  bool json) {
  Diagnostics diagnostics;
  Spec spec = parse_spec_text(std::move(text), path, diagnostics);
  return complete(std::move(spec), diagnostics, torch, json);
}

std::optional<Inputs> read_inputs(const std::filesystem::path& path, const std::string& torch, bool json) {
  Diagnostics diagnostics;
  Spec spec = parse_spec(path, diagnostics);
  return complete(std::move(spec), diagnostics, torch, json);
}

std::optional<Inputs> read_again(Inputs inputs, std::string text, bool json) {
  Diagnostics diagnostics;
  inputs.spec = parse_spec_text(std::move(text), inputs.spec.path, diagnostics);
  validate_spec(inputs.spec, inputs.catalog, diagnostics);
  diagnostics.finish(inputs.spec.text);
  if (!diagnostics.has_errors()) return inputs;  // the first reading has told the warnings
  report(diagnostics, json);
  return std::nullopt;
}

Rendering prepare(const Inputs& inputs, const DataDir& data, const std::string& spec_file) {
  Rendering rendering;
  rendering.request.templates_hash = hash_templates(data);
  rendering.request.globals = make_globals(inputs.spec, inputs.catalog, spec_file);
  rendering.outputs = expand_outputs(data.templates, rendering.request.globals);
  for (const Output& output : rendering.outputs) {
    rendering.request.jobs.push_back({output.template_name, job_context(output, rendering.request.globals)});
  }
  rendering.next.tool = OPENREG_GEN_VERSION;
  rendering.next.torch = inputs.catalog.identity();
  rendering.next.spec = spec_file;
  rendering.next.inputs = hash_request(rendering.request);
  const auto folder = std::filesystem::path(spec_file).parent_path();
  for (const ListFile& list : inputs.spec.lists) {
    Output output;
    output.path = (folder / list.path).lexically_normal().generic_string();
    output.file_class = FileClass::Owned;
    output.key = "ops";
    output.about = "a list of operators that the spec selects";
    rendering.lists.push_back({std::move(output), list.text});
  }
  return rendering;
}

std::vector<Rendered> render(Renderer& renderer, const Rendering& rendering) {
  std::vector<std::string> texts = renderer.render(rendering.request);
  std::vector<Rendered> renders;
  for (std::size_t i = 0; i < texts.size(); ++i) renders.push_back({rendering.outputs[i], std::move(texts[i])});
  renders.insert(renders.end(), rendering.lists.begin(), rendering.lists.end());
  return renders;
}

Rendered spec_output(const std::string& spec_file, std::string text) {
  Output output;
  output.path = spec_file;
  output.file_class = FileClass::Owned;
  output.about = "the spec: what this tree is rendered from";
  return {std::move(output), std::move(text)};
}

nlohmann::json steps_json(const Plan& plan) {
  nlohmann::json files = nlohmann::json::array();
  for (const Step& step : plan.steps) {
    files.push_back({{"path", step.path},
                     {"class", to_string(step.file_class)},
                     {"action", to_string(step.action)},
                     {"reason", step.reason},
                     {"key", step.key}});
  }
  return files;
}

std::string steps_table(const Plan& plan) {
  std::size_t width = 0;
  for (const Step& step : plan.steps) {
    if (says_something(step)) width = std::max(width, step.path.size());
  }
  std::string out;
  for (const Step& step : plan.steps) {
    if (!says_something(step)) continue;
    out += fmt::format("  {:7} {:{}}  {:9}  {}\n", to_string(step.action), step.path, width, to_string(step.file_class),
                       step.reason);
  }
  return out;
}

std::string count_classes(const Plan& plan) {
  std::array<std::size_t, 3> count{};
  for (const auto& [path, file] : plan.manifest.files) ++count[static_cast<std::size_t>(file.file_class)];
  return fmt::format("{} files: {} generated, {} shared, {} owned", plan.manifest.files.size(), count[0], count[1],
                     count[2]);
}

std::string plan_diff(const Plan& plan, bool colour) {
  std::string out;
  for (const Step& step : plan.steps) {
    if (step.action == Action::Unchanged || step.action == Action::Keep) continue;
    const bool create = step.action == Action::Create, remove = step.action == Action::Remove;
    out += unified_diff(step.before, step.after, create ? "/dev/null" : "a/" + step.path,
                        remove ? "/dev/null" : "b/" + step.path, colour);
  }
  return out;
}

Exit print_refusal(const Plan& plan) {
  std::size_t count = 0;
  for (const Step& step : plan.steps) count += step.action == Action::Refuse;
  print_error("E0503",
              fmt::format("{} {} in the way; nothing was written", count, count == 1 ? "file is" : "files are"), {});
  for (const Step& step : plan.steps) {
    if (step.action != Action::Refuse) continue;
    fmt::print(stderr, "  {}: {} ({}; `{}` in the spec governs it)\n", step.path, step.reason,
               to_string(step.file_class), step.key);
  }
  fmt::print(stderr,
             "hint: `openreg-gen generate --diff` shows your edits against the render; a file that is moved away "
             "or deleted is rendered again\n");
  return Exit::No;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '+' || c == ',';
  });
  if (plain) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace openreg_gen
