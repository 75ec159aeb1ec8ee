// How a plan is shown: on a terminal, as JSON, as a diff.
#pragma once

#include "cli/next.h"
#include "diag/failure.h"
#include "tree/plan.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// {"path","class","action","finding","reason","key"} of each step; where there are any, "lines" of conflict markers,
/// "backup", and "signature": {"line","was","now"}.
nlohmann::json steps_json(const Plan& plan);
/// One line per step that does or reports something: "update  csrc/x.cpp  generated  stale". Empty if none does.
std::string steps_table(const Plan& plan, bool colour);
/// What --check found, by kind: stale, edited, missing, extra, ... with the files of each. Empty if the plan is clean.
std::string check_report(const Plan& plan, bool colour);
/// The same for GitHub Actions: one annotation per file.
std::string check_annotations(const Plan& plan, const Next& next);
/// Owned kernels whose signature changed: file:line, the old one and the new one. Empty if there are none.
std::string signature_report(const Plan& plan, bool colour);
/// Files with conflict markers: file:line, and what to do. Empty if there are none.
std::string conflict_report(const Plan& plan, bool colour);
/// "96 files: 70 generated, 9 shared, 17 owned".
std::string count_classes(const Manifest& manifest);
/// The plan's changes as unified diffs.
std::string plan_diff(const Plan& plan, bool colour);
/// Names the files that make a plan refused, on stderr; Exit::No.
Exit print_refusal(const Plan& plan);

}  // namespace openreg_gen
