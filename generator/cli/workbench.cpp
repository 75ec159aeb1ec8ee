#include "cli/workbench.h"

#include "base/environment.h"
#include "base/text.h"
#include "cli/build_tree.h"
#include "render/data_dir.h"
#include "spec/spec.h"
#include "system/child.h"
#include "system/python.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

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

/// Whether PyTorch declares an operator of that name, or overloads of it. False if it is not known.
bool is_declared(Invocation& call, const std::string& name) {
  const std::string base = name.substr(0, name.find('.'));
  try {
    return std::ranges::any_of(call.catalog().all(), [&](const Op& op) { return op.base == base; });
  } catch (const Failure&) {
    return false;
  }
}

/// Builds what changed in the tree around the current folder, unless --device names another backend, and has its Python
/// run the tools. A name that only Python may know is asked for first: a build takes minutes. What it exits with, if
/// that is the end.
std::optional<Exit> build_around(Invocation& call) {
  const std::string device = value_of(call.passed_on, "--device");
  if (contains(call.passed_on, "--no-build")) return {};
  try {
    const OpenTree tree = call.tree(Access::Read);
    Diagnostics ignored;
    const Spec spec = parse_spec(tree.root / tree.manifest.spec, ignored);
    const BuildPrograms programs = build_programs(tree);
    const bool for_it = device.empty() || *spec.backend.name == device.substr(0, device.find(':'));
    if (!for_it || !programs.exist()) return {};
    setenv("OPENREG_GEN_PYTHON", programs.python.c_str(), 1);
    if (const auto& words = call.passed_on;
        !words.empty() && !words[0].starts_with('-') && !is_declared(call, words[0]))
      if (run_tool("trial.names", {words[0]}) == Exit::BadInput) return Exit::BadInput;
    build_tree(tree, programs);
    setenv("TORCH_DEVICE_BACKEND", spec.backend.name->c_str(), 0);  // of several that are installed there
  } catch (const Failure& failure) {
    if (failure.code() == "E0558") throw;  // the build failed; without a tree there is nothing to build
  }
  return {};
}

/// options.json of the package: what the tools are called with. The tools read it, too.
nlohmann::json options_of_tools() {
  try {
    const fs::path file = find_data().workbench / "openreg_gen" / "options.json";
    return nlohmann::json::parse(read_file(file, "E0506", "it belongs to openreg-gen"));
  } catch (const Failure&) {
    return nlohmann::json::object();  // without its data, no tool can run, which it says then
  }
}

CLI::Validator number_above_0(bool whole) {
  const auto wrong = [whole](const std::string& text) -> std::string {
    const bool digits =
        !text.empty() && text.find_first_not_of(whole ? "0123456789" : "0123456789.e+-") == std::string::npos;
    if (digits && std::strtod(text.c_str(), nullptr) > 0) return {};
    return text + (whole ? ": not a number from 1 on" : ": not a number above 0");
  };
  return {[wrong](std::string& text) { return wrong(text); }, ""};
}

/// `words` takes what is given; the tool reads it, too.
void add_positional(CLI::App& app, const nlohmann::json& one, bool has_arguments, std::vector<std::string>& words) {
  const std::string name = one["name"];
  const bool script = name == "SCRIPT" && has_arguments;
  const std::string about = std::string(one["about"]) + (script ? "; its own arguments follow --" : "");
  CLI::Option* made = one.value("many", false) ? app.add_option(name, words, about) : app.add_option(name, about);
  if (one.value("required", false) || !(one.contains("many") || one.contains("optional"))) made->required();
  if (name != "OP" && name != "SUBJECT") made->type_name("FILE");
}

void add_option(CLI::App& app, const nlohmann::json& one) {
  const std::string name = one.value("short", "") + (one.contains("short") ? "," : "") + std::string(one["name"]);
  const std::string preset = one.value("default", ""), what = one["about"];
  const std::string about = what + (preset.empty() ? "" : "; default: " + preset);
  if (!one.contains("value") || one.contains("optional")) {
    CLI::Option* flag = app.add_flag(name + (one.contains("optional") ? "{-}" : ""), about);
    if (one.contains("optional")) flag->type_name(kOptionalFile);
    return;
  }
  CLI::Option* made = app.add_option(name, about)->type_name(one["value"]);
  const std::string type = one.value("type", "text");
  if (one.contains("many")) made->take_all();
  if (type == "count" || type == "seconds") made->check(number_above_0(type == "count"));
  if (one.contains("choices")) made->check(CLI::IsMember(one["choices"].get<std::vector<std::string>>()));
}

/// The verb of a tool: the words are understood as the table says, and handed on as they are. `before` runs first.
Verb tool(const nlohmann::json& table, const std::string& name, std::optional<Exit> (*before)(Invocation&) = nullptr) {
  std::string module = name;
  std::ranges::replace(module, '-', '_');
  const nlohmann::json own = table.value(name, nlohmann::json::object());
  const auto declare = [own, module, before](CLI::App& app, Invocation&) -> Run {
    const auto kept = std::make_shared<std::vector<std::string>>();
    for (const auto& one : own.value("positionals", nlohmann::json::array()))
      add_positional(app, one, own.contains("behind"), *kept);
    for (const auto& one : own.value("options", nlohmann::json::array())) add_option(app, one);
    if (own.empty()) app.allow_extras();
    return [module, before, kept](Invocation& call) {
      if (before != nullptr)
        if (const std::optional<Exit> exit = before(call)) return *exit;
      return run_tool(module, call.passed_on);
    };
  };
  Verb verb{.name = name, .about = own.value("about", ""), .set_up = declare};
  std::size_t width = 0;
  const auto rows = own.value("examples", nlohmann::json::array());
  for (const auto& row : rows)
    if (row[1] != "") width = std::max(width, row[0].get<std::string>().size());
  for (const auto& row : rows) {
    const std::string words = row[0], about = row[1];
    const std::string line = fmt::format("{} {:{}}  {}", name, words, about.empty() ? 0 : width, about);
    verb.examples.emplace_back(trimmed(line));
  }
  verb.exits = own.value("exits", "");
  verb.behind = own.value("behind", "");
  verb.renamed = own.value("renamed", std::map<std::string, std::string>());
  verb.passes_on = true;
  return verb;
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
  const nlohmann::json table = options_of_tools();
  std::vector<Verb> verbs;
  for (const char* name : {"record", "compare", "replay", "sanitize", "trace", "sweep", "upstream", "lint-cuda"})
    verbs.push_back(tool(table, name));
  verbs.push_back(tool(table, "try", build_around));
  return verbs;
}

}  // namespace openreg_gen
