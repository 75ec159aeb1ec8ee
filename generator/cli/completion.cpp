// openreg-gen completion bash|zsh: printed from the command line's own description, so that it cannot lag behind.
#include "cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace openreg_gen {
namespace {

struct Flag {
  std::string name, about;
  bool takes_value = false;
  std::vector<std::string> values;  // a closed set, or none
};

struct Verb {
  std::string name, about;
  std::vector<Flag> flags;
  std::vector<std::string> words;  // subcommands, and values of positionals
};

/// "{emulator,external}" as CLI11 describes a set -> its members.
std::vector<std::string> members(const std::string& text) {
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

std::vector<std::string> values_of(CLI::Option* option) {
  // CLI11 gives a validator's description only through the option's type name.
  return members(option->get_type_name());
}

std::vector<CLI::App*> subcommands(CLI::App* app) {
  return app->get_subcommands([](CLI::App*) { return true; });
}

Verb describe(CLI::App* app) {
  Verb verb{app->get_name(), app->get_description(), {}, {}};
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

std::string bash(const std::vector<Verb>& verbs, const Verb& top) {
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
  for (const Verb& verb : verbs) {
    for (const Flag& flag : verb.flags) {
      if (!flag.takes_value) continue;
      out += flag.values.empty() ? fmt::format("    {}:{}) return ;;\n", verb.name, flag.name)
                                 : fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                                               verb.name, flag.name, join(flag.values));
    }
  }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Verb& verb : verbs) {
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

std::string zsh(const std::vector<Verb>& verbs) {
  std::string out =
      "#compdef openreg-gen\n"
      "# zsh completion of openreg-gen: source <(openreg-gen completion zsh)\n"
      "_openreg_gen() {\n"
      "  local -a verbs=(\n";
  for (const Verb& verb : verbs) out += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.about));
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
  for (const Verb& verb : verbs) {
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

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("completion", "Print shell completion: source <(openreg-gen completion bash)");
  auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  verb->callback([shell, &app, &session] {
    session.action = [shell, &app] {
      std::vector<Verb> verbs;
      for (CLI::App* sub : subcommands(&app)) verbs.push_back(describe(sub));
      fmt::print("{}", *shell == "zsh" ? zsh(verbs) : bash(verbs, describe(&app)));
      return Exit::Done;
    };
  });
}

}  // namespace openreg_gen
