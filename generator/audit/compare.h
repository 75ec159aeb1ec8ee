// Two audits: what became better or worse since the earlier one, or beside another backend's.
#pragma once

#include "audit/findings.h"

namespace openreg_gen {

struct ClassChange {
  std::string op;
  Coverage was, now;
  bool better() const { return now < was; }  // native is first, missing is last
};

struct VerdictChange {
  std::string interface, was, now;
  bool better() const;
};

struct AuditComparison {
  std::vector<ClassChange> operators;  // those that both audits have, and that are for a backend in both
  std::vector<VerdictChange> interfaces;
  std::vector<AuditFinding> appeared, gone;  // by kind and operator; texts may differ
};

/// What `now` has differently from `then`. Pure.
AuditComparison compare_audits(const AuditReport& now, const AuditDocument& now_document, const AuditReport& then,
                               const AuditDocument& then_document);

}  // namespace openreg_gen
