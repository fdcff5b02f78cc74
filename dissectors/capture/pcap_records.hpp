// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of an ordinary pcap file, viewed in place: libpcap copies each of them twice.
#pragma once

#include <cstdint>
#include <optional>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

inline constexpr std::size_t pcap_file_header_size = 24, pcap_record_header_size = 16;
/// No capture program writes a longer frame of the links that are read here.
inline constexpr std::size_t longest_captured_frame = 262144;

struct PcapFileHeader {
  bool swapped = false;      ///< of the other byte order than this machine
  bool nanoseconds = false;  ///< else microseconds
  std::uint32_t snapshot = 0;
  LinkType link = LinkType::ethernet;
};
/// Nothing if the file is of another kind or version, or of a link that is not read here: libpcap
/// reads it, or reports why it cannot be read.
[[nodiscard]] std::optional<PcapFileHeader> ordinary_pcap(base::Bytes head);

struct PcapRecordHeader {
  std::uint64_t time = 0;  ///< nanoseconds since 1970; hostile ones wrap
  std::uint32_t captured = 0, original = 0;
};
/// `head` holds 16 octets.
[[nodiscard]] PcapRecordHeader parse_record_header(const PcapFileHeader& file, base::Bytes head);

}  // namespace dissectors::capture
