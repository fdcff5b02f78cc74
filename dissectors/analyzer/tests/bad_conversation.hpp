// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A conversation in which one thing is wrong, for each check: what the tests of the checks share.
#pragma once

#include <boost/test/unit_test.hpp>

#include <set>
#include <span>
#include <vector>

#include "dissectors/analyzer/tests/conversation.hpp"

namespace dissectors::analyzer::tests {

/// A way of being wrong: the rule that has to be reported, and by what conversation.
struct Bad {
  std::string_view rule;
  void (*happens)(Conversation&);
};

/// The ULPDU with some bits of one octet turned over.
inline Octets flipped(Octets ulpdu, std::size_t at, unsigned bits) {
  ulpdu[at] ^= static_cast<std::byte>(bits);
  return ulpdu;
}

inline Octets extended(Octets ulpdu, std::size_t by) {
  const Octets more = octets(by);
  ulpdu.insert(ulpdu.end(), more.begin(), more.end());
  return ulpdu;
}

inline Octets shortened(Octets ulpdu, std::size_t to) {
  ulpdu.resize(to);
  return ulpdu;
}

inline Octets response_part(std::uint64_t to, std::size_t length, bool last,
                            std::uint32_t stag = 0x500) {
  return ulpdu(Tagged{.opcode = Opcode::read_response,
                      .stag = stag,
                      .to = to,
                      .payload = octets(length),
                      .last = last});
}

/// Sends of the initiator, after a plain startup.
inline void sends(Conversation& to, const std::vector<Octets>& ulpdus) {
  to.start();
  for (const Octets& ulpdu : ulpdus) to.send(initiator, ulpdu);
}

/// Each conversation gives one finding, which names its rule; together they name all in `checked`.
inline void judge(const std::vector<Bad>& table, std::span<const rules::RuleId> checked) {
  std::set<std::string_view> named;
  for (const Bad& bad : table) {
    BOOST_TEST_CONTEXT(bad.rule) {
      Conversation conversation;
      bad.happens(conversation);
      conversation.finish();
      BOOST_TEST(conversation.findings.size() == 1U);
      for (const Finding& finding : conversation.findings) {
        BOOST_TEST(finding.rule.id == bad.rule);
        BOOST_TEST(!finding.actual.empty());
        BOOST_TEST(!finding.admissible.empty());
        named.insert(finding.rule.id);
        for (const rules::RuleId also : finding.also) named.insert(also.id);
      }
    }
  }
  for (const rules::RuleId rule : checked)
    BOOST_TEST(named.contains(rule.id), rule.id << " has no conversation that breaks it");
}

}  // namespace dissectors::analyzer::tests
