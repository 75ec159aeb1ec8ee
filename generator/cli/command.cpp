// openreg-gen itself: the list of its verbs.
#include "cli/verb.h"
#include "cli/workbench.h"

#include <algorithm>

namespace openreg_gen {

// Each is in the file of its name.
Verb new_verb(), generate_verb(), add_verb(), remove_verb(), components_verb(), explain_verb(), status_verb(),
    undo_verb(), own_verb(), disown_verb(), migrate_verb(), test_verb(), check_verb(), ops_verb(), audit_verb(),
    doctor_verb(), schema_verb(), completion_verb(), help_verb();

namespace {

constexpr const char* kFooter = R"(Examples:
  openreg-gen new mybackend                        a backend with a simulated device, in torch_mybackend/
  openreg-gen new mychip --device external         the same over a port layer for a vendor's own runtime
  openreg-gen new mycl --device opencl             the same on the OpenCL devices of the machine
  openreg-gen check mybackend.yaml                 every fault of a spec at once
  openreg-gen generate -C torch_mybackend --diff   what a changed spec would change
  openreg-gen add abs.out maximum.out              two operators more, in the spec and in the files
  openreg-gen test abs.out                         builds what changed, runs the operator's tests
  openreg-gen add component caching                a part more: the spec says so, its files come
  openreg-gen components                           the optional parts: what for, how large, which are there
  openreg-gen status                               edits, conflicts, what undo would do
  openreg-gen undo                                 takes back what the last run wrote
  openreg-gen own setup.py                         yours from now on, never written again
  openreg-gen explain add.out                      a file, an operator, a diagnostic, a word: what it is
  openreg-gen ops 'add*'                           operators of the installed PyTorch
  openreg-gen audit                                what the installed backend lacks
  source <(openreg-gen completion bash)            completion of verbs, flags and their values

Exit codes: 0 done, 1 the answer is no (stale, edited, wrong, nothing found), 2 bad input, 3 the environment,
4 openreg-gen's own fault.)";

/// Omits CLI11's types, "REQUIRED" and "Excludes:" after names: the usage line and the descriptions have them.
struct HelpFormatter : CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, positional);
    return name.substr(0, name.find("{-}"));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return option->get_type_name() == kOptionalFile ? kOptionalFile : "";
    const std::string type = option->get_type_name(), choice = type.substr(std::min(type.find('{'), type.size()));
    constexpr std::size_t kLong = 100;
    const bool listed = !choice.empty() && choice.size() < kLong;
    const std::string shown = listed ? choice : option->get_positional() ? "" : type.substr(0, type.find(":{"));
    return (shown.empty() ? "" : " " + shown) + (option->get_expected_max() > 1 ? " ..." : "");
  }
};

Run set_up_command(CLI::App& app, Invocation& call) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kFooter);
  call.add_tree(app, "The tree that the verb works on; also accepted after the verb");
  app.set_version_flag("--version", "openreg-gen " OPENREG_GEN_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  return {};  // one of the verbs runs
}

}  // namespace

Verb command() {
  const std::vector<Verb> tools = tool_verbs();
  const auto tool = [&](const std::string& name) { return *std::ranges::find(tools, name, &Verb::name); };
  Verb all{"openreg-gen", "Renders a complete PyTorch PrivateUse1 backend from one spec.", set_up_command};
  const auto group = [&](const char* title, std::vector<Verb> verbs) {
    for (Verb& verb : verbs) all.parts.emplace_back(std::move(verb)).group = title;
  };
  group("Make", {new_verb(), generate_verb(), test_verb(), doctor_verb()});
  group("Change", {add_verb(), remove_verb(), own_verb(), disown_verb(), migrate_verb(), undo_verb()});
  group("Understand",
        {explain_verb(), status_verb(), components_verb(), ops_verb(), schema_verb(), tool("trace"), tool("record")});
  group("Check", {check_verb(), audit_verb(), tool("try"), tool("sweep"), tool("upstream"), tool("compare"),
                  tool("replay"), tool("sanitize")});
  group("Tools", {tool("lint-cuda"), completion_verb(), help_verb()});
  return all;
}

bool goes_before(const CLI::Option& option, const CLI::App& part) {
  const auto parts = part.get_subcommands([](const CLI::App*) { return true; });
  const bool shared = option.check_name("-C") || option.check_name("--json") || option.check_name("--torch");
  return shared && (part.get_option_no_throw(option.get_name()) != nullptr ||
                    std::ranges::any_of(parts, [&](const CLI::App* each) { return goes_before(option, *each); }));
}

Run set_up(const Verb& verb, CLI::App& app, Invocation& call) {
  std::string footer = verb.examples.empty() ? "" : "Examples:";
  for (const std::string& example : verb.examples) footer += "\n  openreg-gen " + example;
  if (!verb.exits.empty()) footer += "\n\nExit codes: " + verb.exits + ".";
  app.footer(footer);  // else the examples of all verbs would be inherited
  std::vector<std::pair<const CLI::App*, Run>> parts;
  Run own = verb.set_up(app, call);
  for (const Verb& part : verb.parts) {
    CLI::App* below = app.add_subcommand(part.name, part.about);
    below->group(part.group);
    parts.emplace_back(below, set_up(part, *below, call));
    for (CLI::Option* option : app.get_options()) {
      if (!goes_before(*option, *below)) below->excludes(option);  // it would be ignored
      if (CLI::Option* same = below->get_option_no_throw(option->get_name())) same->excludes(option);
    }
  }
  return [own, parts, &app](Invocation& chosen) {
    for (const auto& [below, run] : parts)
      if (below->parsed()) return run(chosen);
    // An option that only parts of this verb have, such as -C of `ops show`.
    if (!chosen.folder.empty() && app.get_option_no_throw("-C") == nullptr)
      throw Failure(Exit::BadInput, "E0500", fmt::format("'{}' takes no -C", app.get_name()),
                    "change into the folder: it works on the one that it is called in");
    return own(chosen);
  };
}

}  // namespace openreg_gen
