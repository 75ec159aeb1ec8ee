#include "tree/decide.h"

#include "base/text.h"
#include "system/sha256.h"
#include "tree/journal.h"
#include "tree/kernel_signature.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

/// Empty, or the file that is in the place of a folder or of one of its parents.
std::string obstacle(const Disk& disk, std::string folder) {
  for (; !folder.empty(); folder = folder_of(folder)) {
    const FileKind kind = disk.kind(folder);
    if (kind == FileKind::File || kind == FileKind::Other) return folder;
  }
  return {};
}

/// Empty, or a file or folder whose name differs from that of `path`, or of one of its folders, in letter case only.
std::string case_clash(const Disk& disk, const std::string& path) {
  for (std::string at = path; !at.empty(); at = folder_of(at)) {
    const std::string in = folder_of(at);
    for (const std::string& name : disk.list(in)) {
      const std::string other = in.empty() ? name : in + "/" + name;
      if (other != at && lower_case(other) == lower_case(at)) return other;
    }
  }
  return {};
}

constexpr std::size_t kLargest = 4 << 20;

void find_marks(const Disk& disk, const std::string& folder, Marks& out) {
  const std::vector<std::string> names = disk.list(folder);
  if (contains(names, "CMakeCache.txt")) return;
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    const FileKind kind = disk.kind(path);
    if (kind == FileKind::Folder && name[0] != '.' && name != "__pycache__" && name != "node_modules")
      find_marks(disk, path, out);
    if (kind != FileKind::File || name.ends_with(".so") || name.ends_with(".o") || name.ends_with(".a")) continue;
    if (disk.size(path) > kLargest) continue;
    for (const std::string& id : marks_in(disk.read(path))) {
      std::vector<std::string>& paths = out[id];
      if (paths.empty() || paths.back() != path) paths.push_back(path);
    }
  }
}

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

Marks find_marks(const Disk& disk) {
  Marks out;
  find_marks(disk, {}, out);
  return out;
}

std::string pristine_path(const std::string& path) { return std::string(kPristine) + path; }

Decider::Decider(const Disk& disk, const Manifest* old, const PlanOptions& options)
    : disk_(disk), old_(old), options_(options) {}

const ManifestFile* Decider::find(const std::string& path) const {
  if (!old_) return nullptr;
  const auto at = old_->files.find(path);
  return at == old_->files.end() ? nullptr : &at->second;
}

bool Decider::stays_owned(const std::string& path, const ManifestFile* before) const {
  if (!before || before->file_class != FileClass::Owned || options_.disown.contains(path)) return false;
  if (before->taken()) return true;
  const std::string there = hash_of(disk_, before->at.empty() ? path : before->at);
  return !there.empty() && there != before->sha256;
}

void Decider::add(RenderedFile& render, Plan& plan) {
  const Output& output = render.output;
  const ManifestFile* before = find(output.path);
  const bool taken = output.file_class == FileClass::Owned
                         ? before && before->taken() && !options_.disown.contains(output.path)
                         : stays_owned(output.path, before);
  Step step;
  step.path = output.path;
  step.file_class = taken ? FileClass::Owned : output.file_class;
  step.key = output.key;
  step.after = render.text;
  step.sum = sha256(render.text);

  ManifestFile entry{step.file_class, step.sum, output.template_name, output.key, taken ? std::string() : output.id};
  const std::string sum = step.sum;
  if (step.file_class == FileClass::Owned) {
    decide_owned(step, render, before, entry);
  } else if (const auto kind = look(step)) {
    if (kind == FileKind::None) {
      create(step, before);
    } else if (step.file_class == FileClass::Generated) {
      decide_generated(step, sum, before);
    } else {
      decide_shared(step, sum, before);
    }
  }
  if (step.file_class == FileClass::Shared && step.action() != Action::Refuse)
    keep_pristine(output.path, render.text, plan);
  if (!step.backup.empty()) plan.state.push_back({step.backup, step.before});
  plan.manifest.files[output.path] = std::move(entry);
  plan.steps.push_back(std::move(step));
}

std::optional<FileKind> Decider::look(Step& step) {
  const auto [in_the_way, added] = obstacles_.try_emplace(folder_of(step.path));
  if (added) {
    check_inside(disk_, in_the_way->first);
    in_the_way->second = obstacle(disk_, in_the_way->first);
  }
  const FileKind kind = in_the_way->second.empty() ? disk_.kind(step.path) : FileKind::None;
  if (!in_the_way->second.empty()) {
    judge(step, Verdict::Blocked, "'" + in_the_way->second + "' is a file, but must be a folder");
  } else if (kind == FileKind::File) {
    step.before = disk_.read(step.path);
    return kind;
  } else if (kind == FileKind::None) {
    return kind;
  } else {
    const char* what = kind == FileKind::Folder ? "a folder" : kind == FileKind::Symlink ? "a symlink" : nullptr;
    judge(step, Verdict::Blocked,
          what ? std::string(what) + " is in its place" : "something other than a regular file is in its place");
  }
  return std::nullopt;
}

