// Rewrites an owner's kernel for a signature that changed from one PyTorch release to the next.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// C++ that is true if a parameter has its schema's default: "!flag", "alpha.equal(1)"; empty if there is no default,
/// or none that C++ can compare with.
using IsDefault = std::function<std::string(const std::string& parameter)>;

struct Migration {
  std::string text;                  // of the file, with the new signature; empty if it was refused
  std::vector<std::string> changes;  // "'flag' is new; the kernel raises an error unless it has its default"
  std::string refused;               // why this takes the owner's hand; empty if it was rewritten
};

/// Rewrites the definition of a kernel in `text` from signature `was` to `now`. A parameter of another name or place,
/// one that gained or lost const or &, and a new one that has a default are rewritten; the body sees them under the
/// names that it knows. It is refused where the file or the body would have to change elsewhere. With a value other
/// than its default, a new parameter raises an error: `kernel` names the operator in it.
Migration migrate_kernel(std::string_view text, std::string_view was, std::string_view now, std::string_view kernel,
                         const IsDefault& is_default);

/// A check that migrate_kernel once wrote, and whose default is another one now.
struct OldDefault {
  int line = 0;
  std::string parameter;
};

/// Those of the kernel of operator `kernel`, in its file.
std::vector<OldDefault> old_defaults(std::string_view text, std::string_view kernel, const IsDefault& is_default);

/// C++ that compares `name` with a schema's default: ("bool", "False", "flag") gives "!flag". Empty if it can't be
/// compared.
std::string equals_default(std::string_view schema_type, std::string_view default_value, std::string_view name);

}  // namespace openreg_gen
