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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "dissectors/wireshark/fpdu_fact.hpp"
#include "dissectors/wireshark/message_assembly.hpp"
#include "dissectors/wireshark/packed_fpdus.hpp"

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
  /// Of either direction, by number: the frames that show messages of several FPDUs as a whole.
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, 2> joined_in;
};

struct MpaFrameFact {
  analyzer::Place place;
  rnic::wire::MpaFrameKind kind = rnic::wire::MpaFrameKind::request;
  rnic::wire::MpaFlags flags;
  std::uint8_t revision = 0;
  std::uint32_t private_data = 0;  ///< octets of it that came
  KeptOctets octets;               ///< from the key on
};

/// A whole message of several FPDUs, or one that is a single FPDU.
struct MessageFact {
  MessageHead head;
  analyzer::Direction direction = analyzer::Direction::from_first;
  std::vector<std::uint32_t> frames;  ///< one for each of its FPDUs, if they are several
  KeptOctets payload;                 ///< empty if they are no longer kept
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

/// The effects of a frame that most frames do not have.
struct Events {
  std::vector<MpaFrameFact> mpa_frames;
  std::vector<MessageFact> joined;  ///< messages of several FPDUs, complete with this frame
  std::vector<Finding> findings;
  std::vector<NoteFact> notes;
};

inline const Events no_events;

/// One frame, to be shown.
struct FrameFacts {
  const ConnectionFacts* connection = nullptr;
  analyzer::Direction direction = analyzer::Direction::from_first;
  bool opens = false;  ///< the connection; reported when it is taken, not kept
  std::vector<FpduFact> fpdus;
  std::vector<std::uint32_t> responses;  ///< frames that answer a request in this one
  std::vector<std::uint32_t> blamed_by;  ///< frames of Terminates that blame a segment in this one
  const Events* events = &no_events;
  [[nodiscard]] bool without_effects() const {
    return events == &no_events && fpdus.empty() && responses.empty() && blamed_by.empty();
  }
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
  /// The layers above decode this joined message of the latest frame, and may ask for its octets
  /// again.
  void decoded_above(const MessageFact& message) { decoded_above_.push_back(&message); }
  /// Stores the effects of the latest frame with the frames that they are about.
  void settle();
  /// What is known so far about a frame with these octets; nothing if it has no TCP segment. Valid until the
  /// next call.
  [[nodiscard]] const FrameFacts* facts(std::uint32_t number, base::Bytes frame);

  void opened(const analyzer::Connection& connection) override;
  void mpa_frame(const analyzer::Connection& connection,
                 const analyzer::MpaFrameSeen& seen) override;
  void negotiated(const analyzer::Connection& connection,
                  const analyzer::Negotiated& settled) override;
  void fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) override;
  void message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) override;
  void finding(const analyzer::Connection& connection, const analyzer::Finding& found) override;
  void note(const analyzer::Connection& connection, const analyzer::Note& said) override;

 private:
  /// One frame, as it is kept.
  struct Kept {
    const ConnectionFacts* connection = nullptr;
    PackedFpdus fpdus;
    std::unique_ptr<Events> events;
    analyzer::Direction direction = analyzer::Direction::from_first;
  };

  Conversation& conversation(const analyzer::Connection& connection);
  ConnectionFacts& known(const analyzer::Connection& connection);
  std::uint32_t exchange_of(Conversation& between, const MessageHead& head,
                            analyzer::Direction direction, analyzer::Bytes payload);
  [[nodiscard]] KeptOctets keep(analyzer::Bytes octets, const analyzer::Place& place) const;
  [[nodiscard]] bool crc_in_frame(const FpduFact& fact) const;
  [[nodiscard]] std::uint32_t frame_of(const analyzer::Place& place) const;
  Kept& kept(std::uint32_t number);
  Events& events_of(std::uint32_t number);
  /// Whether all of it is about the frame itself.
  [[nodiscard]] bool concern_only(std::uint32_t number, const Events& events) const;
  void distribute(Events& events);
  void forget_octets(Events& events);
  void settle_fpdus(std::span<const FpduFact> fpdus);
  Events& current();

  struct FlowHash {
    std::size_t operator()(const capture::Flow& flow) const;
  };
  std::vector<std::unique_ptr<Conversation>> connections_;
  std::size_t base_ = 0;  ///< the index of the analyzer's connection 1
  std::unordered_map<capture::Flow, ConnectionFacts*, FlowHash> by_flow_;  ///< canonical flows
  std::deque<Kept> frames_;                                                ///< by number
  /// Frames that answer requests, or are of Terminates, by the frames of the requests or of what is
  /// blamed.
  std::unordered_multimap<std::uint32_t, std::uint32_t> responses_, blamed_by_;
  FrameFacts latest_, shown_;
  std::unique_ptr<Events> latest_events_;
  std::vector<const MessageFact*> decoded_above_;
  std::size_t kept_for_display_ = 0;  ///< octets
  std::uint32_t number_ = 0;
  base::Bytes frame_;
};

}  // namespace dissectors::wireshark
