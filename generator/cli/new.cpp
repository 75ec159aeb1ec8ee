// openreg-gen new NAME: from a spec to a tree.
#include "cli/new_spec.h"
#include "cli/plan_view.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "base/text.h"
#include "edit/spec_edit.h"
#include "edit/style.h"
#include "pipeline/rendering.h"
#include "spec/document.h"
#include "tree/plan.h"
#include "tree/journal.h"
#include "tree/paths.h"

#include <unistd.h>

namespace openreg_gen {
namespace {

struct NewOptions {
  std::string name, spec, device, profile, out;
  bool dry_run = false;
};

void declare(CLI::App& app, Invocation& call, NewOptions& options) {
  std::vector<std::string> words;
  for (const DeviceKind& kind : device_kinds()) words.emplace_back(kind.word);
  app.add_option("NAME", options.name, "Name of the device: what torch.device() parses, [a-z][a-z_]*")->required();
  app.add_option("--spec", options.spec, "Spec to start from (YAML or JSON); default: that of the device's kind")
      ->type_name("FILE");
  app.add_option("--device", options.device, "A simulated device, a port layer for a vendor's own runtime, or OpenCL")
      ->check(CLI::IsMember(words))
      ->type_name("");
  app.add_option("--profile", options.profile, "Which components the tree has; default: the spec's, else standard")
      ->check(CLI::IsMember({"minimal", "standard", "full"}))
      ->type_name("");
  app.add_option("--out", options.out, "Folder of the tree; default: torch_NAME")->type_name("DIR");
  call.add_torch(app);
  app.add_flag("--dry-run", options.dry_run, "Print what would be written; write nothing");
  call.add_json(app);
}

/// The word as a POSIX shell reads it.
std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) { return is_word(c) || contains(std::string_view("-./+,"), c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = word;
  replace_all(quoted, "'", "'\\''");
  return "'" + quoted + "'";
}

/// A folder that holds nothing of anyone's: absent, empty, a fresh git repository, or what a killed run left behind.
void check_free(const fs::path& root) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' is no folder", "choose another with --out DIR");
  const RealDisk disk(root);
  const std::string state(kStateFolder);
  if (disk.kind(std::string(kManifest)) != FileKind::None ||
      disk.kind(std::string(kTemporary) + "/journal.json") != FileKind::None) {
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' holds a backend already",
                  "`openreg-gen generate -C " + shell_quoted(root.string()) + "` renders it again");
  }
  for (const std::string& name : disk.list("")) {
    if (name == ".git" || (name == state && disk.list(state) == std::vector<std::string>{"tmp"})) continue;
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' is not empty",
                  "choose another folder with --out DIR");
  }
}

/// The new tree's spec; with --spec nothing but the name and the device is changed. What is wrong is said of the
/// finished text.
Spec make_spec(const NewOptions& options, std::string text, const fs::path& path, Diagnostics& diagnostics) {
  if (options.spec.empty() && options.profile != "minimal")
    text = adapt_shipped_spec(text, options.name, find_device_kind(options.device));
  Spec spec = parse_spec_text(std::move(text), path, diagnostics);
  const auto edited = [&](std::string now) {
    if (now == spec.text) return;
    diagnostics = {};
    spec = parse_spec_text(std::move(now), path, diagnostics);
  };
  if (spec.backend.name.given()) edited(with_name(spec.text, spec, options.name));
  if (!options.device.empty()) edited(with_device(spec.text, spec, options.device));
  // A tree says which components it has, so that another default never changes it.
  const bool ours = options.spec.empty() && spec.profile.given();
  const std::string profile = !options.profile.empty()        ? options.profile
                              : spec.profile.given() && !ours ? ""
                                                              : "standard";
  if (!profile.empty() && !diagnostics.has_errors())
    edited(with_word(spec.text, path, "profile", "", text_node(profile)));
  return spec;
}

std::string read_spec(const fs::path& path) {
  Diagnostics diagnostics;
  auto text = read_spec_file(path, diagnostics);  // folders, huge files and the like are errors
  if (!text) {
    const Diagnostic& first = diagnostics.all().front();
    throw Failure(Exit::BadInput, first.code, path.string() + ": " + first.message, first.hint);
  }
  return std::move(*text);
}

void write_tree(const fs::path& root, const Plan& plan) {
  std::error_code error;
  const bool existed = fs::exists(root, error);
  fs::create_directories(root, error);
  if (error)
    throw Failure(Exit::Environment, "E0506", "cannot make the folder " + root.string() + ": " + error.message());
  RealDisk disk(root);
  const auto lock = lock_tree(disk, root);
  try {
    recover(disk);
    apply_plan(disk, plan, "new");
  } catch (...) {
    if (!existed) fs::remove(root, error);
    throw;
  }
}

Exit run(Invocation& call, const NewOptions& options) {
  const DataDir data = find_data();
  Renderer renderer(data);  // first of all: Python loads Jinja2 while the spec is being read
  const bool shipped = options.spec.empty();
  const fs::path source = !shipped                       ? fs::path(options.spec)
                          : options.profile == "minimal" ? data.specs / "minimal.yaml"
                          : options.device.empty()       ? data.specs / "openreg.yaml"
                                                         : data.specs / find_device_kind(options.device)->spec;
  const std::string extension = source.extension() == ".json" ? ".json" : ".yaml";
  const std::string spec_file = options.name + extension;
  Diagnostics diagnostics;
  const auto resolved = call.valid(
      make_spec(options, read_spec(source), shipped ? fs::path(spec_file) : source, diagnostics), diagnostics);
  if (!resolved) return Exit::BadInput;
  const Spec& spec = resolved->spec;
  if (spec.backend.name.value != options.name) {
    throw Failure(Exit::BadInput, "E0509", "cannot put the name '" + options.name + "' into " + source.string(),
                  "write `name: " + options.name + "` under `backend:` yourself");
  }

  const fs::path root = options.out.empty() ? fs::path("torch_" + options.name) : fs::path(options.out);
  check_free(root);
  Rendering rendering = prepare(*resolved, data, spec_file);
  add_outputs(rendering, *resolved, data);
  std::vector<Rendered> renders = render(renderer, rendering, spec.text);
  const Plan plan = make_plan(RealDisk(root), nullptr, std::move(renders), rendering.next);
  if (plan.refused()) return print_refusal(plan);
  if (!options.dry_run) write_tree(root, plan);

  const std::string where = shell_quoted(root.string());
  const std::vector<std::string> next{"python -m pip install --no-build-isolation -v -e " + where,
                                      "python -m pytest " + shell_quoted((root / "tests").string())};
  if (call.json) {
    print_json(nlohmann::json{{"root", root.string()}, {"files", steps_json(plan)}, {"next", next}});
    return Exit::Done;
  }
  if (options.dry_run) print_text(steps_table(plan, colour_wanted(STDOUT_FILENO)));
  fmt::print("{}{}: {}\n", options.dry_run ? "nothing written; " : "", root.string(), count_classes(plan.manifest));
  fmt::print("spec: {}\n\nNext:\n  {}\n  {}\n", (root / spec_file).string(), next[0], next[1]);
  return Exit::Done;
}

}  // namespace

Verb new_verb() {
  return {
      "new",
      "Render a new backend from a spec",
      with_options<NewOptions>(declare, run),
      {"new mybackend", "new mybackend --profile minimal", "new mychip --device external", "new mycl --device opencl"}};
}

}  // namespace openreg_gen
