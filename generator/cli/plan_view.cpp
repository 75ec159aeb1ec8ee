#include "cli/plan_view.h"

#include "cli/terminal_text.h"
#include "cli/answer.h"
#include "tree/diff.h"
#include "tree/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace openreg_gen {
namespace {

/// Edits to shared files aren't reported.
bool says_something(const Step& step) {
  return step.verdict != Verdict::YourEdits && !row_of(step.verdict).text.empty();
}

/// By Action, in its order.
constexpr const char* kColours[] = {"32", "36", "36", "1;31", "2", "2", "33", "1;31"};

struct Heading {
  Finding finding;
  const char* text;
};

constexpr Heading kHeadings[] = {
    {Finding::Stale, "out of date"},
    {Finding::Missing, "missing"},
    {Finding::Edited, "generated, but edited"},
    {Finding::Extra, "no longer needed"},
    {Finding::Conflict, "in conflict, or would be after `generate`"},
    {Finding::Outdated, "your kernel has an old signature"},
    {Finding::Blocked, "cannot be written"},
};

/// The text below the heading of its finding; empty if the heading says it all.
std::string reason_of(const Step& step) {
  if (step.verdict == Verdict::Stale || step.verdict == Verdict::Missing || step.verdict == Verdict::Gone) return {};
  if (step.action() == Action::Refuse && step.finding() == Finding::Edited) {
    return fmt::format("{}; `{}` in the spec controls it", step.reason(), step.key);
  }
  return step.reason();
}

}  // namespace

