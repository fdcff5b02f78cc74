// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/arrival.hpp"

#include <fmt/format.h>

#include "dissectors/analyzer/terminate_reading.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "reference_rnic/wire/zeros.hpp"

namespace suite::lower_tester {

wire::MpaFrame ReceivedFrame::frame() const& {
  const auto parsed = wire::parse_mpa_frame(kind, octets);
  return parsed ? parsed->frame : wire::MpaFrame{};
}

std::optional<wire::Terminate> Message::terminate() const& {
  if (tagged || opcode() != wire::Opcode::terminate) return std::nullopt;
  const auto reading = dissectors::analyzer::read_terminate(payload);
  if (!reading) return std::nullopt;
  return reading->terminate;
}

bool Message::is_terminate_as_specified() const {
  using Layout = dissectors::analyzer::TerminateReading::Layout;
  if (tagged || opcode() != wire::Opcode::terminate) return false;
  const auto reading = dissectors::analyzer::read_terminate(payload);
  if (!reading || reading->layout != Layout::as_specified) return false;
  const auto whole = wire::parse_terminate(payload);
  if (whole || whole.error() != wire::TerminateError::trailing_octets) return whole.has_value();
  const wire::Terminate& terminate = reading->terminate;
  const std::size_t announced = sizeof(wire::TerminateControl) +
                                (terminate.segment_length ? sizeof(wire::be16) : 0) +
                                terminate.ddp_header.size() + terminate.rdmap_header.size();
  return wire::all_zero(wire::Bytes(payload).subspan(announced));
}

std::optional<ReadRequestFields> Message::read_request() const {
  if (opcode() != wire::Opcode::read_request) return std::nullopt;
  wire::Reader in(payload);
  const auto header = in.read<wire::ReadRequestHeader>();
  if (!in.at_end()) return std::nullopt;
  return ReadRequestFields{header.sink_stag.value(), header.sink_offset.value(),
                           header.length.value(), header.source_stag.value(),
                           header.source_offset.value()};
}

std::optional<AtomicRequestFields> Message::atomic_request() const {
  if (opcode() != wire::Opcode::atomic_request) return std::nullopt;
  wire::Reader in(payload);
  const auto h = in.read<wire::AtomicRequestHeader>();
  if (!in.at_end()) return std::nullopt;
  return AtomicRequestFields{h.operation.value(),        h.request_id.value(),
                             h.remote_stag.value(),      h.remote_offset.value(),
                             h.add_or_swap_data.value(), h.add_or_swap_mask.value(),
                             h.compare_data.value(),     h.compare_mask.value()};
}

const Message* Arrival::message(wire::Opcode opcode) const& {
  const Message* message = as<Message>();
  return message != nullptr && !message->cut_off && message->opcode() == opcode ? message : nullptr;
}

std::optional<wire::Terminate> Arrival::terminate() const& {
  const Message* message = as<Message>();
  return message != nullptr ? message->terminate() : std::nullopt;
}

bool Arrival::is_terminate_as_specified() const {
  const Message* message = as<Message>();
  return message != nullptr && message->is_terminate_as_specified();
}

namespace {

struct Describe {
  std::string operator()(const Nothing& nothing) const {
    return fmt::format(
        "nothing within {} ms",
        std::chrono::duration_cast<std::chrono::milliseconds>(nothing.waited).count());
  }
  std::string operator()(const ReceivedFrame& frame) const { return wire::describe(frame.frame()); }
  std::string operator()(const Message& message) const {
    std::string text = wire::describe_ulpdu(message.segments.front());
    if (message.segments.size() > 1)
      text += fmt::format(" .. {} segments, {} octets", message.segments.size(),
                          message.payload.size());
    if (message.cut_off) text += " (cut off)";
    return text;
  }
  std::string operator()(const Malformed& malformed) const { return malformed.what; }
  std::string operator()(const PeerClosed& closed) const {
    return closed.mid_fpdu ? "FIN in the middle of a frame" : "FIN";
  }
  std::string operator()(const Broken& broken) const {
    return fmt::format("connection {}", rnic::llp::name(broken.ending));
  }
};

}  // namespace

std::string Arrival::text() const { return std::visit(Describe{}, what); }

std::string Arrival::hex() const {
  if (const auto* frame = as<ReceivedFrame>()) return wire::hex(frame->octets);
  if (const auto* message = as<Message>()) return wire::hex(message->segments.front());
  if (const auto* malformed = as<Malformed>()) return wire::hex(malformed->octets);
  return {};
}

}  // namespace suite::lower_tester
