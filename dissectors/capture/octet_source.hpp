// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets in sequence, from a file, standard input or memory, decompressed if they are gzip or zstd.
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
  /// Fills the front of `buffer` (not empty) and returns how far; 0 at the end, or if it cannot
  /// continue.
  virtual std::size_t read(std::span<std::byte> buffer) = 0;
  /// All octets that read() has not returned, if they are in memory: they stay there, as they are,
  /// while the source exists. Nothing: they have to be read.
  [[nodiscard]] virtual base::Bytes in_place() const { return {}; }
  /// Why the octets stopped, in one line; empty while they continue and at their proper end.
  [[nodiscard]] virtual const std::string& fault() const = 0;
};

/// A file, or standard input for `-`. The error is one line that names it. An ordinary file is
/// mapped: if it becomes shorter while it is read, the process gets SIGBUS.
[[nodiscard]] std::expected<std::unique_ptr<OctetSource>, std::string> open_octets(
    const std::string& path);
/// Octets in memory that outlives the source.
[[nodiscard]] std::unique_ptr<OctetSource> octets_in_memory(base::Bytes octets);
/// The same octets, decompressed if they begin as gzip or zstd does. Keeps only a buffer and the
/// compressor's window of them (at most 128 MiB), however large they grow.
[[nodiscard]] std::unique_ptr<OctetSource> unpacked(std::unique_ptr<OctetSource> source);

}  // namespace dissectors::capture
