#include "cli/workbench.h"

#include "base/environment.h"
#include "cli/build_tree.h"
#include "render/data_dir.h"
#include "spec/spec.h"
#include "system/child.h"
#include "system/python.h"

#include <algorithm>
#include <cstdlib>

namespace openreg_gen {
namespace {

bool has_torch(const fs::path& python) {
  std::error_code error;
  const auto holds_torch = [&](const fs::path& packages) { return fs::is_directory(packages / "torch", error); };
  for (const fs::path& packages : site_packages_of_python(python))
    if (holds_torch(packages) || std::ranges::any_of(pth_folders(packages), holds_torch)) return true;
  return false;
}

/// The tools, and programs that they start, import this package and no older one that is installed.
void put_first(const fs::path& workbench) {
  const std::string others = environment("PYTHONPATH");
  setenv("PYTHONPATH", (workbench.string() + (others.empty() ? "" : ":" + others)).c_str(), 1);
  setenv("OPENREG_GEN_COMMAND", "openreg-gen", 1);  // how the tools call themselves in their help
}

/// What follows an option among the words, as "--device NAME" or "--device=NAME"; empty without it.
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return {};
}

/// Builds what changed in the tree around the current folder, if it is for the device, and has its Python run the
/// tools.
void build_around(Invocation& call) {
  const std::string device = value_of(call.passed_on, "--device");
  if (device.empty() || contains(call.passed_on, "--no-build") || contains(call.passed_on, "--help")) return;
  try {
    const OpenTree tree = call.tree(Access::Read);
    Diagnostics ignored;
    const Spec spec = parse_spec(tree.root / tree.manifest.spec, ignored);
    const BuildPrograms programs = build_programs(tree);
    if (*spec.backend.name != device.substr(0, device.find(':')) || !programs.exist()) return;
    build_tree(tree, programs);
    setenv("OPENREG_GEN_PYTHON", programs.python.c_str(), 1);
  } catch (const Failure& failure) {
    if (failure.code() == "E0558") throw;  // the build failed; without a tree there is nothing to build
  }
}

/// `openreg-gen NAME WORDS...`; `help` is the words that show the tool's own options. `before` runs first.
Verb tool(const std::string& name, const std::string& about, std::vector<std::string> examples,
          const std::string& help = "--device cpu --help", void (*before)(Invocation&) = nullptr) {
  std::string module = name;
  std::ranges::replace(module, '-', '_');
  const auto declare = [module, before](CLI::App&, Invocation&) -> Run {
    return [module, before](Invocation& call) {
      if (before != nullptr) before(call);
      return run_tool(module, call.passed_on);
    };
  };
  examples.push_back(name + " " + help);
  return {.name = name, .about = about, .set_up = declare, .examples = std::move(examples), .passes_on = true};
}

/// An option that a tool parses itself.
struct ToolOption {
  std::string name, value, about;  // value: what --help calls it; "" of a flag
};

/// The verb, whose --help and completion list options of its tool.
Verb with_options_of_tool(Verb verb, std::vector<ToolOption> options) {
  verb.set_up = [set_up = verb.set_up, options = std::move(options)](CLI::App& app, Invocation& call) -> Run {
    for (const ToolOption& each : options) {
      const std::string& text = each.about;
      if (each.value.empty())
        app.add_flag(each.name, text);
      else
        app.add_option(each.name, text)->type_name(each.value);
    }
    return set_up(app, call);
  };
  return verb;
}

/// The options of openreg_gen/upstream/__main__.py; tests/test_workbench.py compares the names.
std::vector<ToolOption> upstream_options() {
  return {
      {"--device", "NAME", "The backend's device type, or cpu"},
      {"--import", "PACKAGE", "A module to import first"},
      {"--native", "", "Only operators that the backend lists"},
      {"--cuda", "", "Also tests that are written for CUDA alone"},
      {"--discover", "DIR", "Run all test files for devices below this checkout of PyTorch"},
      {"--select", "GLOB", "Files or tests: test_ops.py, 'test_out*', 'test_ops.py::test_out*'"},
      {"--hw-classification", "{GENERIC,ACCELERATOR,CPU,CUDA,XPU,MPS}", "Only classes that are marked so"},
      {"--shard", "I/N", "The I-th of N parts of the tests"},
      {"--jobs", "N", "Worker processes"},
      {"--timeout", "S", "Seconds that a test may take"},
      {"--results", "DIR", "The folder of all runs"},
      {"--resume", "", "Go on with the run that was interrupted"},
      {"--last", "", "Run nothing, and report the last run again"},
      {"--merge", "DIR", "Run nothing, and make one run of the shards in these folders"},
      {"--against", "FILE", "Also compare with a results.json"},
      {"--no-retry", "", "Don't run tests that newly fail a second time"},
      {"--shown", "N", "Tests per list in the terminal"},
      {"--exclusions", "FILE", "YAML with tests.exclude: the tree's spec, or a file of its own"},
      {"--skip-excluded", "", "Don't run excluded tests to see whether they pass"},
      {"--write-exclusions", "", "Add the tests that failed to the file of --exclusions"},
      {"--category", "CATEGORY", "Of the tests that failed, only those of this category"},
      {"--reason", "TEXT", "The reason of the entries that are added"},
  };
}

}  // namespace

