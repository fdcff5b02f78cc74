// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/tests/transcript.hpp"

namespace rnic::deviants::test {

using namespace stream;        // NOLINT(google-build-using-namespace): the subject's words
using namespace stream::test;  // NOLINT(google-build-using-namespace)

namespace {

std::string cause_text(wire::TerminateCause cause) {
  return std::to_string(cause.layer) + "/" + std::to_string(cause.type) + "/" +
         std::to_string(cause.code);
}

struct Describer {
  std::string operator()(const ConnectRequest& event) const {
    std::string text = "connect request rev " + std::to_string(event.revision) + " flags " +
                       std::to_string(event.flags.octet) + " data " + hex(event.private_data);
    if (event.enhanced)
      text += " ird " + std::to_string(event.enhanced->ird) + " ord " +
              std::to_string(event.enhanced->ord);
    return text;
  }
  std::string operator()(const Established& event) const {
    const Negotiated& agreed = event.negotiated;
    return "established rev " + std::to_string(agreed.revision) + " crc " +
           std::to_string(agreed.crc) + " markers " + std::to_string(agreed.send_markers) +
           std::to_string(agreed.receive_markers) + " p2p " + std::to_string(agreed.peer_to_peer) +
           " ird " + std::to_string(agreed.ird) + " ord " + std::to_string(agreed.ord) + " peer " +
           std::to_string(agreed.peer_ird) + " " + std::to_string(agreed.peer_ord) + " data " +
           hex(event.private_data);
  }
  std::string operator()(const Rejected& event) const {
    return "rejected data " + hex(event.private_data);
  }
  std::string operator()(const StartupFailed& event) const {
    return "startup failed " + std::to_string(static_cast<int>(event.fault));
  }
  std::string operator()(const MessageReceived& event) const {
    std::string text = "message " + std::to_string(event.work_id) + " opcode " +
                       std::to_string(static_cast<int>(event.opcode)) + " length " +
                       std::to_string(event.length);
    if (event.invalidated) text += " invalidated " + std::to_string(*event.invalidated);
    if (event.immediate) text += " immediate " + hex(*event.immediate);
    return text;
  }
  std::string operator()(const ReceiveFailed& event) const {
    return "receive failed " + std::to_string(event.work_id) + (event.too_long ? " too long" : "");
  }
  std::string operator()(const WorkDone& event) const {
    return "work " + std::to_string(event.id) + " " + name(event.status) + " " +
           std::to_string(event.length) + " " + std::to_string(event.original_value);
  }
  std::string operator()(const TerminateReceived& event) const {
    return "terminate received " + cause_text(event.cause) + " " + hex(event.message);
  }
  std::string operator()(const Failed& event) const {
    return "failed " + cause_text(event.cause) + (event.terminate_queued ? " told" : " untold") +
           " " + event.detail;
  }
  std::string operator()(const PeerClosed&) const { return "peer closed"; }
  std::string operator()(const Lost&) const { return "lost"; }
  std::string operator()(const Closed&) const { return "closed"; }
};

}  // namespace

std::string describe(const Event& event) { return std::visit(Describer{}, event); }

std::string transcript(const End& end) {
  std::string text = "sent " + hex(end.sent) + "\n";
  for (const Event& event : end.events) text += describe(event) + "\n";
  text += "closing " + std::to_string(static_cast<int>(end.stream.closing())) + " state " +
          name(end.stream.state()) + (end.reset ? " reset" : "") +
          (end.closed_half ? " closed" : "") + "\n";
  text += "wakeup " + std::to_string(end.stream.next_wakeup().has_value()) + " receives " +
          std::to_string(end.memory.receives_left()) + "\n";
  for (const std::uint32_t stag : end.memory.invalidated())
    text += "invalidated " + std::to_string(stag) + "\n";
  return text + end.memory.dump();
}

}  // namespace rnic::deviants::test
