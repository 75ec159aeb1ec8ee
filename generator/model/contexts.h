// What templates see of the spec's own keys: `b`, `torch`, `device`, `allocator`, `fallback`.
#pragma once

#include "spec/spec.h"
#include "texts/fields.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace openreg_gen {

/// A text of the spec's, as each language writes it.
struct TextForms {
  std::string text, cpp, py, toml, cmake, md;
  explicit TextForms(const std::string& written);
  void print(Fields out) const { out("text", text)("cpp", cpp)("py", py)("toml", toml)("cmake", cmake)("md", md); }
};

struct BackendContext {
  const BackendSpec& spec;
  void print(Fields out) const;
};

struct TorchContext {
  const TorchSpec& spec;
  std::string version;  // of the PyTorch at hand
  void print(Fields out) const;
};

struct DeviceContext {
  const DeviceSpec& spec;
  void print(Fields out) const;
};

struct AllocatorContext {
  const AllocatorSpec& spec;
  void print(Fields out) const;
};

struct FallbackContext {
  const FallbackSpec& spec;
  void print(Fields out) const;
};

}  // namespace openreg_gen
