// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/pcapng_writer.hpp"

#include <algorithm>
#include <limits>

namespace dissectors::capture {

namespace {

// Block types and options of draft-ietf-opsawg-pcapng.
constexpr std::uint32_t section_header = 0x0A0D0D0A, interface_description = 1, enhanced_packet = 6;
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::uint32_t opt_endofopt = 0, opt_comment = 1, shb_userappl = 4, if_tsresol = 9;
constexpr std::size_t longest_option = std::numeric_limits<std::uint16_t>::max();

void put(std::vector<std::byte>& file, std::uint64_t value, int octets) {
  for (int i = 0; i < octets; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put_padded(std::vector<std::byte>& file, base::Bytes octets) {
  file.insert(file.end(), octets.begin(), octets.end());
  put(file, 0, static_cast<int>((4 - octets.size() % 4) % 4));
}

void put_option(std::vector<std::byte>& file, std::uint32_t code, base::Bytes value) {
  value = value.first(std::min(value.size(), longest_option));
  put(file, code, 2);
  put(file, value.size(), 2);
  put_padded(file, value);
}

void put_text(std::vector<std::byte>& file, std::uint32_t code, std::string_view text) {
  if (!text.empty()) put_option(file, code, std::as_bytes(std::span(text)));
}

// Begins a block; `end_block` fills in its length when it is known.
std::size_t begin_block(std::vector<std::byte>& file, std::uint32_t type) {
  const std::size_t begin = file.size();
  put(file, type, 4);
  put(file, 0, 4);
  return begin;
}

void end_block(std::vector<std::byte>& file, std::size_t begin) {
  const std::size_t length = file.size() - begin + 4;
  put(file, length, 4);
  for (std::size_t i = 0; i < 4; ++i)
    file[begin + 4 + i] = static_cast<std::byte>(length >> (8 * i));
}

}  // namespace

std::vector<std::byte> pcapng_header(LinkType link, std::string_view application,
                                     std::string_view comment) {
  std::vector<std::byte> file;
  const std::size_t section = begin_block(file, section_header);
  put(file, byte_order_magic, 4);
  put(file, 1, 2);
  put(file, 0, 2);
  put(file, std::numeric_limits<std::uint64_t>::max(), 8);  // length of the section: not stated
  put_text(file, opt_comment, comment);
  put_text(file, shb_userappl, application);
  put(file, opt_endofopt, 4);
  end_block(file, section);
  const std::size_t interface = begin_block(file, interface_description);
  put(file, static_cast<std::uint32_t>(link), 2);
  put(file, 0, 2);
  put(file, 0, 4);  // no snapshot length
  constexpr std::byte nanoseconds{9};
  put_option(file, if_tsresol, base::Bytes(&nanoseconds, 1));
  put(file, opt_endofopt, 4);
  end_block(file, interface);
  return file;
}

void append_pcapng_frame(std::vector<std::byte>& file, const FrameView& frame,
                         std::span<const std::string> comments) {
  const std::size_t block = begin_block(file, enhanced_packet);
  put(file, 0, 4);  // the one interface
  put(file, frame.time >> 32, 4);
  put(file, frame.time, 4);
  put(file, frame.octets.size(), 4);
  put(file, frame.original_length, 4);
  put_padded(file, frame.octets);
  for (const std::string& comment : comments) put_text(file, opt_comment, comment);
  if (!comments.empty()) put(file, opt_endofopt, 4);
  end_block(file, block);
}

}  // namespace dissectors::capture
