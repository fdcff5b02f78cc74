// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets that come one after another, from a file, standard input or memory, unpacked where gzip,
// zstd or xz packed them.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

class OctetSource {
 public:
  virtual ~OctetSource() = default;
  /// Fills the front of `buffer` (not empty) and tells how far; 0 at the end, or where it cannot go
  /// on.
  virtual std::size_t read(std::span<std::byte> buffer) = 0;
  /// Why the octets stopped, in one line; empty while they go on and at their proper end.
  [[nodiscard]] virtual const std::string& fault() const = 0;
};

/// A file, or standard input for `-`. The error is one line that names it.
[[nodiscard]] std::expected<std::unique_ptr<OctetSource>, std::string> open_octets(
    const std::string& path);
/// Octets that lie in memory and outlive the source.
[[nodiscard]] std::unique_ptr<OctetSource> octets_in_memory(base::Bytes octets);
/// The same octets, unpacked if they begin as gzip, zstd or xz does. Holds no more of them than a
/// buffer and the packer's window (at most 128 MiB), however large they grow.
[[nodiscard]] std::unique_ptr<OctetSource> unpacked(std::unique_ptr<OctetSource> source);

}  // namespace dissectors::capture
