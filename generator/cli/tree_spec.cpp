#include "cli/tree_spec.h"

namespace openreg_gen {

std::optional<Spec> spec_around(const Invocation& call) {
  try {
    const OpenTree tree = call.tree(Access::Read);
    Diagnostics ignored;
    return parse_spec_text(tree.disk->read(tree.manifest.spec), tree.root / tree.manifest.spec, ignored);
  } catch (const Failure& failure) {
    if (failure.code() != "E0502" || !call.folder.empty()) throw;
    return std::nullopt;
  }
}

}  // namespace openreg_gen
