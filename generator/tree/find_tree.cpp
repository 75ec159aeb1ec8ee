#include "tree/find_tree.h"

#include "diag/failure.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace fs = std::filesystem;

fs::path find_tree(const fs::path& start) {
  std::error_code error;
  const fs::path from = start.empty() ? fs::current_path() : fs::canonical(start, error);
  if (error || !fs::is_directory(from)) {
    throw Failure(Exit::BadInput, "E0502", "'" + start.string() + "' is no folder",
                  "give the folder of a generated backend to -C");
  }
  for (fs::path at = from;; at = at.parent_path()) {
    if (fs::exists(at / kManifest, error) || fs::exists(at / kTemporary / "journal.json", error)) return at;
    if (at == at.parent_path()) break;
  }
  throw Failure(Exit::BadInput, "E0502", "'" + from.string() + "' is in no generated backend",
                "go into one, give its folder with -C, or make one with `openreg-gen new NAME`");
}

}  // namespace openreg_gen
