// One run of the command: the options that verbs share, and the values that they select.
#pragma once

#include "cli/answer.h"
#include "cli/open_tree.h"
#include "diag/diagnostic.h"
#include "resolve/resolve.h"
#include "system/files.h"
#include "tree/diff.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

class Invocation {
 public:
  std::vector<std::string> words;      // the command line as it was given, without the program
  std::vector<std::string> passed_on;  // for another program: behind "--" of `test`, behind the name of a tool
  bool json = false;                   // --json without a file: standard output is JSON, a failure, too
  bool github = false;                 // --error-format github: so are errors, for GitHub Actions
  std::string folder;                  // -C; empty: the current one

  /// A verb adds the options that it needs, with its own text where they mean something else.
  void add_json(CLI::App& verb);
  CLI::Option* add_error_format(CLI::App& verb);
  void add_torch(CLI::App& verb,
                 const char* about = "PyTorch to read the operators from; default: the active environment's");
  CLI::Option* add_tree(
      CLI::App& verb,
      const char* about = "The tree, or a folder in it; default: the tree that contains the current directory");

  ErrorFormat format() const { return json ? ErrorFormat::Json : github ? ErrorFormat::Github : ErrorFormat::Text; }
  /// The tree of -C; see open_tree().
  OpenTree tree(Access access) const { return open_tree(folder, access); }
  /// --torch, if it was given.
  std::optional<fs::path> torch() const;
  /// From --torch or the active environment, loaded on first use. Throws Failure(Environment).
  const Catalog& catalog();

  /// The operators of the tree's spec, with custom ones, in its order; if it has errors, those that could be read.
  std::vector<std::string> operators(const OpenTree& tree);

  /// A valid spec; none after errors, which were reported. Without a PyTorch, and if the spec has no error that can be
  /// found without one, throws Failure(Environment).
  std::optional<ResolvedSpec> valid(Spec parsed, Diagnostics& diagnostics);

  /// From now on, diagnostics refer to `read`, the text on the disk that `text` was made from: lines that are in both
  /// keep their places in `read`, and other lines are quoted. An empty `read`: all are quoted.
  void said_of(const std::string& read, const std::string& text) { read_lines_ = lines_before(read, text); }

  /// Does what --json asks for: prints the object, or writes it to --json=FILE. True if nothing else may be printed.
  /// indent -1: on one line. Throws Failure(Environment) if the file can't be written.
  template <class Json>
  bool put(const Json& object, int indent = -1) const {
    if (json)
      print_json(object, indent);
    else if (!json_file_.empty())
      write_file(json_file_, json_text(object, indent));
    return json;
  }
  /// Prints the answer: JSON with --json, else the text.
  template <class Json>
  Exit answer(const Json& object, const std::string& text, int indent = 1) const {
    if (!put(object, indent)) print_text(text);
    return Exit::Done;
  }

  /// Shows diagnostics: as text on stderr, coloured on a terminal; with --error-format github, as annotations on
  /// stdout; with --json, as one line on stdout if there is an error, else not at all (the verb's own JSON follows).
  /// True if there is an error, that is, if the verb must stop with Exit::BadInput. Call Diagnostics::finish() first.
  bool report(const Diagnostics& diagnostics) const;
  /// The same, only if there is an error, and finished with the spec's text: its own place is shown where it has one.
  bool report_errors(Diagnostics& diagnostics, const Spec& spec) const;

 private:
  std::string torch_, json_file_;
  std::optional<std::vector<int>> read_lines_;  // see said_of()
  std::optional<Catalog> catalog_;
};

/// --dry-run and --diff: show what would be done, and write nothing.
struct Preview {
  bool dry_run = false, diff = false;
  bool writes() const { return !dry_run && !diff; }
  void add_to(CLI::App& verb);
};

}  // namespace openreg_gen
