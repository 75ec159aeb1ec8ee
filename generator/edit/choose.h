// Chooses the operators that `add` and `remove` edit, and the best way to register each. Pure.
#pragma once

#include "edit/spec_edit.h"
#include "resolve/resolve.h"
#include "spec/ops_file.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// Options of the command line for each added operator.
struct OpRequest {
  std::string strategy;  // empty: the best that fits
  std::string expr, reason;
  bool override_composite = false;
  DeviceKernels kernels{};  // what the tree has in the device's language
};

struct Choice {
  OpEntry entry;
  std::string why;       // one line: why this operator and this strategy
  bool on_host = false;  // its first kernel is computed on the host
};

/// The entry for one operator as a user names it ("aten::" may precede). The out form of a structured group is chosen
/// for its other forms, unless `request` names a strategy. None after an error: unknown (E0201, E0202), of the minimal
/// set (E0209), composite (E0203), in the spec already (E0551).
std::optional<Choice> choose_op(std::string_view name, const OpRequest& request, const ResolvedSpec& resolved,
                                Diagnostics& diagnostics);

/// A schema as a user writes it, without the namespace. None after an error: another namespace (E0552), malformed
/// (E0160 to E0162), in the spec already (E0551).
std::optional<std::string> choose_custom_op(std::string_view schema, const Spec& spec, Diagnostics& diagnostics);

/// Of a recorded list: what fell back, most costly first (seconds, then bytes, then calls), or all of a list that has
/// no figures, in its order; what is in the spec, minimal or composite is left out and counted in `left_out`.
struct FromFile {
  std::vector<Choice> chosen;
  std::string left_out;  // "3 in the spec already, 2 composite"; empty if none
};
FromFile choose_from(const OpsFile& file, const OpRequest& request, std::size_t top, const ResolvedSpec& resolved,
                     Diagnostics& diagnostics);

/// Something to remove: an operator of `ops`, or the index of a custom one.
struct Removal {
  std::string name;                   // as the spec has it
  std::optional<std::size_t> custom;  // its index in custom_ops
};
/// As in choose_op, a form that the out form of its group serves means that form. None after an error: not
/// there (E0553), with the closest name.
std::optional<Removal> choose_removal(std::string_view name, const ResolvedSpec& resolved, Diagnostics& diagnostics);

}  // namespace openreg_gen
