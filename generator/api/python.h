// The Python modules of one PyTorch: which names they have, by their files alone. Nothing is imported.
#pragma once

#include "system/files.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace openreg_gen::api {

/// A name that a Python text defines outside of functions, or in a class of that level.
struct PythonClass {
  std::vector<std::string> bases;                               // as they are written
  std::map<std::string, std::string> methods;                   // their arguments: "self, x, *, y=None"
  std::map<std::string, std::pair<unsigned, unsigned>> places;  // of a method's name
};
struct PythonModule {
  std::set<std::string> names;
  std::map<std::string, PythonClass> classes;
  std::map<std::string, std::string> imported;  // name -> "torch._inductor.ir" or "torch._inductor.ir:Name"
  std::vector<std::string> stars;               // modules of which it imports everything
  bool any = false;                             // it has names that its text doesn't tell: __getattr__, globals()
};
/// `name`: of the module, for relative imports.
PythonModule read_python(std::string_view text, const std::string& name, bool is_package);

/// What a tree's Python file uses of torch: a module or a name of one, "torch._inductor.codegen.simd:SIMDKernel".
struct PythonUse {
  std::string module, name;  // no name: the module itself
  unsigned line = 0, column = 0;
};
std::vector<PythonUse> python_uses(std::string_view text);

class Modules {
 public:
  explicit Modules(fs::path torch) : torch_(std::move(torch)) {}
  /// Null if there is no such file. "torch._inductor.ir".
  const PythonModule* find(const std::string& module);
  /// Whether a module has a name: one of its own, of a star import, or a module below it. None: not known.
  std::optional<bool> has(const std::string& module, const std::string& name, int depth = 0);

  struct Type {
    std::string module, name;
    const PythonClass* definition = nullptr;
  };
  /// A class of a module, or one that it imports; without a definition if there is none.
  Type type_of(const std::string& module, const std::string& name, int depth = 0);
  /// Of its method or that of a base; none if there is no such method.
  std::optional<std::string> arguments_of(const Type& type, const std::string& method, int depth = 0);

 private:
  fs::path torch_;
  std::map<std::string, std::optional<PythonModule>> read_;
};

}  // namespace openreg_gen::api
