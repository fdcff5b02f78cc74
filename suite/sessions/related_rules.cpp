// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/related_rules.hpp"

#include <algorithm>
#include <vector>

namespace suite::sessions {

namespace {

struct Related {
  /// What a rule that is reported begins with.
  std::string_view reported;
  std::vector<rules::RuleId> rules;
};

const std::vector<Related>& table() {
  static const std::vector<Related> list{
      // RFC 5040 section 5.2: a sink may lie anywhere, and not at a multiple of anything.
      {"rdmap.read.sink-to-copied",
       {"rdmap.read.sink-to-arbitrary", "rdmap.read.response-nonzero-offset"}},
      // RFC 7306 section 5.2.2: Atomic and Read Responses have one order.
      {"rdmap.read.responses-in-request-order",
       {"rdmap.atomic.read-response-after-atomic-response",
        "rdmap.atomic.response-after-read-response"}},
      // RFC 7306 section 5.1: the opcode selects the queue.
      {"rdmap.atomic.request-queue-one", {"rdmap.atomic.opcode-values"}},
      {"rdmap.atomic.queue-three", {"rdmap.atomic.opcode-values"}},
      // RFC 5041 section 5.3: a queue has a counter of its own. Atomic and Read Requests share
      // theirs.
      {"ddp.untagged.msn-starts-at-one", {"ddp.untagged.msn-increments-per-message"}},
      {"ddp.untagged.msn-increments-per-message", {"rdmap.atomic.request-consumes-one-buffer"}},
      // RFC 7306 section 8.1: as for other local errors.
      {"rdmap.terminate.local-catastrophic-no", {"rdmap.atomic.local-error-no-headers"}},
      // RFC 5044 section 5.1: of every EMSS.
      {"mpa.segmentation.mulpdu-formula",
       {"mpa.segmentation.mulpdu-follows-emss", "mpa.segmentation.ulpdu-never-over-64768"}},
      // RFC 5044 section 7.1: CRCs are used if either side asks for them.
      {"mpa.crc.generated-when-either-c-one", {"mpa.crc.generated-when-peer-requires"}},
      // RFC 5044 section 4.1: the octets after the startup frame.
      {"ddp.header.present-in-every-segment", {"mpa.startup.first-octets-are-length"}},
      {"mpa.crc.field-always-included", {"mpa.startup.first-octets-are-length"}},
      {"mpa.framing", {"mpa.startup.first-octets-are-length"}},
      // RFC 6581 section 9: words in network byte order, each with its own depth.
      {"mpa.enhanced.flag-a", {"mpa.enhanced.network-byte-order", "mpa.enhanced.data-layout"}},
      {"mpa.enhanced.rtr-flags-zero-without-a",
       {"mpa.enhanced.network-byte-order", "mpa.enhanced.flag-a-echoed"}},
      {"mpa.enhanced.ord-all-ones", {"mpa.enhanced.data-layout"}},
      {"mpa.enhanced.ird-all-ones", {"mpa.enhanced.data-layout"}},
      {"mpa.enhanced.responder-ord-within-initiator-ird",
       {"mpa.enhanced.network-byte-order", "mpa.enhanced.data-layout"}},
      // RFC 6581 sections 9.1 and 9.2: what an Initiator gives up for.
      {"mpa.enhanced.error-codes-five-six-seven",
       {"mpa.enhanced.extra-rtr-flags-allowed", "mpa.enhanced.initiator-ird-is-capacity",
        "mpa.enhanced.data-layout"}},
      // RFC 5044 section 7.1.2 rule 4, RFC 6581 section 9.3.
      {"mpa.startup.rejecting-responder-exits-mpa", {"mpa.enhanced.reject-term-code-six"}},
      // RFC 5040 section 6.1: an Initiator holds back what is beyond its ORD.
      {"mpa.enhanced.initiator-ord-at-most-responder-ird", {"rdmap.resources.outbound-limit-kept"}},
  };
  return list;
}

}  // namespace

std::span<const rules::RuleId> related_rules(std::string_view rule) {
  const auto found = std::ranges::find_if(
      table(), [rule](const Related& each) { return rule.starts_with(each.reported); });
  if (found == table().end()) return {};
  return found->rules;
}

}  // namespace suite::sessions
