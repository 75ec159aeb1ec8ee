// Three-way merge of texts: the last render, the owner's edited file, the new render.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// Where both have changed: conflict markers (diff3), the owner's lines, or those of the new render.
enum class MergeSide { Markers, Ours, Theirs };

struct MergeResult {
  enum class Kind { Clean, Conflict, Impossible } kind = Kind::Clean;
  std::string text;
  std::string why;  // of Impossible
};

/// How texts are merged; tests put their own in its place.
using Merger = std::function<MergeResult(const std::string& ours, const std::string& base, const std::string& theirs,
                                         MergeSide side)>;

/// With `git merge-file`, which needs no repository. Without git, and for binary files, the merge is Impossible
/// and says why. Texts that need no merge (one side unchanged, both the same) don't need git.
MergeResult merge_by_git(const std::string& ours, const std::string& base, const std::string& theirs, MergeSide side);

/// Lines, from 1, that begin a conflict of merge_by_git: "<<<<<<< yours", or a part of one whose beginning was deleted.
/// Markers are longer where lines of the text look like them. A file with such lines is in conflict; nothing else
/// records it.
std::vector<int> conflict_lines(std::string_view text);

/// The text with each conflict replaced by one side. Conflicts stay unchanged if they have no end, or if two
/// lines may be what divides the sides.
std::string resolve_conflicts(std::string_view text, MergeSide side);

/// True if every line ends in CRLF, and there is one.
bool is_crlf(std::string_view text);
std::string to_crlf(std::string_view text);

}  // namespace openreg_gen
