// openreg-gen new NAME: from a spec to a tree.
#include "cli/adopt.h"
#include "cli/git.h"
#include "cli/new_spec.h"
#include "cli/next.h"
#include "cli/plan_view.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "base/text.h"
#include "edit/spec_edit.h"
#include "edit/style.h"
#include "pipeline/rendering.h"
#include "system/child.h"
#include "spec/document.h"
#include "spec/lessons.h"
#include "tree/plan.h"
#include "tree/journal.h"
#include "tree/paths.h"

#include <unistd.h>

namespace openreg_gen {
namespace {

struct NewOptions {
  std::string name, spec, device, profile, out, from, facts;
  std::vector<std::string> sources;
  std::size_t lesson = 0;
  bool dry_run = false, git = false;
};

void declare(CLI::App& app, Invocation& call, NewOptions& options) {
  std::vector<std::string> words;
  for (const DeviceKind& kind : device_kinds()) words.emplace_back(kind.word);
  app.add_option("NAME", options.name, "Name of the device, as in torch.device(): [a-z][a-z_]*")->required();
  app.add_option("--spec", options.spec, "Spec to start from (YAML or JSON); default: the one for the device's kind")
      ->type_name("FILE");
  app.add_option("--device", options.device,
                 "A simulated device, a port layer for a vendor's own runtime or graph compiler, or OpenCL")
      ->check(CLI::IsMember(words))
      ->type_name("");
  app.add_option("--profile", options.profile,
                 "Which components the tree has; default: the spec's profile, or standard")
      ->check(CLI::IsMember({"minimal", "standard", "full"}))
      ->type_name("");
  app.add_option("--lesson", options.lesson,
                 fmt::format("A minimal tree with this exercise of the book, 1 to {}", kLessons.size()))
      ->check(CLI::Range(std::size_t{1}, kLessons.size()).description(""))
      ->excludes("--spec", "--device", "--profile")
      ->type_name("N");
  auto* from = app.add_option("--from", options.from,
                              "Adopt a backend that was written by hand: the module whose import registers it")
                   ->excludes("--spec", "--lesson")
                   ->type_name("PACKAGE");
  app.add_option("--sources", options.sources,
                 "With --from: a folder with its C++ sources; may be given more than once")
      ->needs(from)
      ->allow_extra_args(false)
      ->type_name("DIR");
  app.add_option("--facts", options.facts,
                 "With --from: read `python -m openreg_gen.adopt.read PACKAGE --json FILE`, and don't import PACKAGE")
      ->needs(from)
      ->type_name("FILE");
  app.add_option("-o,--out", options.out, "Folder of the tree; default: torch_NAME")->type_name("DIR");
  call.add_torch(app);
  app.add_flag("--dry-run", options.dry_run,
               "Print what would be written; write nothing. With --from: a report on what the tree would change");
  app.add_flag("--git", options.git, "Make the tree a git repository, with a first commit")->excludes("--dry-run");
  call.add_json(app);
}

/// A folder without anybody's files: absent, empty, a fresh git repository, or the remains of a killed run.
void check_free(const fs::path& root) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' is not a directory",
                  "choose another with --out DIR");
  const RealDisk disk(root);
  const std::string state(kStateFolder);
  if (disk.kind(std::string(kManifest)) != FileKind::None ||
      disk.kind(std::string(kTemporary) + "/journal.json") != FileKind::None) {
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' already contains a backend",
                  "`openreg-gen generate -C " + shell_quoted(root.string()) + "` renders it again");
  }
  for (const std::string& name : disk.list("")) {
    if (name == ".git" || (name == state && disk.list(state) == std::vector<std::string>{"tmp"})) continue;
    throw Failure(Exit::BadInput, "E0501", "'" + root.string() + "' is not empty",
                  "choose another folder with --out DIR");
  }
}

/// Errors in NAME are reported at NAME: the spec that will contain it is not on the disk.
bool check_name(Invocation& call, const std::string& name) {
  Diagnostics found, ours;
  const Spec spec = parse_spec_text("backend: {name: " + in_quotes(name, '"') + "}\n", {}, found);
  for (const Diagnostic& each : found.all())
    if (each.severity == Severity::Error) ours.error(each.code, {}, "NAME: " + each.message, each.hint);
  return !call.report(ours);
}

/// The text of the spec with the name, the device and the profile that were asked for.
std::string with_choices(const Spec& spec, const NewOptions& options) {
  std::string text = with_word(spec.text, spec.path, "backend", "name", text_node(options.name));
  if (!options.device.empty() && (*spec.device.api)->word != options.device)
    text = with_word(text, spec.path, "device", "api", text_node(options.device));
  // A tree says which components it has, so that another default never changes it.
  if (options.lesson != 0) text = with_word(text, spec.path, "profile", "", text_node("minimal"));
  const bool default_profile = options.lesson == 0 && options.profile.empty() &&
                               ((options.spec.empty() && options.from.empty()) || !spec.profile.given());
  if (!options.profile.empty() || default_profile)
    text = with_word(text, spec.path, "profile", "", text_node(default_profile ? "standard" : options.profile));
  if (options.lesson != 0) text += fmt::format("lesson: {}\n", options.lesson);
  return text;
}

