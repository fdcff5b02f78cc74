// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/sha256.hpp"

#include <array>
#include <stdexcept>

#include <openssl/evp.h>

#include "base/hex.hpp"

namespace base {

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("libcrypto offers no SHA-256");
}

void Sha256::update(std::span<const std::byte> octets) {
  if (EVP_DigestUpdate(context_.get(), octets.data(), octets.size()) != 1)
    throw std::runtime_error("libcrypto failed to compute a SHA-256");
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(context_.get(), digest.data(), &size) != 1)
    throw std::runtime_error("libcrypto failed to compute a SHA-256");
  return to_hex(digest.data(), size);
}

std::string sha256(std::span<const std::byte> octets) {
  Sha256 digest;
  digest.update(octets);
  return digest.finish();
}

}  // namespace base
