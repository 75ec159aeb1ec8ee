#include "tree/apply.h"

#include "diag/failure.h"
#include "tree/paths.h"

#include <nlohmann/json.hpp>

#include <set>

namespace openreg_gen {
namespace {

using nlohmann::json;

const std::string kTmp(kTemporary);
const std::string kJournal = kTmp + "/journal.json";

struct Move {
  std::string from;  // in .openreg-gen/tmp; empty: `to` is removed
  std::string to;
  std::string backup;    // in .openreg-gen/tmp, once made
  bool created = false;  // carried out, and nothing was there before
};

std::string temporary(const char* what, std::size_t index) { return kTmp + "/" + what + std::to_string(index); }

/// Before anything is written: the folders can take what is planned.
void check_writable(const Disk& disk, const std::vector<Move>& moves) {
  std::set<std::string> folders;
  for (const Move& move : moves) folders.insert(folder_of(move.to));
  for (const std::string& folder : folders) {
    if (!disk.writable(folder)) {
      throw Failure(Exit::Environment, "E0506",
                    "cannot write into " + (folder.empty() ? "the tree" : "'" + folder + "'"),
                    "check the permissions; nothing was written");
    }
  }
}

void write_journal(Disk& disk, const std::vector<Move>& moves) {
  json steps = json::array();
  for (const Move& move : moves) steps.push_back({{"from", move.from}, {"to", move.to}});
  disk.write(kJournal + ".new", json{{"steps", std::move(steps)}}.dump());
  disk.rename(kJournal + ".new", kJournal);
}

void carry_out(Disk& disk, Move& move, std::size_t index) {
  const bool existed = disk.kind(move.to) != FileKind::None;
  if (existed) {
    const std::string backup = temporary("old", index);
    disk.copy(move.to, backup);
    move.backup = backup;
  }
  if (move.from.empty()) {
    disk.remove(move.to);
  } else {
    disk.rename(move.from, move.to);
    move.created = !existed;
  }
}

void undo(Disk& disk, const std::vector<Move>& moves) {
  if (disk.kind(kJournal) != FileKind::None) disk.remove(kJournal);
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    if (!move->backup.empty()) {
      disk.rename(move->backup, move->to);
    } else if (move->created) {
      disk.remove(move->to);
    }
    disk.prune(folder_of(move->to));
  }
}

void prune_state(Disk& disk) {
  disk.remove_all(kTmp);
  disk.prune(std::string(kStateFolder));
}

}  // namespace

void apply_plan(Disk& disk, const Plan& plan) {
  if (!plan.changes()) return;
  std::vector<Move> moves;
  std::vector<const std::string*> texts;
  const auto write = [&](const std::string& path, const std::string& text) {
    moves.push_back({temporary("new", moves.size()), path, {}});
    texts.push_back(&text);
  };
  const auto remove = [&](const std::string& path) {
    moves.push_back({{}, path, {}});
    texts.push_back(nullptr);
  };
  for (const Step& step : plan.steps) {
    if (step.action == Action::Create || step.action == Action::Update) write(step.path, step.after);
    if (step.action == Action::Remove) remove(step.path);
  }
  for (const std::string& path : plan.state_gone) remove(path);
  for (const Plan::State& state : plan.state) write(state.path, state.text);

  check_writable(disk, moves);
  try {
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (texts[i]) disk.write(moves[i].from, *texts[i]);
    }
    write_journal(disk, moves);
    for (std::size_t i = 0; i < moves.size(); ++i) carry_out(disk, moves[i], i);
  } catch (...) {
    undo(disk, moves);
    prune_state(disk);
    throw;
  }
  prune_state(disk);
  for (const Move& move : moves) {
    if (move.from.empty()) disk.prune(folder_of(move.to));
  }
}

bool needs_recovery(const Disk& disk) { return disk.kind(kTmp) != FileKind::None; }

void recover(Disk& disk) {
  check_inside(disk, kTmp);
  if (disk.kind(kJournal) == FileKind::File) {
    const json journal = json::parse(disk.read(kJournal), nullptr, false);
    if (journal.is_object() && journal.contains("steps")) {
      for (const json& step : journal["steps"]) {
        const std::string from = step.value("from", ""), to = step.value("to", "");
        check_path(to);
        check_inside(disk, folder_of(to));
        if (from.empty()) {
          if (disk.kind(to) == FileKind::File) disk.remove(to);
        } else {
          check_path(from);
          if (disk.kind(from) == FileKind::File) disk.rename(from, to);
        }
      }
    }
  }
  prune_state(disk);
}

}  // namespace openreg_gen
