// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/sentinel_case.hpp"

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/loopback/loopback_body.hpp"

namespace suite::cases {

CONFORMANCE_CASE(alive, rules("rdmap.send.untagged-buffer")) {
  const Work received = iut.post_receive(64);
  let_iut_send();
  peer.send(send_message(payload(16)));
  expect(received, completes().with_length(16));
  const Work sent = iut.post_send(payload(16));
  static_cast<void>(expect_message(Opcode::send));
  expect(sent, completes());
}

CONFORMANCE_CASE(lone_read, rules("rdmap.read.valid-request-answered")) { expect_still_working(); }

CONFORMANCE_CASE(iut_reads, rules("rdmap.read.request-header-format")) {
  let_iut_send();
  const Work read = iut.post_read(16, 0x52454144, 0x1000);
  const auto request = expect_message(Opcode::read_request).read_request();
  expect_that(request.has_value(), "a Read Request of 28 octets", "a Request of another length");
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(16)));
  expect(read, completes(), "rdmap.read.response-delivered-to-ulp");
}

CONFORMANCE_CASE(iut_connects, rules("rdmap.send.untagged-buffer"), as_initiator) {
  const Work received = iut.post_receive(64);
  peer.send(send_message(payload(16)));
  expect(received, completes().with_length(16));
}

LOOPBACK_CASE(iut_reads_from_itself, rules("verbs.transfer.read-brings-remote-memory")) {
  from_both_ends([&](const End& from, const End& to) {
    const Region source = to.memory(16, access::remote_read);
    const Work read = from.read(16, source);
    expect(read, completes());
    expect(read.buffer, holds(source.contents));
  });
}

CASES_OF_FILE(harness, sentinel)

}  // namespace suite::cases

namespace suite::runner {

cases::Case sentinel_case() { return cases::harness_sentinel().at(0); }

std::vector<Control> control_cases() {
  const std::vector<cases::Case> all = cases::harness_sentinel();
  return {{all.at(1), &cases::Controls::read},
          {all.at(2), &cases::Controls::iut_read},
          {all.at(3), &cases::Controls::initiator},
          {all.at(4), &cases::Controls::loopback_read}};
}

}  // namespace suite::runner
