// What is to be done with each file of a tree, decided before anything is written.
#pragma once

#include "tree/disk.h"
#include "tree/manifest.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// Create, Update and Remove change the disk. Keep: the file is its owner's. Refuse: the whole run is refused.
enum class Action { Create, Update, Unchanged, Keep, Remove, Refuse };
std::string_view to_string(Action action);

/// One finished output. The spec itself is one, too: owned, without a template.
struct Rendered {
  Output output;
  std::string text;
};

struct Step {
  Action action = Action::Unchanged;
  std::string path;
  FileClass file_class = FileClass::Generated;
  std::string key;     // the spec key that governs it
  std::string reason;  // why, in a few words: "edited", "missing", "no longer asked for"; may be empty
  std::string before;  // the text on disk, for a diff; empty if there is none
  std::string after;   // the text that is rendered; empty for Remove
};

struct Plan {
  std::vector<Step> steps;  // sorted by path
  Manifest manifest;        // as it will be
  struct State {
    std::string path, text;
  };
  std::vector<State> state;             // pristine renders and the manifest, to be written; the manifest is last
  std::vector<std::string> state_gone;  // pristine renders to be removed
  bool refused() const;
  /// False if files and state are as they should be.
  bool changes() const;
};

/// Compares the renders with the disk and with what was written last (`old`; null for a new tree). `next` is the new
/// manifest without its files. Reads only. Throws Failure: unsafe paths (E0504, E0505), symlinks that lead out (E0508).
Plan make_plan(const Disk& disk, const Manifest* old, std::vector<Rendered> renders, Manifest next);

/// True if a render of `inputs` would change nothing, told without rendering.
bool is_fresh(const Disk& disk, const Manifest& manifest, const Manifest& next);

}  // namespace openreg_gen
