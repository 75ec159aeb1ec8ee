#include "tree/plan.h"

#include "diag/failure.h"
#include "system/sha256.h"
#include "tree/journal.h"
#include "tree/paths.h"

#include <set>

namespace openreg_gen {
namespace {

/// Before anything is written: files and folders can take what is planned.
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

}  // namespace

void apply_plan(Disk& disk, const Plan& plan, const std::string& what) {
  if (!plan.changes()) return;
  Journal journal{what, false, {}};
  std::vector<const std::string*> texts;
  const auto change = [&](const std::string& path, const std::string* text, std::string before, std::string sum = {}) {
    if (text && sum.empty()) sum = sha256(*text);
    Swap swap{std::to_string(journal.swaps.size()), path, std::move(before), std::move(sum)};
    if (swap.before == swap.after) return;
    journal.swaps.push_back(std::move(swap));
    texts.push_back(text);
  };
  // What is replaced is what was looked at when the plan was made, not what may be there by now.
  for (const Step& step : plan.steps) {
    if (!step.writes()) continue;
    change(step.path, step.action() == Action::Remove ? nullptr : &step.after,
           step.creates() ? std::string() : sha256(step.before), step.sum);
  }
  for (const std::string& path : plan.state_gone) change(path, nullptr, hash_of(disk, path));
  for (const Plan::State& state : plan.state) change(state.path, &state.text, hash_of(disk, state.path));

  check_writable(disk, journal.swaps);
  bool made_tree = false;
  try {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Swap& swap = journal.swaps[i];
      made_tree |= swap.to == kManifest && swap.before.empty();
      if (texts[i]) disk.write(kTemporary + "/" + swap.slot, *texts[i], swap.to);
    }
    write_journal(disk, journal);
  } catch (...) {
    disk.remove_all(kTemporary);
    disk.prune(std::string(kStateFolder));
    throw;
  }
  carry_out(disk, journal, !made_tree);
}

}  // namespace openreg_gen
