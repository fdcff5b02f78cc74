// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/terminate_reading.hpp"

#include <algorithm>
#include <utility>

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// The first four octets as Figures 7 and 8 lay them out.
wire::Terminate control_of(wire::Bytes content) {
  const std::uint16_t bits =
      wire::Reader(content).read<wire::TerminateControl>().header_control.value();
  wire::Terminate terminate;
  terminate.cause = *wire::parse_terminate_cause(content);
  terminate.m = (bits & wire::TerminateControl::m) != 0;
  terminate.d = (bits & wire::TerminateControl::d) != 0;
  terminate.r = (bits & wire::TerminateControl::r) != 0;
  terminate.reserved = static_cast<std::uint16_t>(bits & wire::TerminateControl::reserved_mask);
  return terminate;
}

/// The same from a sender that uses the bit-fields of a little-endian host: Layer and EType are
/// exchanged in the first octet, M is the lowest bit of the third, D and R are the next ones.
wire::Terminate control_of_host(wire::Bytes content) {
  const auto octet = [content](std::size_t at) { return std::to_integer<unsigned>(content[at]); };
  wire::Terminate terminate;
  terminate.cause = {.layer = static_cast<std::uint8_t>(octet(0) & 0xFU),
                     .type = static_cast<std::uint8_t>(octet(0) >> 4U),
                     .code = static_cast<std::uint8_t>(octet(1))};
  terminate.m = (octet(2) & 1U) != 0;
  terminate.d = (octet(2) & 2U) != 0;
  terminate.r = (octet(2) & 4U) != 0;
  terminate.reserved = static_cast<std::uint16_t>((octet(2) >> 3U) << 8U | octet(3));
  return terminate;
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

std::optional<TerminateReading> read_terminate_control(wire::Bytes content) {
  using Layout = TerminateReading::Layout;
  if (content.size() < sizeof(wire::TerminateControl)) return std::nullopt;
  const wire::Terminate stated = control_of(content);
  const wire::Bytes rest = content.subspan(sizeof(wire::TerminateControl));
  const TerminateReading as_specified{Layout::as_specified, stated};
  // Without headers the values alone do not show which reading is meant.
  if (rest.empty() || agrees(stated, rest)) return as_specified;
  wire::Terminate exchanged = stated;
  std::swap(exchanged.cause.layer, exchanged.cause.type);
  if (!wire::is_registered(stated.cause) && agrees(exchanged, rest))
    return TerminateReading{Layout::layer_after_type, exchanged};
  const wire::Terminate of_host = control_of_host(content);
  if (agrees(of_host, rest)) return TerminateReading{Layout::of_host, of_host};
  return as_specified;
}

std::optional<TerminateReading> read_terminate(wire::Bytes content) {
  auto reading = read_terminate_control(content);
  if (!reading) return reading;
  if (reading->layout == TerminateReading::Layout::as_specified)
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
