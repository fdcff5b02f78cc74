// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of MPA startup that a trace can show broken: the contents of Request and Reply, who may
// send when, the RTR indication, and the depths that startup settled.
#pragma once

#include <array>
#include <optional>

#include "dissectors/analyzer/statement.hpp"

namespace dissectors::analyzer {

class StartupRules {
 public:
  StartupRules(Findings findings, Order order) : findings_(findings), order_(order) {}

  const Negotiated& frame(const MpaFrameSeen& seen);
  /// To be called for every FPDU before anything else judges it.
  void fpdu(const Incoming& incoming);
  /// An FPDU of which nothing but its place is known.
  void unreadable(const FpduSeen& fpdu);
  void hole(Direction direction);
  void finish();

  /// A Read Request made it `outstanding` Reads of this sender at once.
  void reads_outstanding(const Incoming& incoming, std::uint32_t outstanding);
  /// Whether this Read Request is the RTR indication: it is not held against the depths.
  [[nodiscard]] bool is_rtr(const FpduSeen& fpdu) const;
  [[nodiscard]] const Negotiated& negotiated() const { return negotiated_; }
  /// Both frames were seen.
  [[nodiscard]] bool complete() const { return request_ && reply_; }
  /// DDP and RDMAP version 0 may be right: a frame of revision 0 was seen, or no frame at all.
  [[nodiscard]] bool version_zero_possible() const;

 private:
  using Values = rnic::wire::EnhancedWords::Values;
  struct Frame {
    Place place;
    rnic::wire::MpaFlags flags;
    std::uint8_t revision = 0;
    std::optional<Values> values;
    std::string text;
  };
  struct First {
    Place place;
    Certainty certainty = Certainty::certain;
    std::string text;
    std::optional<std::uint64_t> received;  ///< see FpduSeen
  };

  void check_frame(const MpaFrameSeen& seen);
  void check_enhanced(const MpaFrameSeen& seen, const std::string& text);
  void check_reply();
  void check_reply_values(const Values& request, const Values& reply);
  void settle();
  [[nodiscard]] Role role(Direction direction) const;
  [[nodiscard]] static First first_of(const FpduSeen& fpdu);
  [[nodiscard]] std::optional<Certainty> sent_before(const First& fpdu, const Place& other) const;
  void raise_before_reply(const First& fpdu, Certainty certainty);
  void check_turn(const FpduSeen& fpdu, Role role);
  void check_first(const Incoming& incoming);
  void check_rtr(const Incoming& incoming);
  void check_first_terminate(const Incoming& incoming);
  void check_later_terminate(const Incoming& incoming);
  void confirm_early_responder(const FpduSeen* by_initiator);

  Findings findings_;
  Order order_;
  Negotiated negotiated_;
  std::optional<Frame> request_, reply_;
  std::array<bool, 2> holes_{}, sent_{};
  bool reject_reported_ = false;
  std::optional<First> early_initiator_, early_responder_;
  std::uint64_t rtr_offset_ = ~std::uint64_t{0};  ///< of the Read Request that was the RTR
};

}  // namespace dissectors::analyzer