/// The new tree under version control: what happened, in one line. Without --git, or where it failed, the command goes
/// to `next`.
std::string keep_history(const NewOptions& options, const fs::path& git, const fs::path& root, Next& next) {
  const std::string message = "openreg-gen new " + options.name;
  const fs::path around = repository_around(root);
  std::string why;
  if (around.empty() && options.git) {
    why = start_repository(git, root, message);
    if (why.empty()) return "a new repository with one commit";
  }
  if (around.empty()) next.add(repository_command(root.string(), message));
  if (!options.git) return {};
  return around.empty() ? "no commit: " + why : root.string() + " is in a repository already: " + around.string();
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
    throw Failure(Exit::Environment, "E0506", "cannot create the folder " + root.string() + ": " + error.message());
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
  const fs::path git = options.git ? find_program("git") : fs::path();
  if (options.git && git.empty())
    throw Failure(Exit::Environment, "E0534", "--git needs git, which is not on PATH",
                  "install git, or leave out --git");
  const DataDir data = find_data();
  Renderer renderer(data);  // first of all: Python loads Jinja2 while the spec is being read
  const bool adopted = !options.from.empty();
  const bool shipped = options.spec.empty() && !adopted, minimal = options.lesson != 0 || options.profile == "minimal";
  const fs::path source = adopted                  ? fs::path(options.name + ".yaml")
                          : !shipped               ? fs::path(options.spec)
                          : minimal                ? data.specs / "minimal.yaml"
                          : options.device.empty() ? data.specs / "openreg.yaml"
                                                   : data.specs / find_device_kind(options.device)->spec;
  const std::string extension = source.extension() == ".json" ? ".json" : ".yaml";
  const std::string spec_file = options.name + extension;
  const fs::path path = shipped ? fs::path(spec_file) : source;
  if (!check_name(call, options.name)) return Exit::BadInput;
  std::optional<Adoption> adoption;
  if (adopted) {
    Exit exit = Exit::Done;
    adoption = adopt(call, {options.name, options.from, options.sources, options.facts, options.dry_run}, exit);
    if (!adoption) return exit;
  }
  std::string text = adoption ? adoption->spec() : read_spec(source);
  if (shipped && !minimal)
    text = adapt_shipped_spec(text, options.name, find_device_kind(options.device), options.profile == "full");
  Diagnostics diagnostics;
  Spec read = parse_spec_text(text, path, diagnostics);
  if (diagnostics.has_errors()) {
    call.valid(std::move(read), diagnostics);
    return Exit::BadInput;
  }
  text = with_choices(read, options);
  diagnostics = {};
  Spec made = parse_spec_text(text, path, diagnostics);
  call.said_of(shipped || adopted ? "" : read.text, text);
  const auto resolved = call.valid(std::move(made), diagnostics);
  if (!resolved) return Exit::BadInput;
  const Spec& spec = resolved->spec;

  const fs::path root = options.out.empty() ? fs::path("torch_" + options.name) : fs::path(options.out);
  check_free(root);
  Rendering rendering = prepare(*resolved, data, spec_file);
  add_outputs(rendering, *resolved, data);
  std::vector<RenderedFile> renders = render(renderer, rendering, spec.text);
  const Plan plan = make_plan(RealDisk(root), nullptr, std::move(renders), rendering.next);
  if (plan.refused()) return print_refusal(plan);
  if (!options.dry_run) write_tree(root, plan);
  if (!options.dry_run && adoption)
    if (const Exit exit = adoption->place(root); exit != Exit::Done) return exit;

  call.folder = root.string();
  Next next(call, root);
  std::string history;
  if (!options.dry_run) {
    const bool has_port = adoption && adoption->has_port();
    const std::string device = "third_party/" + *spec.backend.name;
    if ((*spec.device.api)->ported && !has_port) {  // first what takes seconds
      next.add(
          fmt::format("fill {}; {} explains how", next.file(device + "/src/port.cpp"), next.file("docs/porting.md")));
      const std::string built = next.file("build-device");
      next.add(fmt::format("cmake -S {} -B {} && cmake --build {}", shell_quoted(next.file(device)),
                           shell_quoted(built), shell_quoted(built)));
      next.add(fmt::format("{}_LIBRARY={}/lib{}.so python -m pytest {}/test_bringup_*.py",
                           upper_case(*spec.backend.name), shell_quoted(built), *spec.backend.name,
                           shell_quoted(next.file("tests"))));
    }
    next.build();
    if (has_port)
      next.add(next.file(spec_file) + " lists what is unclear; " + next.file(device + "/src/port.cpp") +
               " calls the old runtime");
    if ((*spec.device.api)->compiles)
      next.add(fmt::format("write compile() of {}", next.file(*spec.backend.package + "/compiler.py")));
    if (options.lesson == 0)
      next.test();
    else
      next.add("cd " + shell_quoted(root.string()) + " && python -m openreg_gen.learn");
    history = keep_history(options, git, root, next);
  }
  nlohmann::json all{{"root", root.string()}, {"files", steps_json(plan)}, {"next", next.lines()}};
  if (!history.empty()) all["git"] = history;
  if (adoption) all["adoption"] = adoption->summary();
  if (call.put(all)) return Exit::Done;
  if (adoption) print_text(adoption->report());
  if (options.dry_run && !adoption) print_text(steps_table(plan, colour_wanted(STDOUT_FILENO)));
  fmt::print("{}{}: {}\n", options.dry_run ? "nothing written; " : "", root.string(), count_classes(plan.manifest));
  fmt::print("spec: {}\n", (root / spec_file).string());
  if (!history.empty()) fmt::print("git: {}\n", history);
  fmt::print("{}", next.text());
  return Exit::Done;
}

}  // namespace

Verb new_verb() {
  return {"new",
          "Render a new backend from a spec",
          with_options<NewOptions>(declare, run),
          {"new mybackend", "new mybackend --profile minimal --git", "new mychip --device external",
           "new mycl --device opencl", "new mychip --device compiler", "new lessons --lesson 1",
           "new mychip --from torch_mychip_old --sources ../old/csrc --dry-run",
           "new mychip --from torch_mychip_old --sources ../old/csrc"}};
}

}  // namespace openreg_gen
