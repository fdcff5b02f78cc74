// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What every sender must do whatever the case is about:
// judged on all that the IUT sends, on every connection.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "suite/lower_tester/intake.hpp"

namespace suite::lower_tester {

/// A rule that the IUT broke by what it sent.
struct SenderFault {
  std::string_view rule;  ///< of the catalogue
  std::string expected;
  std::string actual;
  std::string hex;
};

class SenderRules {
 public:
  using Report = std::function<void(SenderFault)>;
  explicit SenderRules(Report report) : report_(std::move(report)) {}

  void check(const ReceivedFrame& frame);
  /// `max_ulpdu`: the MULPDU of the connection (RFC 5044 section 4.5).
  void check(const ReceivedFpdu& fpdu, const wire::Segment& segment, std::size_t max_ulpdu);
  void check(const Message& message, bool broken_off);
  void check(const Malformed& malformed, RuleId rule);
  /// Whether octets came behind the Request though our Reply has not gone out.
  void check_silence_before_reply(bool octets_came);
  /// A Responder may send only once the Initiator's first FPDU
  /// has reached it (RFC 5044 section 7.1.2).
  void check_turn(const ReceivedFpdu& fpdu, bool may_send);

  /// What we sent, so that answers can be held against it.
  void note_sent(wire::Bytes ulpdu);

 private:
  void require(bool holds, RuleId rule, std::string expected, std::string actual,
               wire::Bytes octets);
  void check_controls(const wire::Segment& segment, wire::Bytes ulpdu);
  void check_untagged(const wire::UntaggedHeader& header, wire::Bytes ulpdu);
  void check_sequence(const Message& message);
  void check_segments(const Message& message);
  void check_operation(const Message& message);
  void check_read_request(const Message& message);
  void check_read_response(const Message& message);
  void check_atomic_response(const Message& message);
  void check_terminate(const Message& message);
  void check_header_bits(const Message& message, const wire::Terminate& terminate);
  void check_copied_read_request(const Message& message, const wire::Terminate& terminate,
                                 wire::Bytes sent);
  void check_copied_header(const Message& message, const wire::Terminate& terminate);

  Report report_;
  std::map<std::uint32_t, std::uint32_t> next_msn_;
  std::map<std::uint32_t, std::uint64_t>
      last_end_;                         ///< per queue: the offset at which the last message ended
  std::deque<Octets> sent_;              ///< the ULPDUs we sent last
  std::deque<ReadRequestFields> reads_;  ///< ours, not answered yet
  std::deque<std::uint32_t> atomics_;    ///< request ids, likewise
  std::size_t longest_mulpdu_ = 0;       ///< of the connection so far
  bool terminated_ = false;
};

}  // namespace suite::lower_tester
