// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/crc32c.hpp"

#include <isa-l/crc.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>
#include <limits>

namespace rnic::wire {
namespace {

/// Up to this length, which headers and short messages have, the processor's own instruction is faster
/// than ISA-L, which has to set out and to clean up.
constexpr std::size_t short_run = 192;

#ifdef __x86_64__
[[gnu::target("sse4.2")]] std::uint32_t step_through(Bytes octets, std::uint32_t state) {
  std::uint64_t wide = state;
  for (; octets.size() >= sizeof(std::uint64_t); octets = octets.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, octets.data(), sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  if (octets.size() >= sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, octets.data(), sizeof word);
    state = _mm_crc32_u32(state, word);
    octets = octets.subspan(sizeof word);
  }
  for (const std::byte octet : octets)
    state = _mm_crc32_u8(state, std::to_integer<std::uint8_t>(octet));
  return state;
}

bool steps_through(Bytes octets) {
  return octets.size() <= short_run && __builtin_cpu_supports("sse4.2");
}

[[gnu::target("avx")]] void zero_upper_halves() { _mm256_zeroupper(); }

/// ISA-L's routines for AVX-512 return with values in the upper halves of the vector registers.
/// Until these are zero, every SSE instruction waits for the register that it writes a part of.
void leave_vector_code() {
  if (__builtin_cpu_supports("avx")) zero_upper_halves();
}
#else
bool steps_through(Bytes) { return false; }
std::uint32_t step_through(Bytes, std::uint32_t state) { return state; }
void leave_vector_code() {}
#endif

}  // namespace

Crc32c& Crc32c::update(Bytes octets) {
  if (steps_through(octets)) {
    state_ = step_through(octets, state_);
    return *this;
  }
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
