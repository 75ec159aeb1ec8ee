// The templates to render from: those of openreg-gen and of the user.
#pragma once

#include "model/template_rows.h"
#include "render/data_dir.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Throws Failure (E0604, E0608).
Templates read_templates(const DataDir& data);

/// Reads the folder of `spec.templates`; files that are neither *.j2 nor templates.yaml are left alone. Throws
/// Failure(BadInput, E0612): no folder, a symlink in it, too many or too large files, no UTF-8.
UserTemplates read_user_templates(const Spec& spec);

}  // namespace openreg_gen
