// Decides what happens to one file, from its class, its last render and its edits.
#pragma once

#include "tree/plan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

std::string pristine_path(const std::string& path);

/// Owned files that were moved or renamed are found by the mark in their header, "[openreg-gen aten::relu]": by id,
/// where it is marked, sorted. Looks through the whole tree, but for .openreg-gen, hidden folders, build folders (those
/// with a CMakeCache.txt), symlinks and files that are large or not text.
using Marks = std::map<std::string, std::vector<std::string>>;
Marks find_marks(const Disk& disk);

class Decider {
 public:
  /// All three outlive the object.
  Decider(const Disk& disk, const Manifest* old, const PlanOptions& options);

  /// Adds the step of an output and its manifest entry.
  void add(RenderedFile& render, Plan& plan);
  /// Adds the step of a file of the last render that this one no longer needs. Call it for owned files first: the files
  /// that they include stay with them.
  void drop(const std::string& path, const ManifestFile& file, Plan& plan);

 private:
  const ManifestFile* find(const std::string& path) const;
  /// The manifest's class wins over the template's, for files that their owner took, or that were rendered as owned and
  /// then edited.
  bool stays_owned(const std::string& path, const ManifestFile* before) const;
  /// A file or nothing; no value if something is in the way. Fills in `before`. Throws Failure(E0508) if its folder
  /// leads out of the tree.
  std::optional<FileKind> look(Step& step);
  void create(Step& step, const ManifestFile* before);
  void decide_owned(Step& step, const RenderedFile& render, const ManifestFile* before, ManifestFile& entry);
  void decide_generated(Step& step, const std::string& sum, const ManifestFile* before);
  void decide_shared(Step& step, const std::string& sum, const ManifestFile* before);
  void merge(Step& step, const std::string& ours, const ManifestFile& before);
  void check_signature(Step& step, const Output& output, const ManifestFile* before, ManifestFile& entry);
  void keep_pristine(const std::string& path, const std::string& text, Plan& plan) const;
  /// With --force, a refusal that can be forced backs the file up and replaces it.
  void judge(Step& step, Verdict verdict, std::string detail = {});
  void back_up(Step& step);
  /// The files that have the mark of `id`.
  const std::vector<std::string>& marked(const std::string& id);

  const Disk& disk_;
  const Manifest* old_;
  const PlanOptions& options_;
  std::map<std::string, std::string> obstacles_;  // by the folder that they are in the way of; empty: none
  std::string backup_;                            // folder of this run's copies, once asked for
  std::optional<Marks> marks_;                    // once asked for
  std::set<std::string> found_;                   // where outputs were found by their marks
  std::set<std::string> kept_;                    // ids of owned files that left the spec
};

}  // namespace openreg_gen
