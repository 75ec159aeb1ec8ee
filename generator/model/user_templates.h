// Templates of the spec's own: the folder that `templates:` names, beside the spec. A file that is called like one of
// openreg-gen's takes its place; rows of a templates.yaml in the folder add outputs. They are a stranger's code as far
// as rendering goes: renderer.py runs them in Jinja2's sandbox.
#pragma once

#include "spec/spec.h"
#include "system/files.h"

#include <map>
#include <string>

namespace openreg_gen {

inline constexpr std::size_t kMaxUserTemplates = 1000;
inline constexpr std::size_t kMaxUserBytes = std::size_t{4} << 20;  // of all together

struct UserTemplates {
  std::string folder;  // relative to the spec, with '/'; empty: there are none
  std::map<std::string, std::string>
      texts;  // templates by name ("csrc/a.cpp.j2"), and "templates.yaml" if there is one
  bool has(const std::string& name) const { return texts.contains(name); }
};

/// Reads the folder of `spec.templates`; files that are neither *.j2 nor templates.yaml are left alone. Throws
/// Failure(BadInput, E0612): no folder, a symlink in it, too many or too large files, no UTF-8.
UserTemplates read_user_templates(const Spec& spec);

}  // namespace openreg_gen
