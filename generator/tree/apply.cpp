#include "tree/plan.h"

#include "diag/failure.h"
#include "system/sha256.h"
#include "tree/journal.h"
#include "tree/paths.h"

#include <set>

namespace openreg_gen {
namespace {

/// Before anything is written: checks that files and folders are writable.
void check_writable(const Disk& disk, const std::vector<Swap>& swaps) {
  std::set<std::string> places;
  for (const Swap& swap : swaps) {
    places.insert(folder_of(swap.to));
    if (!swap.before.empty()) places.insert(swap.to);
  }
  for (const std::string& place : places) {
    if (disk.writable(place)) continue;
    const bool file = disk.kind(place) == FileKind::File;
    throw Failure(
        Exit::Environment, "E0506",
        file ? "'" + place + "' is read-only" : "cannot write into " + (place.empty() ? "the tree" : "'" + place + "'"),
        "check the permissions; nothing was written");
  }
}

const std::string kUndoJournal = std::string(kUndo) + "/journal.json";

/// A run that changes nothing keeps the last one's journal for `undo`. This is that journal's text for the manifest and
/// renders that `swaps` leave, which are not the owner's edits. Empty if there is none.
std::string amended_undo(const Disk& disk, const std::vector<Swap>& swaps) {
  if (disk.kind(kUndoJournal) != FileKind::File) return {};
  try {
    Journal last = read_journal(disk, std::string(kUndo));
    for (Swap& swap : last.swaps)
      for (const Swap& later : swaps)
        if (swap.to == later.to && swap.after == later.before) swap.after = later.after;
    return journal_text(last);
  } catch (const Failure&) {
    return {};  // `undo` says what is wrong with it
  }
}

}  // namespace

void apply_plan(Disk& disk, const Plan& plan, const std::string& what) {
  if (!plan.changes()) return;
  Journal journal{what, plan.worth_undoing(), {}};
  std::vector<const std::string*> texts;
  const auto change = [&](const std::string& path, const std::string* text, std::string before, std::string sum = {}) {
    if (text && sum.empty()) sum = sha256(*text);
    Swap swap{std::to_string(journal.swaps.size()), path, std::move(before), std::move(sum)};
    if (swap.before == swap.after) return;
    journal.swaps.push_back(std::move(swap));
    texts.push_back(text);
  };
  // Replaces only the bytes that the plan saw, not what may be there by now.
  for (const Step& step : plan.steps) {
    if (!step.writes()) continue;
    change(step.path, step.action() == Action::Remove ? nullptr : &step.after,
           step.action() == Action::Create ? std::string() : sha256(step.before), step.sum);
  }
  for (const auto& [path, text] : plan.state) change(path, text ? &*text : nullptr, hash_of(disk, path));
  const bool makes_tree = disk.kind(std::string(kManifest)) == FileKind::None;
  const std::string amended = journal.keep || makes_tree ? std::string() : amended_undo(disk, journal.swaps);
  if (!amended.empty()) change(kUndoJournal, &amended, hash_of(disk, kUndoJournal));
  if (makes_tree) journal.keep = false;

  check_writable(disk, journal.swaps);
  try {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Swap& swap = journal.swaps[i];
      if (texts[i]) disk.write(kTemporary + "/" + swap.slot, *texts[i], swap.to);
    }
    write_journal(disk, journal);
  } catch (...) {
    disk.remove_all(kTemporary);
    disk.prune(std::string(kStateFolder));
    throw;
  }
  carry_out(disk, journal);
}

}  // namespace openreg_gen
