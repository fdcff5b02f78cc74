// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT as the judge of its octets sees it: what it sends, and what is reported of that.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "suite/lower_tester/reception.hpp"
#include "suite/lower_tester/sender_judge.hpp"

namespace suite::lower_tester::tests {

/// What an IUT sends, octet by octet, as the judge and the decoder of the tester take it.
struct Observed : Reception::Listener {
  std::set<std::string> faults;  ///< what was reported
  std::set<std::string> also;    ///< and what the same faults break
  std::vector<Message> messages;
  std::size_t emss = 1448;
  bool initiator;  ///< the IUT is
  SenderJudge judge;
  Reception reception;
  Framing framing;
  std::map<std::uint32_t, std::uint32_t> msn;

  explicit Observed(wire::MpaFrameKind kind = wire::MpaFrameKind::reply)
      : initiator(kind == wire::MpaFrameKind::request),
        judge(initiator ? dissectors::analyzer::Role::responder
                        : dissectors::analyzer::Role::initiator,
              [this](const SenderFault& fault) {
                faults.emplace(fault.rule);
                for (const rules::RuleId other : fault.also) also.emplace(other.id);
              }),
        reception(kind, *this) {}
  /// An IUT in RDMA mode, as Initiator, so that it may send at once.
  static std::unique_ptr<Observed> started(Framing framing = {}) {
    auto observed = std::make_unique<Observed>(wire::MpaFrameKind::request);
    observed->framing = framing;
    observed->comes(mpa_request().with_crc(framing.crc).encode());
    observed->judge.sent_frame(
        wire::MpaFrameKind::reply,
        mpa_reply().with_crc(framing.crc).with_markers(framing.markers).encode());
    observed->reception.start_fpdus(framing.crc, framing.markers);
    return observed;
  }

  void comes(const Octets& octets) {
    for (const std::byte octet : octets) {
      judge.received(wire::Bytes(&octet, 1), emss);
      reception.take(wire::Bytes(&octet, 1));
    }
  }
  void sends(const Fpdu& fpdu) {
    const Octets octets = encode(fpdu, framing);
    framing.position += octets.size();
    comes(octets);
  }
  void sends(const Outgoing& message) {
    auto& next = msn.try_emplace(message.queue_number(), 1U).first->second;
    const std::size_t most = wire::mulpdu(emss, framing.markers);
    for (const Fpdu& fpdu : message.segments(most, message.tagged ? 0 : next++)) sends(fpdu);
  }
  void gets(const Outgoing& message) {
    for (const Fpdu& fpdu : message.segments(1440, 1)) judge.sent_fpdu(fpdu.ulpdu, true);
  }
  /// The rules reported by now.
  const std::set<std::string>& told() {
    judge.finish();
    return faults;
  }
  bool breaks(const std::string& rule) { return told().contains(rule) || also.contains(rule); }

  void on_frame(const ReceivedFrame&) override {}
  void on_message(const Message& message) override { messages.push_back(message); }
  void on_malformed(const Malformed&) override {}
};

}  // namespace suite::lower_tester::tests
