// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `torch` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <torch/headeronly/version.h>

// Note [PyTorch's releases]
// One tree builds with each release of `torch:` in the spec, 2.13 to 2.15. Differences between them are
// only here, under names that say what a release has. Files that register operators check the release
// for an operator that only some of them declare. Built libraries fit only the release that they were built with:
// torch_openreg/_release.py checks before it loads them.

/// 213 is 2.13.
#define OPENREG_TORCH_RELEASE (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)

static_assert(OPENREG_TORCH_RELEASE >= 213 && OPENREG_TORCH_RELEASE <= 215);

/// c10::GeneratorImpl::philox_state, by which kernels that others write draw from a generator.
#define OPENREG_TORCH_HAS_PHILOX_STATE (OPENREG_TORCH_RELEASE >= 214)

/// c10d::Backend::gather_single, into one tensor.
#define OPENREG_TORCH_HAS_GATHER_SINGLE (OPENREG_TORCH_RELEASE >= 214)

/// c10d::Backend::Options::clone, of which groups that are parts of another one are made.
#define OPENREG_TORCH_HAS_CLONED_GROUP_OPTIONS (OPENREG_TORCH_RELEASE >= 214)
