// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/crc32c.hpp"

#include <isa-l/crc.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <limits>

namespace rnic::wire {
namespace {

#ifdef __x86_64__
[[gnu::target("avx")]] void zero_upper_halves() { _mm256_zeroupper(); }

/// ISA-L's routines for AVX-512 return with values in the upper halves of the vector registers.
/// Until these are zero, every SSE instruction waits for the register that it writes a part of.
void leave_vector_code() {
  if (__builtin_cpu_supports("avx")) zero_upper_halves();
}
#else
void leave_vector_code() {}
#endif

}  // namespace

Crc32c& Crc32c::update(Bytes octets) {
  // ISA-L neither presets nor complements the register, takes the length as int, and only reads.
  constexpr auto longest_piece = static_cast<std::size_t>(std::numeric_limits<int>::max());
  while (!octets.empty()) {
    const Bytes piece = octets.first(std::min(octets.size(), longest_piece));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    state_ = crc32_iscsi(data, static_cast<int>(piece.size()), state_);
    leave_vector_code();
    octets = octets.subspan(piece.size());
  }
  return *this;
}

std::array<std::byte, 4> Crc32c::trailer() const {
  // The register is bit-reflected, so that its least significant octet is the first on the wire.
  const std::uint32_t value = ~state_;
  std::array<std::byte, 4> octets;
  for (std::size_t i = 0; i < octets.size(); ++i)
    octets[i] = static_cast<std::byte>(value >> (8 * i));
  return octets;
}

}  // namespace rnic::wire
