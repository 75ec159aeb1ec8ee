#include "system/sha256.h"

#include <algorithm>

namespace openreg_gen {
namespace {

void blocks(Sha256State& state, const unsigned char* bytes, std::size_t count) {
  static const Sha256Blocks own = sha256_blocks_of_processor();
  (own ? own : sha256_blocks_portable)(state, bytes, count);
}

}  // namespace

void Sha256::add(std::string_view bytes) {
  total_ += bytes.size();
  while (!bytes.empty()) {
    if (const std::size_t whole = bytes.size() / 64; pending_size_ == 0 && whole > 0) {
      blocks(state_, reinterpret_cast<const unsigned char*>(bytes.data()), whole);
      bytes.remove_prefix(64 * whole);
      continue;
    }
    const std::size_t n = std::min(bytes.size(), 64 - pending_size_);
    std::copy_n(bytes.data(), n, pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
    pending_size_ += n;
    bytes.remove_prefix(n);
    if (pending_size_ == 64) {
      blocks(state_, pending_.data(), 1);
      pending_size_ = 0;
    }
  }
}

std::string Sha256::hex() {
  const std::uint64_t bits = total_ * 8;
  std::string padding(1, '\x80');
  padding.append((119 - pending_size_) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift & 0xff);
  add(padding);
  std::string out;
  for (std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 0xf];
  }
  return out;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace openreg_gen
