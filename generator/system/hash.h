// FNV-1a, 64 bits: names cache entries and PyTorch's declarations. Not for secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace openreg_gen {

class Hash {
 public:
  /// Adds a field; fields do not run together: "ab","c" differs from "a","bc".
  void add(std::string_view bytes) {
    for (const char c : bytes) step(static_cast<unsigned char>(c));
    add(static_cast<std::uint64_t>(bytes.size()));
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) step(static_cast<unsigned char>(number >> (8 * i)));
  }
  std::uint64_t value() const { return value_; }

 private:
  void step(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3U; }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace openreg_gen
