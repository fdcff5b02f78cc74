// SPDX-License-Identifier: GPL-2.0-or-later
// The analyzer's results for each frame, kept as long as a capture file is open, so that any frame
// can be shown at any time and in any order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "dissectors/wireshark/message_assembly.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::wireshark {

/// One connection, as far as it is known so far.
struct ConnectionFacts {
  analyzer::Connection connection;
  analyzer::Negotiated negotiated;
  bool iwarp = false;                   ///< MPA frames or FPDUs were seen in it
  std::uint32_t ordinal = 0;            ///< among all connections of the capture file
  std::vector<std::byte> private_data;  ///< of the ULP, in the MPA Request
};

/// Messages of one connection that are not complete or not answered.
struct Conversation {
  ConnectionFacts facts;
  std::array<MessageAssembly, 2> assemblies;
  std::uint32_t exchanges = 0;
  /// Read Requests of either direction by sink STag and offset, which a Read Response repeats.
  std::array<std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>, 2> reads;
};

/// Octets from the analyzer: their place in the frame, or a copy if they are in several frames or
/// between Markers.
struct KeptOctets {
  std::uint32_t offset = 0;  ///< in the frame; meaningful if `in_frame`
  std::uint32_t length = 0;
  bool in_frame = false;
  std::vector<std::byte> copy;  ///< `length` octets if not `in_frame`
};

struct MpaFrameFact {
  analyzer::Place place;
  rnic::wire::MpaFrameKind kind = rnic::wire::MpaFrameKind::request;
  rnic::wire::MpaFlags flags;
  std::uint8_t revision = 0;
  std::uint32_t private_data = 0;  ///< octets of it that came
  KeptOctets octets;               ///< from the key on
};

struct FpduFact {
  analyzer::Place place;
  std::uint16_t ulpdu_length = 0;
  KeptOctets ulpdu;
  std::vector<std::byte> pad;
  analyzer::Crc crc = analyzer::Crc::unknown;
  std::uint32_t crc_value = 0, crc_expected = 0;
  std::vector<analyzer::MarkerSeen> markers;
  bool begins_segment = false, ends_segment = false, in_one_segment = false;
  analyzer::Certainty certainty = analyzer::Certainty::certain;
  // About its message.
  bool has_segment = false, tagged = false;
  bool first_segment = false, last_segment = false;
  rnic::wire::Opcode opcode{};
  std::uint64_t message = 0, message_octets = 0, payload_octets = 0;
  std::uint32_t request_frame = 0;  ///< 0: it answers no request that was seen
  std::uint64_t response_time = 0;  ///< nanoseconds
  std::uint32_t blamed_frame = 0;   ///< of the segment that this Terminate blames; 0: none
  std::uint32_t joined_in = 0;      ///< the frame that shows the message as a whole; 0: none
};

/// A whole message.
struct MessageFact {
  MessageHead head;
  analyzer::Direction direction = analyzer::Direction::from_first;
  std::vector<std::uint32_t> frames;  ///< one for each of its FPDUs, if they are several
  KeptOctets payload;
  std::optional<rnic::wire::ReadRequestHeader> read = {};  ///< of a Read Request
  /// A number of its own in the connection; a Read Response has that of its request.
  std::uint32_t exchange = 0;
};

struct Finding {
  analyzer::Place place;
  std::string_view rule;  ///< the catalogue owns the ids
  std::vector<std::string_view> also;
  std::string actual, admissible;
  analyzer::Certainty certainty = analyzer::Certainty::certain;
  std::uint32_t frame = 0;  ///< that rnic-lint names
};

struct NoteFact {
  analyzer::NoteKind kind = analyzer::NoteKind::not_judged;
  std::string text;
  std::uint32_t frame = 0;
};

/// The effects of one frame.
struct Events {
  std::vector<MpaFrameFact> mpa_frames;
  std::vector<FpduFact> fpdus;
  std::vector<MessageFact> messages;  ///< complete with this frame
  std::vector<Finding> findings;
  std::vector<NoteFact> notes;
  std::vector<std::uint32_t> responses;  ///< frames that answer a request in this one
  std::vector<std::uint32_t> blamed_by;  ///< frames of Terminates that blame a segment in this one
  [[nodiscard]] bool empty() const {
    return mpa_frames.empty() && fpdus.empty() && findings.empty() && notes.empty();
  }
};

struct FrameFacts {
  const ConnectionFacts* connection = nullptr;
  analyzer::Direction direction = analyzer::Direction::from_first;
  bool opens = false;              ///< the connection; reported when it is taken, not kept
  std::unique_ptr<Events> events;  ///< nothing: none
};

/// The sink that keeps them.
class FactStore final : public analyzer::Sink {
 public:
  /// A new analyzer numbers its connections from 1 again.
  void forget_numbers() { base_ = connections_.size(); }
  /// To be called before a segment is given to the analyzer; `frame` are the octets of its frame.
  void begin(std::uint32_t number, base::Bytes frame);
  /// To be called after it.
  void belongs(const capture::Flow& flow);
  /// The effects of the latest frame, on itself and on earlier ones.
  [[nodiscard]] const FrameFacts& latest() const { return latest_; }
  /// Stores the effects of the latest frame with the frames that they are about.
  void settle();
  /// What is known about a frame so far; nothing if it has no TCP segment.
  [[nodiscard]] const FrameFacts* facts(std::uint32_t number) const;

  void opened(const analyzer::Connection& connection) override;
  void mpa_frame(const analyzer::Connection& connection,
                 const analyzer::MpaFrameSeen& seen) override;
  void negotiated(const analyzer::Connection& connection,
                  const analyzer::Negotiated& settled) override;
  void fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) override;
  void message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) override;
  /// One-liners are made when a frame is shown.
  [[nodiscard]] bool wants_summaries() const override { return false; }
  void finding(const analyzer::Connection& connection, const analyzer::Finding& found) override;
  void note(const analyzer::Connection& connection, const analyzer::Note& said) override;

 private:
  Conversation& conversation(const analyzer::Connection& connection);
  ConnectionFacts& known(const analyzer::Connection& connection);
  void whole(Conversation& between, MessageFact fact);
  void point_to_whole(const MessageFact& fact);
  [[nodiscard]] KeptOctets keep(analyzer::Bytes octets, const analyzer::Place& place) const;
  [[nodiscard]] std::uint32_t frame_of(const analyzer::Place& place) const;
  FrameFacts& facts_of(std::uint32_t number);
  Events& events_of(std::uint32_t number);
  /// Whether all of it is about the frame itself.
  [[nodiscard]] bool concern_only(std::uint32_t number, const Events& events) const;
  void distribute(Events& events);
  Events& current();

  struct FlowHash {
    std::size_t operator()(const capture::Flow& flow) const;
  };
  std::vector<std::unique_ptr<Conversation>> connections_;
  std::size_t base_ = 0;  ///< the index of the analyzer's connection 1
  std::unordered_map<capture::Flow, ConnectionFacts*, FlowHash> by_flow_;  ///< canonical flows
  std::deque<FrameFacts> frames_;                                          ///< by number
  FrameFacts latest_;
  std::uint32_t number_ = 0;
  base::Bytes frame_;
};

}  // namespace dissectors::wireshark
