// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/pcap_file.hpp"

namespace dissectors::capture {

namespace {

constexpr std::uint32_t magic_nanoseconds = 0xA1B23C4D;
constexpr std::uint32_t snapshot_length = 262144;
constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

void put(std::vector<std::byte>& file, std::uint32_t value, int octets) {
  for (int i = 0; i < octets; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
}

}  // namespace

std::vector<std::byte> pcap_header(LinkType link) {
  std::vector<std::byte> file;
  put(file, magic_nanoseconds,
      4);  // written in little-endian order, which readers see by the magic number
  put(file, 2, 2);
  put(file, 4, 2);
  put(file, 0, 4);
  put(file, 0, 4);
  put(file, snapshot_length, 4);
  put(file, static_cast<std::uint32_t>(link), 4);
  return file;
}

void append_pcap_frame(std::vector<std::byte>& file, const FrameView& frame) {
  put(file, static_cast<std::uint32_t>(frame.time / nanoseconds_per_second), 4);
  put(file, static_cast<std::uint32_t>(frame.time % nanoseconds_per_second), 4);
  put(file, static_cast<std::uint32_t>(frame.octets.size()), 4);
  put(file, frame.original_length, 4);
  file.insert(file.end(), frame.octets.begin(), frame.octets.end());
}

std::vector<std::byte> pcap_file(LinkType link, std::span<const Frame> frames) {
  std::vector<std::byte> file = pcap_header(link);
  for (const Frame& frame : frames)
    append_pcap_frame(
        file,
        {.time = frame.time, .original_length = frame.original_length, .octets = frame.octets});
  return file;
}

}  // namespace dissectors::capture