nlohmann::json steps_json(const Plan& plan) {
  nlohmann::json files = nlohmann::json::array();
  for (const Step& step : plan.steps) {
    nlohmann::json file{{"path", step.path},
                        {"class", to_string(step.file_class)},
                        {"action", to_string(step.action())},
                        {"finding", to_string(step.finding())},
                        {"reason", step.reason()},
                        {"key", step.key}};
    if (!step.lines.empty()) file["lines"] = step.lines;
    if (!step.backup.empty()) file["backup"] = step.backup;
    if (step.signature_change) {
      file["signature"] = {{"line", step.signature_change->line},
                           {"was", step.signature_change->was},
                           {"now", step.signature_change->now}};
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::string steps_table(const Plan& plan, bool colour) {
  std::size_t width = 0;
  for (const Step& step : plan.steps)
    if (says_something(step)) width = std::max(width, step.path.size());
  std::string out;
  for (const Step& step : plan.steps) {
    if (!says_something(step)) continue;
    out += fmt::format("  {}  {:{}}  {:9}  {}\n",
                       painted(fmt::format("{:8}", to_string(step.action())),
                               kColours[static_cast<std::size_t>(step.action())], colour),
                       step.path, width, to_string(step.file_class), step.reason());
    if (!step.backup.empty()) out += fmt::format("  {:8}  what was there is in {}\n", "", step.backup);
  }
  return out;
}

std::string check_report(const Plan& plan, bool colour) {
  std::string out, counts;
  for (const auto& [finding, text] : kHeadings) {
    std::vector<std::vector<std::string>> rows;
    for (const Step& step : plan.steps)
      if (step.finding() == finding) rows.push_back({"  " + step.path, reason_of(step)});
    if (rows.empty()) continue;
    const std::string word(to_string(finding));
    out += fmt::format("{}: {}\n{}", painted(word, "1", colour), text, layout_table(rows, 0, std::string::npos));
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", rows.size(), word);
  }
  // Only openreg-gen's own files may be stale.
  if (out.empty() && plan.changes()) out = fmt::format("stale: out of date\n  {}\n", kManifest), counts = "1 stale";
  if (!out.empty()) out += fmt::format("not up to date: {}\n", counts);
  return out;
}

std::string check_annotations(const Plan& plan, const Next& next) {
  std::string out;
  for (const Step& step : plan.steps) {
    const auto* heading = find_by(kHeadings, step.finding(), &Heading::finding);
    if (heading == nullptr) continue;
    const int line = !step.lines.empty() ? step.lines[0] : step.signature_change ? step.signature_change->line : 0;
    const std::string reason = reason_of(step);
    out += github_annotation(Severity::Error, {next.file(step.path), line, 0}, to_string(step.finding()),
                             fmt::format("{}: {}{}{}", step.path, heading->text, reason.empty() ? "" : "; ", reason));
  }
  if (out.empty() && plan.changes())
    out = github_annotation(Severity::Error, {next.file(std::string(kManifest)), 0, 0}, "stale", "out of date");
  return out;
}

std::string signature_report(const Plan& plan, bool colour) {
  std::string out, unread;
  std::size_t count = 0, compile = 0;
  for (const Step& step : plan.steps) {
    if (!step.signature_change) continue;
    if (step.signature_change->read) ++count;
    const std::string place =
        step.signature_change->line ? fmt::format("{}:{}", step.path, step.signature_change->line) : step.path;
    std::string& list = step.signature_change->read ? out : unread;
    list += fmt::format("  {}\n    {}  {}\n    {}  {}\n", painted(place, "1", colour), painted("was", "31", colour),
                        step.signature_change->was, painted("now", "32", colour), step.signature_change->now);
    if (step.signature_change->read && step.signature_change->compiles) {
      ++compile;
      out += "    the types are the same: it compiles, and gets arguments in the wrong places\n";
    }
  }
  if (!unread.empty())
    unread = "\nThese signatures changed, and openreg-gen can't read your kernels: compare them\n" + unread;
  if (out.empty()) return unread;
  return fmt::format("{}\n{}; {} until {} changed:\n{}", unread,
                     count == 1 ? "The signature of 1 of your kernels has changed"
                                : fmt::format("The signatures of {} of your kernels have changed", count),
                     compile == 0       ? "the build fails there"
                     : compile == count ? "the tests may fail there"
                                        : "the build and the tests may fail there",
                     count == 1 ? "it is" : "they are", out);
}

std::string conflict_report(const Plan& plan, bool colour) {
  std::string out;
  std::size_t files = 0, places = 0;
  for (const Step& step : plan.steps) {
    if (step.finding() != Finding::Conflict) continue;
    ++files;
    places += step.lines.size();
    for (int line : step.lines)
      out += fmt::format("  {}\n", painted(fmt::format("{}:{}", step.path, line), "1;31", colour));
  }
  if (out.empty()) return out;
  return fmt::format(
      "\n{} in {}: the spec and you changed the same lines\n{}"
      "Edit the lines between the markers, then run `openreg-gen generate` again; --ours or --theirs resolves all of "
      "them.\n",
      count_of(places, "conflict"), count_of(files, "file"), out);
}

std::string count_classes(const Manifest& manifest) {
  std::array<std::size_t, 3> count{};
  for (const auto& [path, file] : manifest.files) ++count[static_cast<std::size_t>(file.file_class)];
  return fmt::format("{} files: {} generated, {} shared, {} owned", count[0] + count[1] + count[2], count[0], count[1],
                     count[2]);
}

std::string plan_diff(const Plan& plan, bool colour) {
  std::string out;
  for (const Step& step : plan.steps) {
    const bool shown = step.writes() || step.action() == Action::Refuse || step.verdict == Verdict::YoursDiffers;
    if (!shown) continue;
    const bool create = step.action() == Action::Create, remove = step.action() == Action::Remove;
    out += unified_diff(step.before, step.after, create ? "/dev/null" : "a/" + step.path,
                        remove ? "/dev/null" : "b/" + step.path, colour);
  }
  return out;
}

Exit print_refusal(const Plan& plan) {
  std::size_t count = 0;
  bool edited = false, conflict = false;
  for (const Step& step : plan.steps) {
    if (step.action() != Action::Refuse) continue;
    ++count;
    edited |= step.finding() == Finding::Edited;
    conflict |= step.finding() == Finding::Conflict;
  }
  print_error("E0503",
              fmt::format("{} {} in the way; nothing was written", count_of(count, "file"), count == 1 ? "is" : "are"),
              {});
  for (const Step& step : plan.steps) {
    if (step.action() != Action::Refuse) continue;
    const std::string governed = step.key.empty() ? "" : fmt::format("; `{}` in the spec controls it", step.key);
    fmt::print(stderr, "  {}: {} ({}{})\n", step.path, step.reason(), to_string(step.file_class), governed);
  }
  if (edited) {
    fmt::print(
        stderr,
        "hint: `openreg-gen generate --diff` shows your edits against the new render. `openreg-gen own FILE` makes a "
        "file yours permanently;\n      `openreg-gen generate --force` replaces the file and keeps your copy in "
        ".openreg-gen/backup\n");
  } else if (!conflict) {
    fmt::print(stderr, "hint: if you move or delete a file, openreg-gen renders it again\n");
  }
  return Exit::No;
}

}  // namespace openreg_gen
