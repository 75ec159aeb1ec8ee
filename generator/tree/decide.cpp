#include "tree/decide.h"

#include "base/text.h"
#include "system/sha256.h"
#include "tree/kernel_signature.h"
#include "tree/journal.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

/// Empty, or what stands in the place of a folder or of one of those above it.
std::string obstacle(const Disk& disk, std::string folder) {
  for (; !folder.empty(); folder = folder_of(folder)) {
    const FileKind kind = disk.kind(folder);
    if (kind == FileKind::File || kind == FileKind::Other) return folder;
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

std::string Decider::moved_from(const Output& output) const {
  const ManifestFile* before = output.was.empty() || find(output.path) ? nullptr : find(output.was);
  // What is generated is rendered anew; there is nothing of an owner's in it.
  if (!before || before->ignored || (before->file_class == FileClass::Generated && !before->claimed)) return {};
  const bool moves = before->at.empty() && disk_.kind(output.was) == FileKind::File && disk_.inside(output.was) &&
                     disk_.kind(output.path) == FileKind::None;
  return moves ? output.was : std::string();
}

Decider::Folder& Decider::folder(const std::string& path) {
  const auto [at, added] = folders_.try_emplace(path);
  if (added) {
    check_inside(disk_, path);
    at->second.obstacle = obstacle(disk_, path);
  }
  return at->second;
}

std::string Decider::case_clash(const std::string& path) {
  for (std::string at = path; !at.empty(); at = folder_of(at)) {
    const std::string in = folder_of(at), name = at.substr(in.empty() ? 0 : in.size() + 1);
    auto& names = folder(in).names;
    if (!names) {
      names.emplace();
      for (const std::string& other : disk_.list(in)) (*names)[lower_case(other)].push_back(other);
    }
    const auto alike = names->find(lower_case(name));
    if (alike == names->end()) continue;
    for (const std::string& other : alike->second)
      if (other != name) return in.empty() ? other : in + "/" + other;
  }
  return {};
}

void Decider::add(Rendered& render, Plan& plan) {
  const Output& output = render.output;
  Step step;
  step.from = moved_from(output);
  const ManifestFile* before = find(step.from.empty() ? output.path : step.from);
  const bool disowned = before && options_.disown.contains(output.path);
  const bool claimed = before && before->claimed && !disowned;
  step.path = output.path;
  step.file_class = claimed ? FileClass::Owned : output.file_class;
  step.key = output.key;
  step.after = render.text;

  ManifestFile entry{step.file_class, sha256(render.text), output.template_name, output.key, output.id};
  entry.claimed = claimed;
  const std::string sum = step.sum = entry.sha256;
  if (claimed) entry.id = step.from.empty() ? output.path : before->id;
  if (step.file_class == FileClass::Owned) {
    decide_owned(step, render, before, entry);
  } else if (const auto kind = look(step)) {
    if (kind == FileKind::None) {
      create(step, before);
    } else if (step.file_class == FileClass::Generated) {
      if (disowned) step.before = disk_.read(step.path);
      decide_generated(step, sum, before);
    } else {
      decide_shared(step, sum, before, entry);
    }
  }
  if (output.file_class == FileClass::Shared && !claimed && step.action() != Action::Refuse)
    keep_pristine(output.path, render.text, plan);
  if (!step.from.empty() && step.action() != Action::Refuse) {
    moved_.insert(step.from);
    if (step.action() == Action::Keep) step.after = step.before, step.sum.clear();
  }
  if (!step.backup.empty()) plan.state.push_back({step.backup, step.before});
  plan.manifest.files[output.path] = std::move(entry);
  plan.steps.push_back(std::move(step));
}

std::optional<FileKind> Decider::look(Step& step) {
  const std::string& obstacle = folder(folder_of(step.path)).obstacle;
  const std::string& at = step.from.empty() ? step.path : step.from;
  const FileKind kind = obstacle.empty() ? disk_.kind(at) : FileKind::None;
  if (!obstacle.empty()) {
    judge(step, Verdict::FileAbove, obstacle);
  } else if (kind == FileKind::Folder) {
    judge(step, Verdict::FolderThere);
  } else if (kind == FileKind::Symlink) {
    judge(step, Verdict::SymlinkThere);
  } else if (kind == FileKind::Other) {
    judge(step, Verdict::NoPlainFile);
  } else {
    if (kind == FileKind::File) step.before = disk_.read(at);
    return kind;
  }
  return std::nullopt;
}

void Decider::create(Step& step, const ManifestFile* before) {
  const std::string other = case_clash(step.path);
  if (!other.empty()) return judge(step, Verdict::OtherCase, other);
  judge(step, before ? Verdict::Missing : Verdict::New);
}

void Decider::decide_owned(Step& step, const Rendered& render, const ManifestFile* before, ManifestFile& entry) {
  const Output& output = render.output;
  entry.body = output.template_name.empty() ? std::string() : sha256(without_header(render.text));
  const bool was_owned = before && before->file_class == FileClass::Owned;
  judge(step, Verdict::Yours);
  if (was_owned && !before->at.empty() && disk_.kind(before->at) == FileKind::File && disk_.inside(before->at)) {
    const auto ids = marks_in(disk_.read(before->at));
    if (contains(ids, entry.id)) entry.at = before->at;
  }
  const FileKind kind = disk_.kind(step.from.empty() ? output.path : step.from);
  if (kind == FileKind::File) {
    entry.at.clear();
  } else if (entry.at.empty() && kind == FileKind::None) {
    const auto& found = marked(entry.id);
    if (found.size() > 1) return judge(step, Verdict::TwoMarks, found[0] + " and in " + found[1]);
    if (found.size() == 1) {
      entry.at = found[0];
      judge(step, Verdict::YoursMoved, output.path);
    }
  }
  if (!entry.at.empty()) step.path = entry.at;
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
    if (step.before != *render.replaces) return judge(step, Verdict::EditedMeanwhile);
    return judge(step, step.before == step.after ? Verdict::Unchanged : Verdict::AsAsked);
  }
  if (before) entry.sha256 = before->sha256;
  check_signature(step, output, before, entry);
  const bool differs = was_owned && !before->body.empty() && before->body != entry.body;
  if (differs && step.verdict == Verdict::Yours) judge(step, Verdict::YoursDiffers);
}

void Decider::check_signature(Step& step, const Output& output, const ManifestFile* before, ManifestFile& entry) {
  entry.signature = output.signature;
  if (!before || before->signature.empty() || before->signature == output.signature) return;
  const KernelPlace place = find_kernel(step.before, output.signature);
  if (output.signature.empty() || place.fits) return;
  entry.signature = before->signature;
  entry.wanted = output.signature;
  step.signature_change = Step::SignatureChange{place.line, before->signature, output.signature};
  judge(step, Verdict::YoursOutdated);
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
  step.file_class = file.file_class;
  step.key = file.key;
  check_inside(disk_, folder_of(step.path));
  const bool owned = file.file_class == FileClass::Owned;
  ManifestFile entry = file;
  const auto report = [&](Verdict verdict, std::string detail = {}) {
    judge(step, verdict, std::move(detail));
    plan.steps.push_back(std::move(step));
  };
  if (moved_.contains(path)) {
    step.before = disk_.read(path);
    if (disk_.kind(pristine_path(path)) == FileKind::File) plan.state_gone.push_back(pristine_path(path));
    return report(Verdict::GoneElsewhere);
  }
  FileKind kind = disk_.kind(step.path);
  if (options_.ignore.matches(path)) {
    if (kind == FileKind::None) return;
    entry.ignored = true;
    plan.manifest.files[path] = std::move(entry);
    if (!file.ignored) report(Verdict::Ignored);
    return;
  }
  if (kind == FileKind::None && owned) {
    if (const auto& found = marked(file.id); found.size() == 1) {
      step.path = entry.at = found[0];
      kind = FileKind::File;
    }
  }
  const auto forget_pristine = [&] {
    if (disk_.kind(pristine_path(path)) == FileKind::File) plan.state_gone.push_back(pristine_path(path));
  };
  if (kind == FileKind::None) return forget_pristine();
  if (kind == FileKind::File) step.before = disk_.read(step.path);
  const bool unedited = kind == FileKind::File && sha256(step.before) == file.sha256;
  const bool stays = owned && (!unedited || !entry.at.empty());
  if (stays || (unedited && !owned && !file.id.empty() && kept_.contains(file.id))) {
    if (stays) kept_.insert(file.id);
    entry.left = true;
    plan.manifest.files[path] = std::move(entry);
    if (file.left) return;  // reported when it left
    return stays ? report(Verdict::Left) : report(Verdict::LeftWithKernel, file.id);
  }
  forget_pristine();
  report(unedited ? Verdict::Gone : Verdict::GoneEdited);
}

}  // namespace openreg_gen
