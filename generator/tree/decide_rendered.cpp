// Generated and shared files that are there: stale, edited, merged.
#include "render/sha256.h"
#include "tree/decide.h"
#include "tree/journal.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

std::string join_lines(const std::vector<int>& lines) {
  std::string out = lines.size() == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i ? ", " : "") + std::to_string(lines[i]);
  return out;
}

/// The owner's file with the line of its new class in place of "Owned: ...", and without its mark.
std::string with_class_line(const std::string& text, const Step& step) {
  Output output;
  output.path = step.path;
  output.file_class = step.file_class;
  output.key = step.key;
  Output owned = output;
  owned.file_class = FileClass::Owned;
  const std::string line = class_line(owned);
  const std::size_t at = text.find(line);
  if (at == std::string::npos || at > 1000) return text;
  std::string out = text;
  out.replace(at, line.size(), class_line(output));
  const std::size_t mark = out.find(id_mark(output.path));
  if (mark != std::string::npos && mark < 1000) {
    const std::size_t begin = out.rfind('\n', mark), end = out.find('\n', mark);
    if (begin != std::string::npos && end != std::string::npos) {
      // An HTML comment ends on the mark's line.
      const bool closes = out.compare(end - std::min<std::size_t>(end, 4), 4, " -->") == 0;
      out.replace(begin, end - begin, closes ? " -->" : "");
    }
  }
  return out;
}

/// Another text than the render.
void become(Step& step, std::string text) {
  step.after = std::move(text);
  step.sum.clear();
}

}  // namespace

void Decider::decide_generated(Step& step, const std::string& sum, const ManifestFile* before) {
  if (step.before == step.after) return;
  if (!before) return refuse_or_force(step, "exists, and openreg-gen did not write it");
  const std::string there = sha256(step.before);
  if (there == before->sha256) {
    step.action = Action::Update;
    step.finding = Finding::Stale;
    step.reason = "stale";
  } else if (options_.disown.contains(step.path)) {
    back_up(step);
    step.action = Action::Update;
    step.finding = Finding::Edited;
    step.reason = "given back";
  } else if (before->file_class == FileClass::Owned) {
    refuse_or_force(step, "yours, but the spec now has it generated");
  } else if (is_crlf(step.before) && there != sum && step.before == to_crlf(step.after)) {
    refuse_or_force(step, "edited: its lines end in CRLF");
  } else {
    refuse_or_force(step, "edited");
  }
}

void Decider::decide_shared(Step& step, const std::string& sum, const ManifestFile* before, ManifestFile& entry) {
  if (step.before == step.after) return;
  if (!before) return refuse_or_force(step, "exists, and openreg-gen did not write it");
  std::string ours = step.before;
  if (before->conflict) {
    ours = resolve_conflicts(ours, options_.side);
    step.lines = conflict_lines(ours);
    if (!step.lines.empty()) {
      step.finding = Finding::Conflict;
      if (before->sha256 != sum) {
        return refuse(step, Finding::Conflict, "conflict markers to mend first, " + join_lines(step.lines));
      }
      step.action = Action::Conflict;
      become(step, step.before);
      step.reason = "conflict markers, " + join_lines(step.lines);
      entry.conflict = true;
      return;
    }
    if (ours != step.before && options_.side == MergeSide::Theirs) back_up(step);  // its owner's lines go
  }
  const bool resolved = ours != step.before;
  if (options_.disown.contains(step.path)) ours = with_class_line(ours, step);
  const std::string there = sha256(ours);
  if (there == before->sha256 && before->file_class != FileClass::Owned) {
    step.action = Action::Update;
    step.finding = Finding::Stale;
    step.reason = resolved ? "resolved" : "stale";
  } else if (before->sha256 == sum) {
    step.action =
        ours == step.before ? Action::Keep : Action::Merge;  // edits, on top of a render that is still the same
    become(step, ours);
    step.reason = ours == step.before ? "edited" : "resolved";
    if (options_.disown.contains(step.path)) step.reason = "given back";
  } else {
    merge(step, ours, *before, entry);
  }
}

void Decider::merge(Step& step, const std::string& ours, const ManifestFile& before, ManifestFile& entry) {
  if (step.lines = conflict_lines(ours); !step.lines.empty()) {
    return refuse(step, Finding::Conflict, "conflict markers to mend first, " + join_lines(step.lines));
  }
  const std::string base = pristine_path(step.path);
  check_inside(disk_, base);
  if (hash_of(disk_, base) != before.sha256) {
    return refuse_or_force(step, "edited, and the last render, which a merge needs, is not in .openreg-gen/pristine");
  }
  const Merger& merger = options_.merger ? *options_.merger : git_;
  Merged merged = merger.merge(ours, disk_.read(base), step.after, options_.side);
  if (merged.kind == Merged::Kind::Impossible) return refuse_or_force(step, "edited; " + merged.why);
  become(step, std::move(merged.text));
  step.finding = Finding::Stale;
  step.action = step.after == step.before ? Action::Keep : Action::Merge;
  step.reason = "your edits and the new render";
  if (merged.kind == Merged::Kind::Conflict) {
    step.action = Action::Conflict;
    step.finding = Finding::Conflict;
    step.lines = conflict_lines(step.after);
    step.reason = "conflict, " + join_lines(step.lines);
    entry.conflict = true;
  } else if (options_.side == MergeSide::Theirs) {
    back_up(step);  // lines of its owner may be gone
  }
}

void Decider::keep_pristine(const std::string& path, const std::string& text, Plan& plan) const {
  const std::string pristine = pristine_path(path);
  check_inside(disk_, pristine);
  if (disk_.kind(pristine) == FileKind::File && disk_.read(pristine) == text) return;
  plan.state.push_back({pristine, text});
}

}  // namespace openreg_gen
