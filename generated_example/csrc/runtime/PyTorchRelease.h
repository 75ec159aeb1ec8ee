// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `torch` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <torch/headeronly/version.h>

// Note [PyTorch's releases]
// One tree is built with each release of `torch:` in the spec, 2.13 to 2.15. What differs between them is kept
// apart here and nowhere else, by names that say what a release has; the files that register operators ask which one it is,
// for an operator that not all of them declare. Built libraries fit the release that they were built with, and no other:
// torch_openreg/_release.py looks before it loads them.

/// 213 is 2.13.
#define OPENREG_TORCH_RELEASE (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)

static_assert(OPENREG_TORCH_RELEASE >= 213 && OPENREG_TORCH_RELEASE <= 215);

/// c10::GeneratorImpl::philox_state, by which kernels that others write draw from a generator.
#define OPENREG_TORCH_HAS_PHILOX_STATE (OPENREG_TORCH_RELEASE >= 214)

/// c10d::Backend::gather_single, into one tensor.
#define OPENREG_TORCH_HAS_GATHER_SINGLE (OPENREG_TORCH_RELEASE >= 214)

/// c10d::Backend::Options::clone, of which groups that are parts of another one are made.
#define OPENREG_TORCH_HAS_CLONED_GROUP_OPTIONS (OPENREG_TORCH_RELEASE >= 214)
