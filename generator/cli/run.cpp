// The command as a process: what was typed is taken apart, the verb runs, and what it throws becomes a message and an
// exit code.
#include "cli/run.h"

#include "cli/answer.h"
#include "cli/verb.h"

#include <algorithm>
#include <exception>
#include <filesystem>

namespace openreg_gen {
namespace {

int run(int argc, char** argv, Invocation& call) {
  const Verb verb = command();
  CLI::App app(verb.about, verb.name);
  call.words.assign(argv + std::min(argc, 1), argv + argc);
  const auto verb_at = call.words.begin() + static_cast<std::ptrdiff_t>(place_of_verb(call.words));
  if (const auto tool = std::ranges::find(verb.parts, verb_at == call.words.end() ? "" : *verb_at, &Verb::name);
      tool != verb.parts.end() && tool->passes_on) {
    call.passed_on.assign(verb_at + 1, call.words.end());
    call.words.erase(std::find(verb_at, call.words.end(), "--"), call.words.end());
  } else if (const auto mark = std::find(verb_at, call.words.end(), "--");
             mark != call.words.end() && *verb_at == "test") {
    call.passed_on.assign(mark + 1, call.words.end());
    call.words.erase(mark, call.words.end());
  }
  if (!call.words.empty() && call.words[0] == "help" && !call.words.back().starts_with("-")) {
    call.words.erase(call.words.begin());
    call.words.emplace_back("--help");
  }
  const Run run_chosen = set_up(verb, app, call);
  try {
    app.parse(
        std::vector<std::string>(call.words.rbegin(), call.words.rend()));  // as CLI11 wants it: the last word first
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, verb, call.words);
  }
  const Exit exit = run_chosen(call);
  check_output();
  return static_cast<int>(exit);
}

}  // namespace

int run_command(int argc, char** argv) {
  Invocation call;
  try {
    return run(argc, argv, call);
  } catch (const Failure& failure) {
    return print_failure(failure, call.format());
  } catch (const std::filesystem::filesystem_error& error) {
    return print_failure(Failure(Exit::Environment, "E0506", error.what()), call.format());
  } catch (const std::exception& error) {
    return print_failure(Failure(Exit::Internal, "E0699", error.what(), "please report it with the spec"),
                         call.format());
  }
}

}  // namespace openreg_gen
