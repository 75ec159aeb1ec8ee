// An audit as text that fits one screen, as JSON, and as a page.
#pragma once

#include "audit/compare.h"
#include "cli/operators_page.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// An audit that another one is compared with.
struct AuditBaseline {
  AuditDocument document;
  AuditReport report;
  AuditComparison comparison;
};

/// The subject of a report. `model` and `next` are empty if not given.
struct AuditSubject {
  const AuditDocument& document;
  std::string model;  // the recorded model's file, by its name
  std::string next;   // the other release: "2.15.0"
  const AuditBaseline* baseline = nullptr;
};

/// At most 24 lines of `width` columns.
std::string audit_text(const AuditReport& report, const AuditSubject& subject, std::size_t width);
/// See docs/reference/audit.md.
nlohmann::ordered_json audit_json(const AuditReport& report, const AuditSubject& subject);
std::string audit_html(const AuditReport& report, const AuditSubject& subject);
/// The figures alone, beside the baseline's if there is one: as JSON, and as one page. Throws Failure(Environment,
/// E0608).
nlohmann::ordered_json audit_card_json(const AuditReport& report, const AuditSubject& subject);
std::string audit_card_html(const AuditReport& report, const AuditSubject& subject);

}  // namespace openreg_gen
