// openreg-gen completion bash|zsh|fish: a script for the shell, which asks `openreg-gen completion SHELL -- WORD...`
// for the candidates, so that all shells complete the same words, and only valid ones.
#include "cli/choices.h"
#include "cli/verb.h"
#include "base/text.h"
#include "diag/codes.h"
#include "spec/component.h"

#include <algorithm>

namespace openreg_gen {
namespace {

// Exit code 1: paths fit too, which the shell completes by itself.
constexpr const char* kBash = R"(# bash completion of openreg-gen: source <(openreg-gen completion bash)
_openreg_gen() {
  local IFS=$'\n' found
  found=$("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local files=$?
  COMPREPLY=($found)
  if [ "$files" -eq 1 ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _openreg_gen openreg-gen
)";

constexpr const char* kZsh = R"(#compdef openreg-gen
# zsh completion of openreg-gen: source <(openreg-gen completion zsh)
_openreg_gen() {
  local found files
  found=$("${words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  files=$?
  local -a lines=("${(@f)found}")
  if [[ -n $found ]]; then _describe word lines; fi
  if (( files == 1 )); then _files; fi
}
if [ "$funcstack[1]" = _openreg_gen ]; then _openreg_gen "$@"; else compdef _openreg_gen openreg-gen; fi
)";

constexpr const char* kFish = R"(# fish completion of openreg-gen: openreg-gen completion fish | source
function __openreg_gen
  set -l words (commandline -opc)
  $words[1] completion fish -- $words[2..] (commandline -ct) 2>/dev/null
  if test $status -eq 1
    __fish_complete_path (commandline -ct)
  end
end
complete -c openreg-gen -f -a '(__openreg_gen)'
)";

struct Candidate {
  std::string word, about{};
};

/// The candidates for the last word, and whether paths fit too.
class Completion {
 public:
  Completion(CLI::App& all, Invocation& call) : all_(all), verb_(&all), call_(call) {}

  void complete(std::vector<std::string> words) {
    std::string last = words.empty() ? "" : words.back();
    if (!words.empty()) words.pop_back();
    if (last == "=") last.clear();  // bash makes three words of --device=opencl
    std::erase(words, "=");
    const CLI::Option* awaits = nullptr;  // the option whose value comes next
    std::size_t positionals = 0;
    bool marked = false;  // behind "--"
    for (const std::string& word : words) {
      if (awaits != nullptr) {
        if (awaits->check_name("-C")) call_.folder = word;
        awaits = nullptr;
      } else if (!marked && word.starts_with("-")) {
        marked = word == "--";
        given_.push_back(verb_->get_option_no_throw(word.substr(0, word.find('='))));
        if (given_.back() != nullptr && takes_value(*given_.back()) && !contains(word, '=')) awaits = given_.back();
      } else if (CLI::App* part = positionals == 0 && !marked ? find_part(word) : nullptr) {
        verb_ = part;
      } else {
        ++positionals;
      }
    }
    const std::string flag = last.substr(0, last.find('='));
    const CLI::Option* of_flag = flag.size() < last.size() && !marked ? verb_->get_option_no_throw(flag) : nullptr;
    if (awaits != nullptr) {
      values(*awaits);
    } else if (of_flag != nullptr) {
      values(*of_flag);
      for (Candidate& each : found) each.word = flag + "=" + each.word;
    } else {
      if (!marked) parts_and_flags(positionals, last.starts_with("-"));
      if (!last.starts_with("-") || marked) positional(positionals);
    }
    std::erase_if(found, [&](const Candidate& each) { return !each.word.starts_with(last); });
  }

  std::vector<Candidate> found;
  bool files = false;

 private:
  static bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

  std::vector<CLI::App*> parts() const {
    return verb_->get_subcommands([](CLI::App*) { return true; });
  }

  CLI::App* find_part(const std::string& name) const {
    for (CLI::App* part : parts())
      if (part->get_name() == name) return part;
    return nullptr;
  }

  void parts_and_flags(std::size_t positionals, bool flags) {
    const auto options = verb_->get_options();
    const bool has_positional = std::ranges::any_of(options, [](const auto* each) { return each->get_positional(); });
    for (const CLI::App* part : parts()) {
      const auto may_precede = [&](const CLI::Option* each) { return each != nullptr && goes_before(*each, *part); };
      if (positionals == 0 && std::ranges::all_of(given_, may_precede))
        found.push_back({part->get_name(), part->get_description()});
    }
    if (!flags && (has_positional || !parts().empty())) return;
    for (const CLI::Option* option : options) {
      const auto excludes = [&](const CLI::Option* other) {
        return other != nullptr && (other->get_name() == option->get_name() ||
                                    other->get_excludes().contains(const_cast<CLI::Option*>(option)));
      };
      if (option->get_positional() || std::ranges::any_of(given_, excludes)) continue;
      for (const std::string& name : option->get_lnames()) found.push_back({"--" + name, option->get_description()});
      for (const std::string& name : option->get_snames()) found.push_back({"-" + name, option->get_description()});
    }
  }

  void positional(std::size_t place) {
    std::vector<const CLI::Option*> options;
    for (const CLI::Option* option : verb_->get_options())
      if (option->get_positional()) options.push_back(option);
    if (options.empty()) return;
    const CLI::Option* last = options.back();
    if (place < options.size() || last->get_expected_max() > 1) values(*options[std::min(place, options.size() - 1)]);
  }

  /// The closed set that CLI11 describes in the option's type, "{emulator,external}", or what its name says.
  void values(const CLI::Option& option) {
    const std::string type = option.get_type_name(), name = option.get_name(true);
    const std::vector<std::string> choices = choices_of(option);
    for (const std::string& choice : choices) found.push_back({choice});
    if (!choices.empty()) return;
    files |= type == "FILE" || type == "DIR" || type == kOptionalFile || name == "FILE" || name == "WHAT";
    if (name == "COMPONENT" || name == "WHAT")
      for (const Component& each : all_components()) found.push_back({std::string(each.name), std::string(each.about)});
    if (name == "WHAT")
      for (const Code& each : all_codes()) found.push_back({std::string(each.code), std::string(each.title)});
    if (name == "VERB")
      for (const CLI::App* each : all_.get_subcommands([](const CLI::App*) { return true; }))
        found.push_back({each->get_name(), each->get_description()});
    try {
      if (name == "OP" && (verb_->get_name() == "remove" || verb_->get_name() == "test")) {
        for (const std::string& each : call_.operators(call_.tree(Access::Read))) found.push_back({each});
      } else if (name == "OP" || name == "WHAT" || name == "PATTERN") {
        for (const Op& op : call_.catalog().all()) found.push_back({op.name});
      }
    } catch (const Failure&) {  // no tree, no PyTorch: there is nothing to offer
    }
  }

  CLI::App& all_;
  CLI::App* verb_;
  Invocation& call_;
  std::vector<const CLI::Option*> given_;
};

struct CompletionOptions {
  std::string shell;
  std::vector<std::string> words;
  CLI::App* all = nullptr;  // the whole command line
};

void declare(CLI::App& app, Invocation&, CompletionOptions& options) {
  app.add_option("SHELL", options.shell, "Print the completion script of this shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_option("WORD", options.words,
                 "Words typed so far: print the candidates for the last one; exit 1: paths fit too");
  options.all = app.get_parent();
}

Exit run(Invocation& call, const CompletionOptions& options) {
  if (!contains(call.words, "--")) {
    print_text(options.shell == "bash" ? kBash : options.shell == "zsh" ? kZsh : kFish);
    return Exit::Done;
  }
  Completion completion(*options.all, call);
  completion.complete(options.words);
  for (Candidate& each : completion.found) {
    if (options.shell == "zsh") replace_all(each.word, ":", "\\:");
    const char* between = options.shell == "zsh" ? ":" : "\t";
    print_text(options.shell == "bash" || each.about.empty() ? each.word + "\n"
                                                             : each.word + between + each.about + "\n");
  }
  return completion.files ? Exit::No : Exit::Done;
}

}  // namespace

Verb completion_verb() {
  return {"completion",
          "Print shell completion: source <(openreg-gen completion bash)",
          with_options<CompletionOptions>(declare, run),
          {"completion zsh", "completion fish", "completion bash -- generate --d"}};
}

}  // namespace openreg_gen
