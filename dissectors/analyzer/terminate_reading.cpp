// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/terminate_reading.hpp"

#include <algorithm>
#include <array>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

using Layout = TerminateReading::Layout;
using ControlOctets = std::array<std::byte, sizeof(wire::TerminateControl)>;

/// The first four octets as Figures 7 and 8 lay them out.
wire::Terminate control_of(const ControlOctets& octets) {
  const std::uint16_t bits =
      wire::Reader(octets).read<wire::TerminateControl>().header_control.value();
  wire::Terminate terminate;
  terminate.cause = *wire::parse_terminate_cause(octets);
  terminate.m = (bits & wire::TerminateControl::m) != 0;
  terminate.d = (bits & wire::TerminateControl::d) != 0;
  terminate.r = (bits & wire::TerminateControl::r) != 0;
  terminate.reserved = static_cast<std::uint16_t>(bits & wire::TerminateControl::reserved_mask);
  return terminate;
}

std::byte halves_exchanged(std::byte octet) { return octet << 4 | octet >> 4; }

std::byte bits_reversed(std::byte octet) {
  std::byte reversed{};
  for (unsigned bit = 0; bit < 8; ++bit)
    if ((octet >> bit & std::byte{1}) != std::byte{}) reversed |= std::byte{0x80} >> bit;
  return reversed;
}

/// What the sender put into the four octets, if it laid them out like this.
ControlOctets as_specified(Layout layout, ControlOctets it) {
  switch (layout) {
    case Layout::as_specified:
      return it;
    case Layout::layer_after_type:
      return {halves_exchanged(it[0]), it[1], it[2], it[3]};
    case Layout::bits_of_host:
      return {halves_exchanged(it[0]), it[1], bits_reversed(it[2]), bits_reversed(it[3])};
    case Layout::header_bits_of_host:
      return {it[0], it[1], bits_reversed(it[2]), bits_reversed(it[3])};
    case Layout::octets_of_host:
      return {it[3], it[2], it[1], it[0]};
    case Layout::header_octets_of_host:
      return {it[0], it[1], it[3], it[2]};
  }
  return it;
}

/// Whether the control octets make sense, and what they announce follows them and nothing else.
bool agrees(const wire::Terminate& terminate, wire::Bytes rest) {
  const std::size_t length = terminate.m || terminate.d ? sizeof(wire::be16) : 0;
  if (terminate.reserved != 0 || !wire::is_registered(terminate.cause) || rest.size() < length)
    return false;
  const std::size_t ddp = terminate.d ? ddp_header_size(rest.subspan(length)) : 0;
  const std::size_t rdma = terminate.r ? sizeof(wire::ReadRequestHeader) : 0;
  return rest.size() == length + ddp + rdma;
}

}  // namespace

std::size_t ddp_header_size(wire::Bytes octets) {
  return !octets.empty() && wire::DdpControl{std::to_integer<std::uint8_t>(octets.front())}.tagged()
             ? wire::tagged_header_size
             : wire::untagged_header_size;
}

std::string_view describe(Layout layout) {
  switch (layout) {
    case Layout::as_specified:
      return {};
    case Layout::layer_after_type:
      return "Layer after EType";
    case Layout::bits_of_host:
      return "its Terminate Control in the bit order of a little-endian host";
    case Layout::header_bits_of_host:
      return "M, D and R in the bit order of a little-endian host";
    case Layout::octets_of_host:
      return "the octets of its Terminate Control in the order of a little-endian host";
    case Layout::header_octets_of_host:
      return "the two octets of M, D and R in the order of a little-endian host";
  }
  return {};
}

std::optional<TerminateReading> read_terminate_control(wire::Bytes content) {
  ControlOctets octets{};
  if (content.size() < octets.size()) return std::nullopt;
  std::ranges::copy(content.first(octets.size()), octets.begin());
  const wire::Bytes rest = content.subspan(octets.size());
  const TerminateReading stated{Layout::as_specified, control_of(octets)};
  // Without headers the values alone do not show which reading is meant.
  if (rest.empty() || agrees(stated.terminate, rest)) return stated;
  for (const Layout layout :
       {Layout::layer_after_type, Layout::bits_of_host, Layout::header_bits_of_host,
        Layout::octets_of_host, Layout::header_octets_of_host}) {
    const wire::Terminate meant = control_of(as_specified(layout, octets));
    if (agrees(meant, rest)) return TerminateReading{layout, meant};
  }
  return stated;
}

std::optional<TerminateReading> read_terminate(wire::Bytes content) {
  auto reading = read_terminate_control(content);
  if (!reading) return reading;
  if (reading->layout == Layout::as_specified)
    if (const auto whole = wire::parse_terminate(content)) {
      reading->terminate = *whole;
      return reading;
    }
  wire::Terminate& terminate = reading->terminate;
  wire::Bytes rest = content.subspan(sizeof(wire::TerminateControl));
  const auto take = [&rest](std::size_t octets) {
    const wire::Bytes taken = rest.first(std::min(octets, rest.size()));
    rest = rest.subspan(taken.size());
    return taken;
  };
  if ((terminate.m || terminate.d) && rest.size() >= sizeof(wire::be16))
    terminate.segment_length = wire::Reader(take(sizeof(wire::be16))).read<wire::be16>().value();
  if (terminate.d) terminate.ddp_header = take(ddp_header_size(rest));
  if (terminate.r) terminate.rdmap_header = take(sizeof(wire::ReadRequestHeader));
  return reading;
}

}  // namespace dissectors::analyzer
