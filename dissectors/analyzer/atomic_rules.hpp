// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of Atomic Operations that a trace can show broken (RFC 7306): the headers of Request
// and Response, and the order of Responses.
#pragma once

#include <optional>

#include "dissectors/analyzer/ddp_rules.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::analyzer {

class AtomicRules {
 public:
  explicit AtomicRules(Findings findings) : findings_(findings) {}

  /// A Request that is complete, with its header, if that can be read.
  std::optional<rnic::wire::AtomicRequestHeader> request(const Incoming& incoming,
                                                         const MessageStep& step) const;
  std::optional<rnic::wire::AtomicResponseHeader> response(const Incoming& incoming,
                                                           const MessageStep& step) const;
  // Responses come in the order of their Requests: this checks the order by what is outstanding.
  void judged(const Incoming& response, bool atomics_after, bool reads_after) const;
  /// A Read Response arrived, and an Atomic Request followed its Request.
  void judged_atomic_after_read(const Incoming& response) const;
  [[nodiscard]] static const Statement& unsolicited();
  void wrong_identifier(const Incoming& incoming, std::uint32_t expected) const;
  void out_of_order(const Incoming& incoming, std::uint32_t expected) const;
  void read_before_atomic(const Incoming& incoming) const;
  void atomic_before_read(const Incoming& incoming) const;

 private:
  Findings findings_;
};

}  // namespace dissectors::analyzer
