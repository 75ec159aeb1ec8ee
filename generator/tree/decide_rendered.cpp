// Generated and shared files that are there: stale, edited, merged.
#include "system/sha256.h"
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

/// Another text than the render.
void become(Step& step, std::string text) {
  step.after = std::move(text);
  step.sum.clear();
}

}  // namespace

void Decider::decide_generated(Step& step, const std::string& sum, const ManifestFile* before) {
  if (step.before == step.after) return;
  if (!before) return judge(step, Verdict::Foreign);
  const std::string there = sha256(step.before);
  if (there == before->sha256) return judge(step, Verdict::Stale);
  if (options_.disown.contains(step.path)) {
    back_up(step);
    return judge(step, Verdict::GivenBack);
  }
  if (before->file_class == FileClass::Owned) return judge(step, Verdict::OwnedBefore);
  const bool crlf = is_crlf(step.before) && there != sum && step.before == to_crlf(step.after);
  judge(step, crlf ? Verdict::EditedToCrlf : Verdict::Edited);
}

void Decider::decide_shared(Step& step, const std::string& sum, const ManifestFile* before, ManifestFile& entry) {
  if (step.before == step.after) return;
  if (!before) return judge(step, Verdict::Foreign);
  std::string ours = step.before;
  if (before->conflict) {
    ours = resolve_conflicts(ours, options_.side);
    step.lines = conflict_lines(ours);
    if (!step.lines.empty()) {
      if (before->sha256 != sum) return judge(step, Verdict::MendFirst, join_lines(step.lines));
      become(step, step.before);
      entry.conflict = true;
      return judge(step, Verdict::Unmended, join_lines(step.lines));
    }
    if (ours != step.before && options_.side == MergeSide::Theirs) back_up(step);  // its owner's lines go
  }
  const bool resolved = ours != step.before, disowned = options_.disown.contains(step.path);
  if (disowned) {
    ours = with_class(ours, {step.path, FileClass::Owned, step.key, step.path},
                      {step.path, step.file_class, step.key, {}});
  }
  if (sha256(ours) == before->sha256 && before->file_class != FileClass::Owned)
    return judge(step, resolved ? Verdict::ResolvedToRender : Verdict::Stale);
  if (before->sha256 != sum) return merge(step, ours, *before, entry);
  // Edits, on top of a render that is still the same.
  const bool as_is = ours == step.before;
  become(step, std::move(ours));
  if (disowned) return judge(step, as_is ? Verdict::GivenBackAsIs : Verdict::GivenBackMerged);
  judge(step, as_is ? Verdict::YourEdits : Verdict::Resolved);
}

void Decider::merge(Step& step, const std::string& ours, const ManifestFile& before, ManifestFile& entry) {
  step.lines = conflict_lines(ours);
  if (!step.lines.empty()) return judge(step, Verdict::MendFirst, join_lines(step.lines));
  const std::string base = pristine_path(step.from.empty() ? step.path : step.from);
  check_inside(disk_, base);
  if (hash_of(disk_, base) != before.sha256) return judge(step, Verdict::NoBase);
  const Merger& merger = options_.merger ? *options_.merger : git_;
  Merged merged = merger.merge(without_version(ours), without_version(disk_.read(base)), step.after, options_.side);
  if (merged.kind == Merged::Kind::Impossible) return judge(step, Verdict::Unmergeable, merged.why);
  become(step, std::move(merged.text));
  if (merged.kind == Merged::Kind::Conflict) {
    step.lines = conflict_lines(step.after);
    entry.conflict = true;
    return judge(step, Verdict::Conflict, join_lines(step.lines));
  }
  if (options_.side == MergeSide::Theirs) back_up(step);  // lines of its owner may be gone
  judge(step, step.after == step.before ? Verdict::MergedAsIs : Verdict::Merged);
}

void Decider::keep_pristine(const std::string& path, const std::string& text, Plan& plan) const {
  const std::string pristine = pristine_path(path);
  check_inside(disk_, pristine);
  if (disk_.kind(pristine) == FileKind::File && disk_.read(pristine) == text) return;
  plan.state.push_back({pristine, text});
}

}  // namespace openreg_gen