fs::path find_torch_python() {
  for (const fs::path& python : python_candidates())
    if (has_torch(python)) return python;
  throw Failure(
      Exit::Environment, "E0559", "no Python with PyTorch was found",
      "activate the environment that holds the backend, or set OPENREG_GEN_PYTHON to its Python; a backend that "
      "`import torch` doesn't load needs --import PACKAGE, too");
}

Exit run_tool(const std::string& module, const std::vector<std::string>& words) {
  const fs::path python = find_torch_python();
  put_first(find_data().workbench);
  std::vector<std::string> argv{python.string(), "-m", "openreg_gen." + module};
  argv.insert(argv.end(), words.begin(), words.end());
  return static_cast<Exit>(run_program(fs::current_path(), argv));
}

std::vector<Verb> tool_verbs() {
  std::vector<Verb> verbs{
      tool("sweep", "Compare a backend with the CPU on all of PyTorch's samples",
           {"sweep --device mybackend --sample", "sweep --device mybackend add 'linalg.*'"}),
      tool("upstream", "Run PyTorch's own test files on a backend",
           {"upstream --device mybackend pytorch/test/test_torch.py -k pin_memory",
            "upstream --device mybackend --discover pytorch --exclusions mybackend.yaml"}),
      tool("record", "Run a script and record the operators that it needs from a backend",
           {"record --device mybackend -o ops.json train.py", "record --device mybackend --shapes --merge train.py"}),
      tool("try", "Run one operator's kernel on many arguments: is it right, did it run, how fast is it",
           {"try add.out --device mybackend", "try add.out --device mybackend --shapes ops.json"},
           "add --device cpu --help", build_around),
      tool("compare", "Run a script and compare each operator's result with the CPU's result",
           {"compare --device mybackend train.py", "compare --device mybackend --modules 'encoder.*' train.py"}),
      tool("replay", "Run one call that `compare` wrote to a file, alone, and say whether it still differs",
           {"replay differs.pt", "replay differs.pt --pytest test_call.py"}),
      tool("sanitize",
           "Run a script and report streams that use memory without order, and memory that is reused too early",
           {"sanitize --device mybackend train.py", "sanitize --device mybackend --json races.json train.py"}),
      tool("trace", "Show how an expression or a script reaches a backend's kernels, call by call",
           {"trace 'torch.relu(a + b)' --device mybackend", "trace train.py --device mybackend --html trace.html"}),
      tool("lint-cuda", "Find code that only runs on CUDA, and rewrite it for each backend",
           {"lint-cuda train.py", "lint-cuda --fix src", "lint-cuda --fix --yes src"}, ". --help"),
  };
  for (Verb& verb : verbs)
    if (verb.name == "upstream") verb = with_options_of_tool(std::move(verb), upstream_options());
  return verbs;
}

}  // namespace openreg_gen
