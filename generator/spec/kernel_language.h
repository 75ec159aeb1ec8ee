// Kernel languages of devices, each one value in its own file: spec/<word>.cpp.
#pragma once

#include "base/text.h"
#include "spec/expr.h"

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace openreg_gen {

struct KernelLanguage {
  /// How an owner's kernel declares an argument: "num_t {0}" for one whose C++ type is `type`.
  struct Form {
    std::string_view type, declaration;
  };
  /// What `doctor` looks for: a header of the C++ compiler, or a program.
  struct Requirement {
    std::string_view name{}, header{}, program{}, problem{}, remedy{};
  };

  std::string_view word;       // of `device.kernels`
  std::string_view about;      // of the reference page, behind the word
  std::string_view title;      // "OpenCL C"
  std::string_view folder;     // of sources: below templates/package, and in the package
  std::string_view extension;  // of sources, without the dot
  std::string_view entry =
      {};  // what a program's one kernel is called; empty: a program has several, called as they like
  std::string (*print)(const Expr& expr) = nullptr;  // of an expression, over values of acc_t
  std::string_view lacks = {};                       // functions of expressions that it does not have
  std::string_view lacks_in_float64 = {};            // those that it has, but not of float64
  std::span<const Form> types = {};                  // what Inductor's kernels call a dtype: "float" for "float32"
  std::string_view read, written;                    // the declaration of a tensor
  std::span<const Form> forms;                       // of all other arguments
  std::string_view separator = ", ";                 // between declarations
  std::span<const Requirement> needs = {};

  /// The first function of an expression that is among `functions`; empty: none is.
  static std::string_view first_of(std::string_view functions, const Expr& expr);
};

/// In the order of the reference page.
std::span<const KernelLanguage> kernel_languages();
/// Null if there is none.
const KernelLanguage* find_kernel_language(std::string_view word);

KernelLanguage opencl_c();
KernelLanguage glsl();

/// The templates' sources in the language of a tree's device.
struct DeviceKernels {
  const KernelLanguage* language = nullptr;          // null: no kernel of the tree is in a language of the device
  std::set<std::string, std::less<>> files{};        // its sources, by their names without extension
  std::set<std::string, std::less<>> other_files{};  // those that other languages have
  std::set<std::string, std::less<>> operators{};    // those that come with a kernel
  explicit operator bool() const { return language != nullptr; }
  bool has(std::string_view file) const { return files.contains(file); }
  bool serves(std::string_view op) const { return operators.contains(op); }
};

}  // namespace openreg_gen
