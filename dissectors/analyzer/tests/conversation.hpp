// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A made-up conversation for the tracker: frames and ULPDUs written by the codecs, and what the
// tracker reported about them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/octets.hpp"
#include "dissectors/analyzer/message_tracker.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::analyzer::tests {

namespace wire = rnic::wire;
using base::Octets;
using Values = wire::EnhancedWords::Values;
using wire::Opcode;

inline constexpr Direction initiator = Direction::from_first, responder = Direction::from_second;

// ---- ULPDUs ----

[[nodiscard]] Octets octets(std::size_t count);
struct Untagged {
  Opcode opcode = Opcode::send;
  std::uint32_t queue = 0, msn = 1, mo = 0;
  Octets payload = {};
  bool last = true;
  std::uint32_t ulp_word = 0;
};
[[nodiscard]] Octets ulpdu(const Untagged& fields);
struct Tagged {
  Opcode opcode = Opcode::rdma_write;
  std::uint32_t stag = 0x100;
  std::uint64_t to = 0x1000;
  Octets payload = {};
  bool last = true;
};
[[nodiscard]] Octets ulpdu(const Tagged& fields);
/// The octets of a header, as payload.
template <typename Header>
[[nodiscard]] Octets payload_of(const Header& header) {
  const wire::Bytes view = wire::octets_of(header);
  return {view.begin(), view.end()};
}
struct Read {
  std::uint32_t sink = 0x500;
  std::uint64_t sink_to = 0x2000;
  std::uint32_t length = 16;
  std::uint32_t source = 0x600;
  std::uint64_t source_to = 0x3000;
};
[[nodiscard]] wire::ReadRequestHeader header(const Read& read);
[[nodiscard]] Octets read_request(std::uint32_t msn, const Read& read = {});
[[nodiscard]] Octets read_response(const Read& read = {});
[[nodiscard]] wire::AtomicRequestHeader fetch_add(std::uint32_t identifier);
[[nodiscard]] Octets atomic_request(std::uint32_t msn, const wire::AtomicRequestHeader& header);
[[nodiscard]] Octets atomic_response(std::uint32_t msn, std::uint32_t identifier);
[[nodiscard]] Octets terminate(const wire::Terminate& contents, std::uint32_t msn = 1);
/// A Terminate with nothing but its cause.
[[nodiscard]] wire::Terminate because(wire::TerminateCause cause);
/// A Terminate that blames the ULPDU in the way of RFC 5040 Figure 10.
[[nodiscard]] wire::Terminate blame(wire::TerminateCause cause, wire::Bytes blamed);

// ---- the conversation ----

class Conversation final : public Reporter {
 public:
  Conversation() : tracker_(*this, judged) {}

  void request(std::uint8_t flags, std::uint8_t revision = 1,
               const std::optional<Values>& values = std::nullopt, std::size_t ulp_octets = 0);
  void reply(std::uint8_t flags, std::uint8_t revision = 1,
             const std::optional<Values>& values = std::nullopt, std::size_t ulp_octets = 0);
  /// Revision 1, CRC on.
  void start();
  /// Revision 2, the peer-to-peer model if `request` has it.
  void start(const Values& request, const Values& reply);
  void send(Direction direction, const Octets& ulpdu, Crc crc = Crc::right);
  /// An FPDU with a stated length of `length` octets, of which the capture kept those of `ulpdu`.
  void send_cut(Direction direction, const Octets& ulpdu, std::uint16_t length);
  void hole(Direction direction);
  /// The direction ends within an FPDU.
  void end_within_fpdu(Direction direction) { tracker_.unseen_segment(direction); }
  void reset(Direction direction);
  /// The senders of the next events had received so many octets of the other direction.
  void knowing(std::optional<std::uint64_t> octets) { received_ = octets; }
  /// The next events are in frames before the last ones.
  void turn_back(std::uint32_t frames) { frame_ -= frames; }
  void finish() { tracker_.finish(); }

  struct Message {
    bool first = false, last = false;
    std::uint64_t number = 0, octets = 0;
    std::uint32_t request_frame = 0;
    std::uint64_t response_time = 0;
    std::string summary;
  };
  std::vector<Finding> findings;
  std::vector<Message> messages;
  std::vector<NoteKind> notes;
  Negotiated negotiated;
  JudgedChecks judged{};

  void finding(const Finding& it) override { findings.push_back(it); }
  void note(const Note& it) override { notes.push_back(it.kind); }
  void message(const MessageSeen& it) override;

 private:
  void frame(wire::MpaFrameKind kind, std::uint8_t flags, std::uint8_t revision,
             const std::optional<Values>& values, std::size_t ulp_octets);
  Place place(Direction direction, std::size_t length);

  MessageTracker tracker_;
  std::uint32_t frame_ = 0;
  std::array<std::uint64_t, 2> offset_{};
  Certainty certainty_ = Certainty::likely;
  std::optional<std::uint64_t> received_;
};

}  // namespace dissectors::analyzer::tests