void Decider::create(Step& step, const ManifestFile* before) {
  const std::string other = case_clash(disk_, step.path);
  if (other.empty()) return judge(step, before ? Verdict::Missing : Verdict::New);
  judge(step, Verdict::Blocked, "'" + other + "' differs only in letter case: on some systems they are the same file");
}

void Decider::decide_owned(Step& step, const RenderedFile& render, const ManifestFile* before, ManifestFile& entry) {
  const Output& output = render.output;
  if (!output.template_name.empty()) entry.render = step.sum;
  const bool was_owned = before && before->file_class == FileClass::Owned;
  const bool differs = was_owned && !before->render.empty() && before->render != entry.render;
  judge(step, differs ? Verdict::YoursDiffers : Verdict::Yours);
  if (entry.taken() && before && !render.replaces) {
    entry.sha256 = before->sha256;
    return;
  }
  if (was_owned && !before->at.empty() && disk_.kind(before->at) == FileKind::File && disk_.inside(before->at)) {
    if (contains(marks_in(disk_.read(before->at)), entry.id)) entry.at = before->at;
  }
  const FileKind kind = disk_.kind(output.path);
  if (kind == FileKind::File) {
    entry.at.clear();
  } else if (entry.at.empty() && kind == FileKind::None) {
    const auto& found = marked(entry.id);
    if (found.size() > 1) {
      return judge(step, Verdict::Blocked,
                   "gone, but its mark is in " + found[0] + " and in " + found[1] + ": keep it in only one");
    }
    if (found.size() == 1) {
      entry.at = found[0];
      judge(step, Verdict::YoursMoved, output.path);
    }
  }
  if (!entry.at.empty()) found_.insert(step.path = entry.at);
  if (kind == FileKind::Symlink || kind == FileKind::Other) {
    // An owner may link a kernel to where it is kept; it is never written, so it may lead anywhere.
    if (before) entry.sha256 = before->sha256;
    return;
  }
  const auto found = look(step);
  if (!found) return;
  if (found == FileKind::None) {
    entry.signature = output.signature;
    return create(step, before);
  }
  if (render.replaces) {
    if (step.before != *render.replaces) return judge(step, Verdict::Blocked, "was edited just now");
    return judge(step, step.before == step.after ? Verdict::Unchanged : Verdict::AsAsked);
  }
  if (before) entry.sha256 = before->sha256;
  // Said as long as nothing of the owner's is in it: it may lack a function that the spec asks for since.
  if (was_owned && step.before != step.after && sha256(step.before) == before->sha256)
    judge(step, Verdict::YoursDiffers);
  check_signature(step, output, before, entry);
}

void Decider::check_signature(Step& step, const Output& output, const ManifestFile* before, ManifestFile& entry) {
  entry.signature = output.signature;
  if (!before || before->signature.empty() || before->signature == output.signature) return;
  const FoundKernel place = find_kernel(step.before, output.signature, before->signature);
  if (output.signature.empty() || place.fits) return;
  entry.signature = before->signature;
  entry.wanted = output.signature;
  step.signature_change = Step::SignatureChange{place.line, place.read, find_kernel(step.before, output.signature).fits,
                                                before->signature, output.signature};
  judge(step, place.read ? Verdict::YoursOutdated : Verdict::YoursUnread);
}

void Decider::decide_generated(Step& step, const std::string& sum, const ManifestFile* before) {
  if (step.before == step.after) return;
  if (!before) return judge(step, Verdict::Foreign);
  const std::string there = sha256(step.before);
  if (there == before->sha256) return judge(step, Verdict::Stale);
  if (options_.disown.contains(step.path)) {
    back_up(step);
    return judge(step, Verdict::GivenBack);
  }
  const bool crlf = is_crlf(step.before) && there != sum && step.before == to_crlf(step.after);
  judge(step, Verdict::Edited, crlf ? ": its lines end in CRLF" : "");
}

