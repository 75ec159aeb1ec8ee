// What a C++ text declares, read without a compiler: namespaces, classes with their bases, functions with their
// signatures, enumerators, other names, macros. Bodies are skipped. Macros that are called where a declaration may
// stand are expanded.
#pragma once

#include "api/tokens.h"

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace openreg_gen::api {

struct Signature {
  std::string result, parameters;  // types alone, without namespaces: "const Stream&,bool"
  std::string qualifiers;          // "const noexcept"
  std::string shown;               // as it is declared, on one line
  int least = 0, most = 0;         // how many arguments it takes; most -1: any number
};

struct Declaration {
  enum Kind : unsigned char { Function, Class, Enumerator, Name, Using };
  Kind kind = Name;
  std::string scope, name;  // "c10::Storage", "nbytes"
  Signature signature{};    // of a function; of an alias of a type, `result` is the type
  bool is_virtual = false, is_override = false, is_final = false, is_pure = false;
  std::vector<std::string> bases{};  // of a class, without template arguments
  std::string target{};              // of `using X::name`, and of an alias of a type: "X::name"
  int file = -1;
  unsigned line = 0, column = 0;
  std::string qualified() const { return scope.empty() ? name : scope + "::" + name; }
};

struct MacroAt {
  Macro macro;
  int file = -1;
};
using Macros = std::unordered_map<std::string, std::vector<MacroAt>>;

/// What a reader finds, one file after the other.
struct Declared {
  std::deque<Declaration> declarations;                      // pointers to them stay valid
  std::vector<std::pair<std::string, std::string>> opened;   // `using namespace` and inline namespaces: scope, target
  std::vector<std::pair<std::string, std::string>> renamed;  // namespace aliases: "at::impl", "c10::impl"
  std::unordered_map<std::string, bool> namespaces;          // each that has a declaration
  Macros macros;
};

/// Called for each #include, before what follows it is read: <name> or "name".
using OnInclude = std::function<void(const std::string& name, bool quoted, unsigned line, unsigned column)>;

/// Reads a text's tokens, from which dead branches were taken, as the file of that number.
void read_declarations(const Tokens& tokens, int file, Declared& out, const OnInclude& on_include);

/// The text between the first and the last token on one line, with single blanks where there were any.
std::string joined(Tokens::const_iterator begin, Tokens::const_iterator end);

/// A macro's body with these arguments in place of its parameters; `##` joins words.
std::string expanded(const Macro& macro, const std::vector<std::string>& arguments);

/// The text of each argument: commas inside of brackets divide nothing. `open` is the bracket's place; it moves behind
/// the closing one.
std::vector<std::string> arguments_at(const Tokens& tokens, std::size_t& open);

/// Types alone, of the tokens between a function's brackets.
void read_parameters(Tokens::const_iterator begin, Tokens::const_iterator end, Signature& out);
/// A type without namespaces.
std::string plain_type(Tokens::const_iterator begin, Tokens::const_iterator end);

/// A name of macros: capitals, digits and underscores.
bool is_capital(std::string_view word);

}  // namespace openreg_gen::api
