// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads a capture file, pcap or pcapng, compressed or not, frame by frame, with only one frame and
// some buffers in memory.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "dissectors/capture/frame.hpp"
#include "dissectors/capture/octet_source.hpp"

namespace dissectors::capture {

/// A frame of a capture; `octets` hold until the next one is read.
struct FrameView {
  std::uint64_t time = 0;  ///< nanoseconds since 1970, UTC
  /// On the wire; larger than `octets` where the capture cut it.
  std::uint32_t original_length = 0;
  base::Bytes octets;
};

/// Why reading stopped before the proper end of the file.
struct Tear {
  std::uint64_t offset = 0;  ///< octets of the (unpacked) file before the record that is torn
  std::uint64_t frames = 0;  ///< read before it
  std::string reason;        ///< one line
  /// The file continues, but not in a form that is read here.
  bool unsupported = false;
};

class CaptureReader {
 public:
  /// A file, or standard input for `-`. The error is one line that names it and says what to do.
  [[nodiscard]] static std::expected<CaptureReader, std::string> open(const std::string& path);
  /// The same for octets from elsewhere; `name` is for the error.
  [[nodiscard]] static std::expected<CaptureReader, std::string> read_from(
      std::unique_ptr<OctetSource> source, const std::string& name);
  CaptureReader(CaptureReader&&) noexcept;
  CaptureReader& operator=(CaptureReader&&) noexcept;
  ~CaptureReader();

  /// Of all its frames: a file whose interfaces have several is not read.
  [[nodiscard]] LinkType link() const;
  /// Whether the octets of a frame stay where they are as long as the reader exists, not only until
  /// the next frame.
  [[nodiscard]] bool frames_stay() const;
  /// Whether the thread that calls next() then reads all octets of the frame, or only its headers: for
  /// speed, what is read next is fetched ahead. All of them, unless it is told otherwise.
  void octets_follow(bool follow);
  /// The next frame, or nothing at the end or at a tear.
  [[nodiscard]] std::optional<FrameView> next();
  [[nodiscard]] const std::optional<Tear>& tear() const;
  [[nodiscard]] std::uint64_t frames() const;  ///< read so far

 private:
  struct State;
  explicit CaptureReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dissectors::capture
