#include "cli/answer.h"

#include "diag/diagnostic.h"
#include "diag/render.h"
#include "base/suggest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

namespace openreg_gen {
namespace {

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

std::vector<std::string> verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

int complain(const std::string& message, const std::string& hint, const std::string& help) {
  print_error("E0500", message, hint);
  fmt::print(stderr, "Try: {} --help\n", help);
  return static_cast<int>(Exit::BadInput);
}

}  // namespace

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    if (argc < 2) {
      fmt::print(stderr, "{}", app.help());
      return static_cast<int>(Exit::BadInput);
    }
    const std::string word = argv[1];
    const bool flag = word.starts_with("-");
    return complain(fmt::format("unknown {} '{}'", flag ? "flag" : "verb", word),
                    suggestion(word, flag ? flags(app) : verbs(app)), "openreg-gen");
  }
  const CLI::App* verb = chosen.back();
  if (!verb->get_subcommands().empty()) verb = verb->get_subcommands().back();
  const std::string help = "openreg-gen " + chosen.back()->get_name();
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    word = word.substr(0, word.find('='));
    if (word == "--") break;
    if (word.starts_with("--") && !verb->get_option_no_throw(word))
      return complain(fmt::format("unknown flag '{}'", word), suggestion(word, flags(*verb)), help);
  }
  return complain(error.what(), {}, help);
}

void print_error(const std::string& code, const std::string& message, const std::string& hint) {
  const bool colour = colour_wanted(STDERR_FILENO);
  fmt::print(stderr, "{}openreg-gen: error[{}]:{} {}\n", colour ? "\x1b[1;31m" : "", code, colour ? "\x1b[0m" : "",
             message);
  if (!hint.empty()) fmt::print(stderr, "hint: {}\n", hint);
}

int print_failure(const Failure& failure, bool json) {
  if (json) {
    Diagnostics diagnostics;
    diagnostics.error(failure.code(), {}, failure.what(), failure.hint());
    print_text(render_json(diagnostics) + "\n");
  } else {
    print_error(failure.code(), failure.what(), failure.hint());
  }
  return static_cast<int>(failure.exit());
}

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Failure(Exit::Environment, "E0513", "standard output did not take all that was printed");
}

}  // namespace openreg_gen