void Decider::decide_shared(Step& step, const std::string& sum, const ManifestFile* before) {
  if (step.before == step.after) return;
  if (!before) return judge(step, Verdict::Foreign);
  std::string ours = resolve_conflicts(step.before, options_.side);
  step.lines = conflict_lines(ours);
  if (!step.lines.empty()) {
    if (before->sha256 != sum) return judge(step, Verdict::ResolveFirst, join_lines(step.lines));
    become(step, step.before);
    return judge(step, Verdict::Conflict, join_lines(step.lines));
  }
  if (ours != step.before && options_.side == MergeSide::Theirs) back_up(step);  // its owner's lines go
  const bool resolved = ours != step.before, disowned = options_.disown.contains(step.path);
  if (disowned) ours = with_class(ours, step.key, FileClass::Owned, step.file_class);
  if (sha256(ours) == before->sha256)
    return judge(step, disowned ? Verdict::GivenBack : resolved ? Verdict::ResolvedSpec : Verdict::Stale);
  if (before->sha256 != sum) return merge(step, ours, *before);
  // Edits, on top of a render that is still the same.
  become(step, std::move(ours));
  judge(step, disowned ? Verdict::GivenBack : resolved ? Verdict::ResolvedSpec : Verdict::YourEdits);
}

void Decider::merge(Step& step, const std::string& ours, const ManifestFile& before) {
  const std::string base = pristine_path(step.path);
  check_inside(disk_, base);
  if (hash_of(disk_, base) != before.sha256) {
    if (options_.disown.contains(step.path)) {
      back_up(step);
      return judge(step, Verdict::GivenBack);
    }
    return judge(step, Verdict::Edited,
                 ", but the last render, which a merge needs, is missing in .openreg-gen/pristine");
  }
  MergeResult merged = options_.merger(ours, disk_.read(base), step.after, options_.side);
  if (merged.kind == MergeResult::Kind::Impossible) return judge(step, Verdict::Edited, "; " + merged.why);
  become(step, std::move(merged.text));
  if (merged.kind == MergeResult::Kind::Conflict) {
    step.lines = conflict_lines(step.after);
    return judge(step, Verdict::Conflict, join_lines(step.lines));
  }
  if (options_.side == MergeSide::Theirs) back_up(step);  // lines of its owner may be gone
  judge(step, Verdict::MergeResult);
}

void Decider::keep_pristine(const std::string& path, const std::string& text, Plan& plan) const {
  const std::string pristine = pristine_path(path);
  check_inside(disk_, pristine);
  if (disk_.kind(pristine) == FileKind::File && disk_.read(pristine) == text) return;
  plan.state.push_back({pristine, text});
}

void Decider::judge(Step& step, Verdict verdict, std::string detail) {
  step.verdict = verdict;
  step.detail = std::move(detail);
  step.replaced = options_.force && row_of(verdict).forcible;
  if (step.replaced) back_up(step);
}

void Decider::back_up(Step& step) {
  if (backup_.empty()) backup_ = next_backup(disk_);
  step.backup = backup_ + step.path;
  check_inside(disk_, step.backup);
}

const std::vector<std::string>& Decider::marked(const std::string& id) {
  static const std::vector<std::string> none;
  if (id.empty()) return none;
  if (!marks_) marks_ = find_marks(disk_);
  const auto found = marks_->find(id);
  return found == marks_->end() ? none : found->second;
}

void Decider::drop(const std::string& path, const ManifestFile& file, Plan& plan) {
  Step step;
  step.path = file.at.empty() ? path : file.at;
  if (found_.contains(step.path)) return;  // another output's file now
  step.file_class = file.file_class;
  step.key = file.key;
  check_inside(disk_, folder_of(step.path));
  ManifestFile entry = file;
  entry.key.clear();
  const bool owned = file.file_class == FileClass::Owned, disowned = options_.disown.contains(path);
  const bool taken = file.taken() && !disowned;
  FileKind kind = disk_.kind(step.path);
  if (kind == FileKind::None && owned) {
    if (const auto& found = marked(file.id); found.size() == 1) {
      step.path = entry.at = found[0];
      kind = FileKind::File;
    }
  }
  if (kind == FileKind::File) step.before = disk_.read(step.path);
  const bool edited = kind != FileKind::None && (kind != FileKind::File || sha256(step.before) != file.sha256);
  const bool stays = taken ? !file.template_name.empty() : edited || !entry.at.empty();
  const bool with_kernel = !stays && kind == FileKind::File && !file.id.empty() && kept_.contains(file.id);
  if (stays || with_kernel) {
    if (stays && owned) kept_.insert(file.id);
    if (!disowned) plan.manifest.files[path] = std::move(entry);
    if (old_->is_left(path) && !disowned) return;  // reported when it left
    if (stays) {
      judge(step, Verdict::Left, taken ? "it is yours" : edited ? "you edited it" : "you moved it");
    } else {
      judge(step, Verdict::LeftWithKernel, file.id);
    }
  } else {
    if (disk_.kind(pristine_path(path)) == FileKind::File) plan.state.push_back({pristine_path(path), std::nullopt});
    if (kind == FileKind::None || taken) return;
    judge(step, Verdict::Gone);
  }
  plan.steps.push_back(std::move(step));
}

}  // namespace openreg_gen
