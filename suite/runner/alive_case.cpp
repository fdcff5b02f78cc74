// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/alive_case.hpp"

#include "suite/cases/framework/conformance_case.hpp"

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

CASES_OF_FILE(harness, sentinel)

}  // namespace suite::cases

namespace suite::runner {

cases::Case alive_case() { return cases::harness_sentinel().front(); }

}  // namespace suite::runner
