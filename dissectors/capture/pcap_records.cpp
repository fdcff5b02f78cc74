// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/pcap_records.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace dissectors::capture {

namespace {

constexpr std::uint32_t magic_of_microseconds = 0xA1B2C3D4, magic_of_nanoseconds = 0xA1B23C4D;

std::uint32_t number(base::Bytes octets, std::size_t at, bool swapped) {
  std::uint32_t value = 0;
  std::memcpy(&value, octets.data() + at, sizeof value);
  return swapped ? std::byteswap(value) : value;
}

std::optional<LinkType> link_of(std::uint32_t number) {
  constexpr std::array known{LinkType::null_loopback, LinkType::ethernet,  LinkType::raw_ip,
                             LinkType::loop,          LinkType::linux_sll, LinkType::raw_ipv4,
                             LinkType::raw_ipv6,      LinkType::linux_sll2};
  const auto link = static_cast<LinkType>(number);
  return std::ranges::find(known, link) != known.end() ? std::optional(link) : std::nullopt;
}

}  // namespace

std::optional<PcapFileHeader> ordinary_pcap(base::Bytes head) {
  if (head.size() < pcap_file_header_size) return std::nullopt;
  PcapFileHeader header;
  for (const bool swapped : {false, true}) {
    const std::uint32_t magic = number(head, 0, swapped);
    if (magic != magic_of_microseconds && magic != magic_of_nanoseconds) continue;
    header.swapped = swapped;
    header.nanoseconds = magic == magic_of_nanoseconds;
    const std::uint32_t versions = number(head, 4, swapped);
    const bool big_endian = (std::endian::native == std::endian::big) != swapped;
    if (versions != (big_endian ? 0x00020004U : 0x00040002U)) return std::nullopt;
    header.snapshot = number(head, 16, swapped);
    if (header.snapshot == 0 || header.snapshot > longest_captured_frame)
      header.snapshot = longest_captured_frame;
    const auto link = link_of(number(head, 20, swapped));
    if (!link) return std::nullopt;
    header.link = *link;
    return header;
  }
  return std::nullopt;
}

PcapRecordHeader parse_record_header(const PcapFileHeader& file, base::Bytes head) {
  // Times before 1970 are negative, as libpcap reads them.
  const auto seconds = static_cast<std::int32_t>(number(head, 0, file.swapped));
  const auto fraction = static_cast<std::int32_t>(number(head, 4, file.swapped));
  const std::int64_t unit = file.nanoseconds ? 1 : 1000;
  return {.time = static_cast<std::uint64_t>(std::int64_t{seconds} * 1'000'000'000 +
                                             std::int64_t{fraction} * unit),
          .captured = number(head, 8, file.swapped),
          .original = number(head, 12, file.swapped)};
}

}  // namespace dissectors::capture
