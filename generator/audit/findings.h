// Conclusions from the facts of an audit: the class of each PyTorch operator, and faults of the backend's
// registrations.
#pragma once

#include "audit/document.h"
#include "catalog/drift.h"
#include "model/coverage.h"
#include "spec/ops_file.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace openreg_gen {

/// A PyTorch operator on the audited backend.
struct AuditRow {
  CoverageRow coverage;
  KernelPlace at;           // of the kernel that serves it: the backend's, or PyTorch's own
  std::string waits_for;    // an operator without a kernel, at which its samples ended
  std::string add;          // what `openreg-gen add` takes to serve it; empty where nothing is to be added
  std::uint64_t calls = 0;  // in the recorded model
  bool recorded = false;    // the recorded model calls it
};

enum class AuditFindingKind {
  HidesComposite,   // the fallback is registered for an operator that PyTorch makes of others
  MissingView,      // a view that no kernel serves
  SomeDtypes,       // a kernel that refuses dtypes which the CPU takes
  NoGradient,       // a kernel in place of a composite, without one at the Autograd key
  RegisteredTwice,  // a kernel that a later registration replaced
  SampleFails,      // every sample that was tried fails, whatever its dtype
  Dies,             // a sample that took its process with it
  NoEnd,            // a sample that did not end in time
};
std::string_view to_string(AuditFindingKind kind);  // "the fallback hides a composite"

struct AuditFinding {
  AuditFindingKind kind;
  std::string op, text;
  KernelPlace at;
};

/// An operator without a kernel, and how many others did not run for want of it.
struct Unlock {
  std::string op;
  std::vector<std::string> waiting;  // operators, by name
};

/// A registered operator that another release of PyTorch changes.
struct RegisteredDrift {
  std::string op;
  OpDrift drift;
};

struct AuditReport {
  std::vector<AuditRow> rows;  // by need: recorded, minimal set, @core, the rest; missing ones first
  CoverageTotals all, core, minimal, recorded;
  std::vector<std::string> unknown;    // of the recorded model: operators that PyTorch does not declare
  std::vector<AuditFinding> findings;  // by kind, then by operator
  std::vector<RegisteredDrift> drift;
  std::vector<Unlock> unlocks;                    // those that most operators wait for first
  std::size_t registered = 0;                     // ATen operators for which the backend has kernels, at whatever key
  std::map<Coverage, std::size_t> registered_as;  // what they count as in the totals
};

/// `model`: what a recorded model calls, or null. `next`: another release's declarations, or null. Pure.
AuditReport judge_audit(const AuditDocument& document, const Catalog& catalog, const OpsFile* model,
                        const Catalog* next);

}  // namespace openreg_gen
