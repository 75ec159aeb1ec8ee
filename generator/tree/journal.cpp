#include "tree/journal.h"

#include "diag/failure.h"
#include "base/text.h"
#include "system/sha256.h"
#include "tree/paths.h"

#include <nlohmann/json.hpp>

#include <set>

namespace openreg_gen {
namespace {

using nlohmann::json;

const std::string kState(kStateFolder);
constexpr int kJournalFormat = 1;

std::string in_tmp(const std::string& name) { return kTemporary + "/" + name; }

/// Where a swap stands.
enum class Stand {
  Pending,  // the old file is in the tree, the new one in the slot
  Done,     // the other way round
  Raced,    // done, but what came into the slot is not what was to be replaced: an edit of that very moment
  Edited,   // somebody else's bytes are in the tree
};

Stand stand_of(const Disk& disk, const Swap& swap) {
  const std::string there = hash_of(disk, swap.to), kept = hash_of(disk, in_tmp(swap.slot));
  if (there == swap.before && kept == swap.after) return Stand::Pending;
  if (there != swap.after) return Stand::Edited;
  return kept == swap.before || kept.empty() ? Stand::Done : Stand::Raced;
}

/// The two files change places; either may be absent.
void change_places(Disk& disk, const Swap& swap) {
  const std::string slot = in_tmp(swap.slot);
  const bool from = disk.kind(slot) != FileKind::None, to = disk.kind(swap.to) != FileKind::None;
  if (from && to) disk.exchange(slot, swap.to);
  if (from && !to) disk.rename_new(slot, swap.to);
  if (!from && to) disk.rename_new(swap.to, slot);
  if (!from && to) disk.prune(folder_of(swap.to));
}

[[noreturn]] void edited_meanwhile(const std::string& path) {
  throw Failure(Exit::No, "E0522", "'" + path + "' was edited while openreg-gen was running",
                "nothing was written; run it again");
}

void forward(Disk& disk, const Swap& swap) {
  if (hash_of(disk, swap.to) != swap.before) edited_meanwhile(swap.to);
  if (swap.before.empty()) return disk.rename_new(in_tmp(swap.slot), swap.to);
  change_places(disk, swap);
  if (hash_of(disk, in_tmp(swap.slot)) != swap.before) {
    change_places(disk, swap);
    edited_meanwhile(swap.to);
  }
}

std::vector<std::string> folders_of(const Journal& journal) {
  std::set<std::string> folders;
  for (const Swap& swap : journal.swaps) folders.insert(folder_of(swap.to));
  return {folders.begin(), folders.end()};
}

/// Empties .openreg-gen/tmp. The journal goes first: without it the rest is only litter.
void clear(Disk& disk) {
  if (disk.kind(in_tmp("journal.json")) != FileKind::None) disk.remove(in_tmp("journal.json"));
  disk.remove_all(kTemporary);
  disk.prune(kState);
}

/// Reverts the run. Drops only the new texts. Returns the folder of saved files, or nothing.
std::string take_back(Disk& disk, const Journal& journal) {
  std::string backup;
  for (auto swap = journal.swaps.rbegin(); swap != journal.swaps.rend(); ++swap) {
    const Stand stand = stand_of(disk, *swap);
    const bool there = disk.kind(in_tmp(swap->slot)) != FileKind::None;
    // Nothing was there before: what was put there goes. (A slot that is empty although a file was there before means
    // that somebody emptied .openreg-gen/tmp; then the new file stays.)
    if ((stand == Stand::Done && (there || swap->before.empty())) || stand == Stand::Raced) {
      change_places(disk, *swap);
      disk.prune(folder_of(swap->to));
    } else if (stand == Stand::Edited && there) {
      // The replaced file may contain an edit that --force overwrote; don't drop it.
      if (hash_of(disk, in_tmp(swap->slot)) != swap->after) {
        if (backup.empty()) backup = next_backup(disk);
        disk.rename(in_tmp(swap->slot), backup + swap->to);
      }
    }
    disk.prune(folder_of(swap->to));
  }
  disk.sync(folders_of(journal));
  if (!backup.empty()) disk.write(backup + ".gitignore", "*\n");
  clear(disk);
  return backup;
}

void finish(Disk& disk, const Journal& journal) {
  std::vector<std::string> folders = folders_of(journal);
  if (!contains(folders, kState)) folders.push_back(kState);
  disk.sync(folders);
  if (!journal.keep) return clear(disk);
  const std::string undo(kUndo);
  keep_late_writes(disk);
  if (disk.kind(undo + "/journal.json") != FileKind::None) disk.remove(undo + "/journal.json");
  disk.remove_all(undo);
  disk.rename(kTemporary, undo);
  disk.sync({kState});
}

}  // namespace

std::string hash_of(const Disk& disk, const std::string& path) {
  const FileKind kind = disk.kind(path);
  return kind == FileKind::None ? "" : kind == FileKind::File ? sha256(disk.read(path)) : "?";
}

std::string journal_text(const Journal& journal) {
  json swaps = json::array();
  for (const Swap& swap : journal.swaps)
    swaps.push_back({{"slot", swap.slot}, {"to", swap.to}, {"before", swap.before}, {"after", swap.after}});
  return json{{"format", kJournalFormat}, {"what", journal.what}, {"keep", journal.keep}, {"swaps", std::move(swaps)}}
      .dump();
}

void write_journal(Disk& disk, const Journal& journal) {
  disk.write(in_tmp(".gitignore"), "*\n");
  disk.write(in_tmp("journal.new"), journal_text(journal));
  std::vector<std::string> paths{in_tmp("journal.new")};
  for (const Swap& swap : journal.swaps)
    if (!swap.after.empty()) paths.push_back(in_tmp(swap.slot));
  disk.sync(paths);
  disk.rename(in_tmp("journal.new"), in_tmp("journal.json"));
  disk.sync({kTemporary});
}

Journal read_journal(const Disk& disk, const std::string& folder) {
  check_inside(disk, folder);
  Journal journal;
  try {
    const json root = json::parse(disk.read(folder + "/journal.json"));
    if (root.at("format").get<int>() != kJournalFormat) throw json::other_error::create(501, "another format", &root);
    journal.what = root.at("what");
    journal.keep = root.at("keep");
    for (const json& each : root.at("swaps")) {
      Swap swap{each.at("slot"), each.at("to"), each.at("before"), each.at("after")};
      check_path(swap.slot);
      check_path(swap.to);
      check_inside(disk, folder_of(swap.to));
      journal.swaps.push_back(std::move(swap));
    }
  } catch (const json::exception&) {
    throw Failure(Exit::Environment, "E0521", folder + "/journal.json was not written by this version of openreg-gen",
                  "the files of the interrupted run are beside it; look at them, then remove " + folder);
  }
  return journal;
}

void carry_out(Disk& disk, const Journal& journal) {
  try {
    for (const Swap& swap : journal.swaps) forward(disk, swap);
  } catch (...) {
    take_back(disk, journal);
    throw;
  }
  finish(disk, journal);
}

bool needs_recovery(const Disk& disk) { return disk.kind(kTemporary) != FileKind::None; }

Recovery recover(Disk& disk) {
  if (!needs_recovery(disk)) return {};
  check_inside(disk, kTemporary);
  if (disk.kind(in_tmp("journal.json")) == FileKind::None) {
    clear(disk);
    return {Recovery::Kind::Cleared, {}, {}};
  }
  const Journal journal = read_journal(disk, kTemporary);
  Recovery out;
  for (const Swap& swap : journal.swaps) {
    disk.settle_swap(in_tmp(swap.slot));
    const Stand stand = stand_of(disk, swap);
    if (stand == Stand::Edited || stand == Stand::Raced) out.edited.push_back(swap.to);
  }
  if (!out.edited.empty()) {
    out.backup = take_back(disk, journal);
    out.kind = Recovery::Kind::TakenBack;
    return out;
  }
  for (const Swap& swap : journal.swaps)
    if (stand_of(disk, swap) == Stand::Pending) forward(disk, swap);
  finish(disk, journal);
  out.kind = Recovery::Kind::Finished;
  return out;
}

LateWrites keep_late_writes(Disk& disk) {
  const std::string undo(kUndo);
  LateWrites late;
  if (disk.kind(undo + "/journal.json") != FileKind::File) return late;
  Journal journal;
  try {
    journal = read_journal(disk, undo);
  } catch (const Failure&) {
    return late;  // not ours to understand; `undo` says so
  }
  for (const Swap& swap : journal.swaps) {
    const std::string slot = undo + "/" + swap.slot;
    if (disk.kind(slot) != FileKind::File || hash_of(disk, slot) == swap.before) continue;
    if (late.backup.empty()) late.backup = next_backup(disk);
    disk.rename(slot, late.backup + swap.to);
    late.paths.push_back(swap.to);
  }
  if (!late.backup.empty()) disk.write(late.backup + ".gitignore", "*\n");
  return late;
}

std::string next_backup(const Disk& disk) {
  int number = 1;
  const std::string folder = ".openreg-gen/backup";
  check_inside(disk, folder);
  for (const std::string& name : disk.list(folder)) {
    int found = 0;
    for (char c : name) found = c >= '0' && c <= '9' && found < 100000000 ? found * 10 + (c - '0') : 0;
    number = std::max(number, found + 1);
  }
  return folder + "/" + std::to_string(number) + "/";
}

}  // namespace openreg_gen
