// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of the Terminate Message that a trace can show broken: its layout, its cause, what it
// includes, and whether what it blames was sent (RFC 5040 section 4.8).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "dissectors/analyzer/rdmap_rules.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::analyzer {

class TerminateRules {
 public:
  TerminateRules(Findings findings, RdmapRules& rdmap, Order order)
      : findings_(findings),
        rdmap_(&rdmap),
        order_(order),
        kept_(order == Order::as_it_happened ? kept_of_ones_own : kept_of_a_capture) {}

  /// Every segment, since any may be blamed by the other end.
  void sent(const Incoming& incoming);
  /// A ULPDU too short for its header: it may be blamed, and cannot be compared.
  void sent_unreadable(Direction direction) { log(direction).complete = false; }
  /// The frame of the segment that it blames; 0 if that is not known.
  std::uint32_t terminate(const Incoming& incoming, const MessageStep& step);
  void lose(Direction direction) { log(direction).complete = false; }
  void ended(Direction direction, Ending ending, const Place& place);

 private:
  /// Segments remembered for each direction: of many connections, or of one's own. Powers of two.
  static constexpr std::size_t kept_of_a_capture = 32, kept_of_ones_own = 4096;
  struct SentSegment {
    std::array<std::byte, rnic::wire::untagged_header_size> header{};
    std::uint16_t ulpdu_length = 0;
    std::uint32_t frame = 0;
  };
  struct Log {
    std::vector<SentSegment> segments;  ///< a ring once there are as many as are kept
    std::uint64_t count = 0;
    bool complete = true;  ///< every segment of this direction was seen
    bool fin = false;
  };
  /// A Terminate with its parts distinguished.
  struct Parts {
    const Incoming& incoming;
    rnic::wire::Terminate terminate;
    std::optional<rnic::wire::Segment> blamed;  ///< the header it copies
  };

  Log& log(Direction direction) { return logs_[index_of(direction)]; }
  [[nodiscard]] std::optional<rnic::wire::Terminate> layout(const Incoming& incoming,
                                                            rnic::wire::Bytes content) const;
  [[nodiscard]] rnic::wire::Terminate control(const Incoming& incoming,
                                              rnic::wire::Bytes content) const;
  [[nodiscard]] bool check_headers(const Incoming& incoming, const rnic::wire::Terminate& terminate,
                                   rnic::wire::Bytes rest) const;
  void check_tail(const Incoming& incoming, const rnic::wire::Terminate& terminate,
                  rnic::wire::Bytes rest) const;
  void check_cause(const Parts& parts) const;
  void check_buffer_model(const Parts& parts) const;
  void check_code(const Parts& parts) const;
  void check_included(const Parts& parts) const;
  void check_rdma_included(const Parts& parts) const;
  std::uint32_t check_blamed(const Parts& parts);
  void check_length(const Parts& parts, std::span<const SentSegment> sent,
                    bool remembers_all) const;
  [[nodiscard]] static bool blames(const Parts& parts, const SentSegment& it);
  [[nodiscard]] static bool tells_length_of(const Parts& parts, const SentSegment& it);
  void check_read(const Parts& parts);

  Findings findings_;
  RdmapRules* rdmap_;
  Order order_;
  std::size_t kept_;
  std::array<Log, 2> logs_;
};

}  // namespace dissectors::analyzer
