// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SHA-256 digests.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace base {

/// A digest computed over octets given in pieces. Throws std::runtime_error if libcrypto refuses,
/// which only a restricted library configuration does.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> octets);
  /// The digest as 64 lower-case hex digits. Call it once, last.
  [[nodiscard]] std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

[[nodiscard]] std::string sha256(std::span<const std::byte> octets);

}  // namespace base
