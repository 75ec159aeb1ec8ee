// A diagnostic: what is wrong with an input, where, and what to do about it.
//
// Diagnostics are values: functions append them to a Diagnostics list and go on, so that the user sees all of them at
// once. Throwing is kept for the environment (see diag/failure.h). Not thread-safe; one list belongs to one run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// A place in a text file. Lines and columns count from 1; 0 means "the file as a whole".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// A value that remembers where in the spec it was written. A default has an empty location.
template <typename T>
struct SpecValue {
  T value{};
  Location at;
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
  bool given() const { return at.line != 0; }
};

enum class Severity { Error, Warning, Note };

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code;     // "E0107"; each has an entry in diag/codes.cpp and in docs/reference/diagnostics.md
  std::string message;  // one line, no final stop, names quoted 'like this'
  Location at;
  std::string hint;         // what to do; may be empty
  std::string source_line;  // the line of `at`, for the caret; may be empty
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void error(std::string code, Location at, std::string message, std::string hint = {});
  /// The same, for a caller that then returns nothing: `return diagnostics.fail(...)`.
  std::nullopt_t fail(std::string code, Location at, std::string message, std::string hint = {});
  void warning(std::string code, Location at, std::string message, std::string hint = {});
  bool has_errors() const;
  bool empty() const { return list_.empty(); }
  const std::vector<Diagnostic>& all() const { return list_; }
  /// Sorts by file, line, column, code, drops exact repeats, and fills in source_line from `text`.
  void finish(std::string_view text);

 private:
  std::vector<Diagnostic> list_;
};

}  // namespace openreg_gen
