#include "cli/answer.h"

#include "base/suggest.h"
#include "cli/choices.h"
#include "base/text.h"
#include "cli/verb.h"
#include "system/files.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

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

/// What CLI11 complains about, in our words.
std::string in_our_words(const CLI::App& app, const CLI::App& verb, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = app.remaining(true);
    return fmt::format("unexpected argument{} '{}'", words.size() > 1 ? "s" : "", fmt::join(words, "', '"));
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    constexpr std::string_view between = " excludes ";
    const std::size_t at = text.find(between);
    if (at != std::string::npos)
      return fmt::format("{} and {} can't be given together", text.substr(0, at), text.substr(at + between.size()));
  }
  constexpr std::string_view no_number = "Could not convert: ";
  if (text.starts_with(no_number)) {
    const std::string name = text.substr(no_number.size(), text.find(" = ") - no_number.size());
    const CLI::Option* option = verb.get_option_no_throw(name);
    if (option != nullptr && option->get_items_expected_max() == 0) return name + " takes no value";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    for (const CLI::Option* option : verb.get_options()) {
      const std::string name = option->get_name();
      if (text.starts_with(name + " was given")) return name + " takes no value";
      if (!text.starts_with(name + ": ")) continue;
      if (option->count() > 1) return fmt::format("{} is given {} times", name, option->count());
      const std::string type = option->get_type_name().substr(0, option->get_type_name().find(':'));
      return fmt::format("{} needs a {}", name, type.empty() ? "value" : type);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const std::size_t open = std::min(type.find('{'), type.size()), close = std::min(type.find('}'), type.size());
  if (open >= close) return {};
  type = type.substr(open + 1, close - open - 1);
  std::ranges::replace(type, ',', ' ');
  return mapped(words_of(type), [](std::string_view word) { return std::string(word); });
}

std::size_t place_of_verb(const std::vector<std::string>& words) {
  std::size_t place = 0;
  while (place < words.size() && words[place].starts_with("-C")) place += words[place] == "-C" ? 2 : 1;
  return std::min(place, words.size());
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, const Verb& all,
                const std::vector<std::string>& words) {
  if (error.get_exit_code() == 0 && app.remaining_size() == 0) return app.exit(error);  // --help, --version
  const auto ours_end = std::ranges::find(words, "--");
  const ErrorFormat format =
      std::find(words.begin(), ours_end, "--json") == ours_end ? ErrorFormat::Text : ErrorFormat::Json;
  const auto complain = [&](const std::string& message, const std::string& suggestion, const std::string& verb) {
    const std::string help = fmt::format("`openreg-gen{} --help` lists the choices", verb);
    return print_failure(Failure(Exit::BadInput, "E0500", message, suggestion.empty() ? help : suggestion), format);
  };
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    const std::size_t first = place_of_verb(words);
    if (first == words.size()) {
      fmt::print(stderr, "{}", app.help());
      return static_cast<int>(Exit::BadInput);
    }
    const bool flag = words[first].starts_with("-");
    if (flag && words[first].find('=') != std::string::npos)
      return complain(fmt::format("unknown flag '{}'", words[first]),
                      fmt::format("options of a verb follow it: openreg-gen VERB {}", words[first]), "");
    return complain(fmt::format("unknown {} '{}'", flag ? "flag" : "verb", words[first]),
                    suggestion(words[first], flag ? flags(app) : verbs(app)), "");
  }
  if (const std::size_t first = place_of_verb(words); first < words.size() && words[first] != chosen[0]->get_name()) {
    if (!words[first].starts_with("-"))
      return complain(fmt::format("unknown verb '{}'", words[first]), suggestion(words[first], verbs(app)), "");
    return complain(fmt::format("{} stands before the verb", words[first]),
                    fmt::format("options of a verb follow it: openreg-gen {} {}", chosen[0]->get_name(), words[first]),
                    "");
  }
  const CLI::App* verb = chosen.back();
  const Verb& of_verb = *std::ranges::find(all.parts, verb->get_name(), &Verb::name);
  std::string path = " " + verb->get_name();
  while (!verb->get_subcommands().empty()) path += " " + (verb = verb->get_subcommands().back())->get_name();
  for (auto given = words.begin(); given != ours_end; ++given) {
    if (given->starts_with("-C") && verb->get_option_no_throw("-C") == nullptr &&
        verb->get_subcommands(nullptr).empty())
      return complain(fmt::format("'{}' takes no -C", verb->get_name()),
                      "change into the folder: it works on the one that it is called in", path);
    const std::string word = given->substr(0, given->find('='));
    if (!word.starts_with("--")) continue;
    const CLI::Option* option = verb->get_option_no_throw(word);
    if (option != nullptr && option->get_type_name() == kOptionalFile && word == *given && given + 1 != ours_end &&
        !(given + 1)->starts_with("-"))
      return complain(in_our_words(app, *verb, error),
                      fmt::format("a FILE of {0} follows '=': {0}={1}", word, *(given + 1)), path);
    if (option != nullptr) continue;
    if (const auto now = of_verb.renamed.find(word); now != of_verb.renamed.end())
      return complain(fmt::format("{} is {} now", word, now->second), fmt::format("write {}", now->second), path);
    std::string hint = suggestion(word, flags(*verb));
    if (!hint.starts_with("did you") && !of_verb.behind.empty())
      hint = fmt::format("{} follow --: -- {}", of_verb.behind, *given);
    return complain(fmt::format("unknown flag '{}'", word), hint, path);
  }
  for (const CLI::Option* option : verb->get_options()) {
    const std::vector<std::string> choices = choices_of(*option);
    if (choices.empty()) continue;
    if (std::string_view(error.what()).starts_with(option->get_name() + ": ") && option->results().empty())
      return complain(in_our_words(app, *verb, error), fmt::format("one of: {}", fmt::join(choices, ", ")), path);
    for (const std::string& given : option->results())
      if (!contains(choices, given))
        return complain(fmt::format("{} can't be '{}'", option->get_name(), given),
                        one_of(given, std::vector<std::string_view>(choices.begin(), choices.end())), path);
  }
  const bool too_many = app.remaining_size(true) > 0;
  const bool twice = std::ranges::any_of(verb->get_options(), [&](const CLI::Option* option) {
    return option->count() > 1 && std::string_view(error.what()).starts_with(option->get_name() + ": ");
  });
  const std::string of_script = twice && !of_verb.behind.empty() ? of_verb.behind + " follow --" : "";
  return complain(in_our_words(app, *verb, error), too_many ? of_verb.hint : of_script, path);
}

