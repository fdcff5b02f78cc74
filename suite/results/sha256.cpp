// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/sha256.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace suite::results {

namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load(const std::byte* octets) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8) | std::to_integer<std::uint32_t>(octets[i]);
  return value;
}

std::array<std::uint32_t, 64> schedule(const std::byte* octets) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) w[t] = load(octets + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  return w;
}

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

// FIPS 180-4, 6.2.2.
void Sha256::block(const std::byte* octets) {
  const auto w = schedule(octets);
  auto v = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    const std::uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const std::uint32_t t1 = v[7] + sum1 + choose + round_constants[t] + w[t];
    const std::uint32_t sum0 = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    const std::uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    std::ranges::copy_backward(v.begin(), v.end() - 1, v.end());
    v[0] = t1 + sum0 + majority;
    v[4] += t1;
  }
  for (std::size_t i = 0; i < v.size(); ++i) state_[i] += v[i];
}

void Sha256::update(std::span<const std::byte> octets) {
  while (!octets.empty()) {
    const std::size_t used = total_ % held_.size();
    if (used == 0 && octets.size() >= held_.size()) {
      block(octets.data());
      total_ += held_.size();
      octets = octets.subspan(held_.size());
      continue;
    }
    const std::size_t part = std::min(held_.size() - used, octets.size());
    std::ranges::copy(octets.first(part), held_.begin() + static_cast<std::ptrdiff_t>(used));
    total_ += part;
    octets = octets.subspan(part);
    if (total_ % held_.size() == 0) block(held_.data());
  }
}

std::string Sha256::finish() {
  const std::uint64_t bits = total_ * 8;
  std::array<std::byte, 72> tail{std::byte{0x80}};
  const std::size_t used = total_ % held_.size();
  const std::size_t zeros = used < 56 ? 56 - used : 120 - used;
  for (std::size_t i = 0; i < 8; ++i) tail[zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(std::span(tail).first(zeros + 8));
  std::string text;
  for (const std::uint32_t value : state_) text += fmt::format("{:08x}", value);
  return text;
}

std::string sha256(std::span<const std::byte> octets) {
  Sha256 digest;
  digest.update(octets);
  return digest.finish();
}

}  // namespace suite::results
