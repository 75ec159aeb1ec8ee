// Checks the spec against the installed PyTorch: versions here, operators and AMP in separate files.
#include "resolve/resolve.h"

#include "base/text.h"
#include "releases/releases.h"
#include "resolve/validate.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

void validate_torch(const Spec& spec, const Catalog& catalog, Diagnostics& diagnostics) {
  const auto installed = torch_release(catalog.torch_version());
  const auto min = torch_release(*spec.torch.min), max = torch_release(*spec.torch.max);
  if (!installed || !min || !max || *min > *max || (*installed >= *min && *installed <= *max)) return;
  const bool below = *installed < *min;
  const auto& bound = below ? spec.torch.min : spec.torch.max;
  const std::string range =
      *spec.torch.min == *spec.torch.max ? *spec.torch.min : *spec.torch.min + ".." + *spec.torch.max;
  Location at = bound.at;
  if (at.line == 0) at.file = spec.path.string();
  diagnostics.error("E0404", at,
                    fmt::format("the spec is for PyTorch {}, but {} is installed", range, catalog.torch_version()),
                    fmt::format("install a PyTorch within the range, name one with --torch DIR, or change 'torch.{}'",
                                below ? "min" : "max"));
}

}  // namespace

ResolvedSpec resolve(Spec written, const Catalog& catalog, Diagnostics& diagnostics) {
  validate_torch(written, catalog, diagnostics);
  ResolvedSpec resolved = expand_ops(std::move(written), catalog, diagnostics);
  const Spec& spec = resolved.spec;
  validate_ops(resolved, diagnostics);
  validate_amp(spec, catalog, diagnostics);
  diagnostics.finish(without_byte_order_mark(spec.text));
  return resolved;
}

}  // namespace openreg_gen