void print_error(const std::string& code, const std::string& message, const std::string& hint) {
  const bool colour = colour_wanted(STDERR_FILENO);
  fmt::print(stderr, "{}openreg-gen: error[{}]:{} {}\n", colour ? "\x1b[1;31m" : "", code, colour ? "\x1b[0m" : "",
             message);
  if (!hint.empty()) fmt::print(stderr, "hint: {}\n", hint);
}

int print_failure(const Failure& failure, ErrorFormat format) {
  Diagnostics diagnostics;
  diagnostics.error(failure.code(), {}, failure.what(), failure.hint());
  if (format == ErrorFormat::Text) {
    print_error(failure.code(), failure.what(), failure.hint());
  } else {
    print_diagnostics(diagnostics, format);
  }
  return static_cast<int>(failure.exit());
}

void print_diagnostics(const Diagnostics& diagnostics, ErrorFormat format) {
  if (format == ErrorFormat::Json)
    return print_json(nlohmann::ordered_json{{"diagnostics", diagnostics_json(diagnostics)}});
  for (const Diagnostic& d : diagnostics.all()) {
    const std::string hint = d.hint.empty() ? "" : "\nhint: " + d.hint;
    print_text(github_annotation(d.severity, d.at, d.code, d.message + hint));
  }
}

void write_file(const std::string& file, const std::string& text) {
  if (file == "-") {
    print_text(text);
    return;
  }
  const fs::path path = fs::absolute(file);
  RealDisk disk(path.parent_path());
  const std::string name = path.filename().string();
  if (name.empty() || disk.kind(name) == FileKind::Folder)
    throw Failure(Exit::BadInput, "E0500", "'" + file + "' is a folder", "name a file in it");
  std::string part = name + ".part";
  while (disk.kind(part) != FileKind::None) part += "+";  // of somebody else, or of a run that was killed
  disk.write(part, text);
  disk.rename(part, name);
}

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Failure(Exit::Environment, "E0513", "standard output did not accept everything that was printed");
}

}  // namespace openreg_gen
