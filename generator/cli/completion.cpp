// openreg-gen completion bash|zsh: printed from the command line's own description, so that it cannot lag behind.
#include "cli/verb.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace openreg_gen {
namespace {

struct Flag {
  std::string name, about;
  bool takes_value = false;
  std::vector<std::string> values;  // a closed set, or none
};

/// What there is to complete after a verb, or after the command itself.
struct Words {
  std::string name, about;
  std::vector<Flag> flags;
  std::vector<std::string> words;  // subcommands, and values of positionals
};

/// The closed set of an option's values, which CLI11 describes in its type name alone: "{emulator,external}".
std::vector<std::string> values_of(CLI::Option* option) {
  const std::string text = option->get_type_name();
  std::vector<std::string> out;
  const std::size_t open = text.find('{'), close = text.find('}');
  if (open == std::string::npos || close == std::string::npos) return out;
  for (std::size_t at = open + 1; at <= close;) {
    const std::size_t end = std::min(text.find(',', at), close);
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<CLI::App*> subcommands(CLI::App* app) {
  return app->get_subcommands([](CLI::App*) { return true; });
}

Words describe(CLI::App* app) {
  Words verb{app->get_name(), app->get_description(), {}, {}};
  for (CLI::Option* option : app->get_options()) {
    if (option->get_positional()) {
      const auto values = values_of(option);
      verb.words.insert(verb.words.end(), values.begin(), values.end());
      continue;
    }
    const bool value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_lnames())
      verb.flags.push_back({"--" + name, option->get_description(), value, values_of(option)});
    for (const std::string& name : option->get_snames())
      verb.flags.push_back({"-" + name, option->get_description(), value, values_of(option)});
  }
  for (CLI::App* sub : subcommands(app)) {
    verb.words.push_back(sub->get_name());
    for (Flag& flag : describe(sub).flags) {
      if (std::ranges::find(verb.flags, flag.name, &Flag::name) == verb.flags.end())
        verb.flags.push_back(std::move(flag));
    }
  }
  return verb;
}

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string bash(const std::vector<Words>& verbs, const Words& top) {
  std::vector<std::string> first = top.words;
  for (const Flag& flag : top.flags) first.push_back(flag.name);
  std::string out =
      "# bash completion of openreg-gen: source <(openreg-gen completion bash)\n"
      "_openreg_gen() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n    return\n  fi\n", join(first));
  out += "  case ${COMP_WORDS[1]}:$prev in\n";
  for (const Words& verb : verbs) {
    for (const Flag& flag : verb.flags) {
      if (!flag.takes_value) continue;
      out += flag.values.empty() ? fmt::format("    {}:{}) return ;;\n", verb.name, flag.name)
                                 : fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                                               verb.name, flag.name, join(flag.values));
    }
  }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Words& verb : verbs) {
    std::vector<std::string> words = verb.words;
    for (const Flag& flag : verb.flags) words.push_back(flag.name);
    out += fmt::format("    {}) words='{}' ;;\n", verb.name, join(words));
  }
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _openreg_gen openreg-gen\n";
}

/// Text inside '...' of an _arguments or _describe word.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh(const std::vector<Words>& verbs) {
  std::string out =
      "#compdef openreg-gen\n"
      "# zsh completion of openreg-gen: source <(openreg-gen completion zsh)\n"
      "_openreg_gen() {\n"
      "  local -a verbs=(\n";
  for (const Words& verb : verbs) out += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.about));
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const Words& verb : verbs) {
    out += fmt::format("    {})\n      _arguments", verb.name);
    for (const Flag& flag : verb.flags) {
      out += fmt::format(" \\\n        '{}[{}]{}'", flag.name, zsh_text(flag.about),
                         !flag.takes_value     ? ""
                         : flag.values.empty() ? ":value:_files"
                                               : ":value:(" + join(flag.values) + ")");
    }
    out += verb.words.empty() ? " \\\n        '*:file:_files'"
                              : fmt::format(" \\\n        '*:word:({})'", join(verb.words));
    out += "\n      ;;\n";
  }
  return out +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _openreg_gen ]; then _openreg_gen \"$@\"; else compdef _openreg_gen openreg-gen; "
         "fi\n";
}

struct CompletionOptions {
  std::string shell;
  CLI::App* all = nullptr;  // the whole command line
};

void declare(CLI::App& app, Invocation&, CompletionOptions& options) {
  app.add_option("SHELL", options.shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  options.all = app.get_parent();
}

Exit run(Invocation&, const CompletionOptions& options) {
  std::vector<Words> verbs;
  for (CLI::App* verb : subcommands(options.all)) verbs.push_back(describe(verb));
  print_text(options.shell == "zsh" ? zsh(verbs) : bash(verbs, describe(options.all)));
  return Exit::Done;
}

}  // namespace

Verb completion_verb() {
  return {"completion",
          "Print shell completion: source <(openreg-gen completion bash)",
          with_options<CompletionOptions>(declare, run),
          {"completion zsh"}};
}

}  // namespace openreg_gen
