// The compression function of SHA-256, in portable C++ and with the processor's own instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace openreg_gen {

using Sha256State = std::array<std::uint32_t, 8>;
/// Takes `count` blocks of 64 bytes each into the state.
using Sha256Blocks = void (*)(Sha256State& state, const unsigned char* bytes, std::size_t count);

void sha256_blocks_portable(Sha256State& state, const unsigned char* bytes, std::size_t count);

/// The same with the SHA instructions of x86-64, some five times as fast; null if this processor has none.
Sha256Blocks sha256_blocks_of_processor();

}  // namespace openreg_gen
