// SHA-256 (FIPS 180-4). Pure; thread-safe.
#pragma once

#include "system/sha256_blocks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace openreg_gen {

class Sha256 {
 public:
  void add(std::string_view bytes);
  /// The digest in lower-case hex. Ends the object's life: add nothing after it.
  std::string hex();

 private:
  Sha256State state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256(std::string_view bytes);

}  // namespace openreg_gen
