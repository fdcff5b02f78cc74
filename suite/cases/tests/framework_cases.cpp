// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Cases whose verdict is known, for the test of the framework.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(expects_nothing, rules("mpa.crc.support-implemented")) {}

CONFORMANCE_CASE(holds, rules("mpa.crc.support-implemented")) {
  expect_that(true, "truth", "truth");
}

CONFORMANCE_CASE(does_not_hold,
                 rules("mpa.crc.support-implemented", "mpa.crc.covers-length-to-pad")) {
  expect_that(true, "truth", "a lie");
  expect_that(false, "truth", "a lie", "mpa.crc.covers-length-to-pad");
  expect_that(true, "never reached", "reached");
}

CONFORMANCE_CASE(needs_atomics, rules("mpa.crc.support-implemented"), needs(capability::atomics)) {
  expect_that(true, "truth", "truth");
}

CONFORMANCE_CASE(wants_markers, rules("mpa.markers.sender-able-to-insert"),
                 configured({.markers = true}), in_both_roles, over_both_families,
                 deadline_of(std::chrono::seconds(9))) {
  expect_that(true, "truth", "truth");
}

CONFORMANCE_CASE(has_rows, rules("mpa.crc.support-implemented")) {
  for (const int number : {1, 2, 3})
    row("row " + std::to_string(number), [&] { expect_that(number != 2, "not two", "two"); });
}

CONFORMANCE_CASE(has_slow_rows, rules("mpa.crc.support-implemented")) {
  row("quick", [&] { expect_that(true, "truth", "truth"); });
  for (const int number : {1, 2})
    row("slow " + std::to_string(number), [&] { expect(iut.post_receive(16), completes()); });
  row("wrong", [&] { expect_that(false, "truth", "lie"); });
  row("quick again", [&] { expect_that(true, "truth", "truth"); });
}

CONFORMANCE_CASE(throws, rules("mpa.crc.support-implemented")) {
  throw std::runtime_error("out of the blue");
}

CONFORMANCE_CASE(registers, rules("mpa.crc.support-implemented")) {
  const Region region = iut.register_memory(16, access::remote_write, 7);
  expect_that(region.contents.size() == 16, "16 octets", "others");
}

CONFORMANCE_CASE(waits_for_a_completion, rules("mpa.crc.support-implemented")) {
  expect(iut.post_receive(16), completes().with_length(5));
}

CONFORMANCE_CASE(waits_for_ten_completions, rules("mpa.crc.support-implemented")) {
  for (int i = 0; i < 10; ++i) expect(iut.post_receive(16), completes());
}

CONFORMANCE_CASE(looks_for_a_completion, rules("mpa.crc.support-implemented")) {
  const Work receive = iut.post_receive(16);
  const auto soon = context().loop.now() + environment().quiet_window;
  expect_that(iut.take(completion_of(receive).matches, soon).has_value(), "a completion", "none");
}

CONFORMANCE_CASE(uses_the_peer, rules("mpa.crc.support-implemented")) {
  peer.send(send_message({}));
}

CONFORMANCE_CASE(should_does_not_hold,
                 rules("mpa.terminate.crc-error-code", "mpa.crc.support-implemented")) {
  expect_that(false, "advice followed", "not so");
  expect_that(true, "truth", "truth", "mpa.crc.support-implemented");
}

CONFORMANCE_CASE(should_does_not_come, rules("mpa.terminate.crc-error-code")) {
  expect(iut.post_receive(16), completes());
  expect_that(false, "never reached", "reached", "mpa.crc.support-implemented");
}

// Says that it has asked the IUT for an RDMA Read, and does not get what it expects.
CONFORMANCE_CASE(rests_on_a_read,
                 rules("mpa.crc.support-implemented", "mpa.crc.covers-length-to-pad")) {
  context().evidence.reads.by_tester = true;
  expect_that(false, "truth", "a lie", "mpa.crc.covers-length-to-pad");
}

CONFORMANCE_CASE(wants_revision_one, rules("mpa.crc.support-implemented"),
                 configured({.revision = 1})) {
  expect_that(true, "truth", "truth");
}

CONFORMANCE_CASE(reads_in_rows, rules("mpa.crc.support-implemented")) {
  const auto read = [&] { static_cast<void>(iut.post_read(8, 0x1234, 0)); };
  row("wrong without a Read", [&] { expect_that(false, "truth", "a lie"); });
  row("wrong before a Read", [&] {
    expect_that(false, "truth", "a lie");
    read();
  });
  row("wrong after a Read", [&] {
    read();
    expect_that(false, "truth", "a lie");
  });
  row("right before a Read", [&] {
    expect_that(true, "truth", "truth");
    read();
  });
  row("right after a Read", [&] {
    read();
    expect_that(true, "truth", "truth");
  });
}

CONFORMANCE_CASE(reads, rules("mpa.crc.support-implemented")) {
  static_cast<void>(iut.post_read(8, 0x1234, 0));
  expect_that(true, "truth", "truth");
}

CONFORMANCE_CASE(wants_two_pieces, rules("mpa.crc.support-implemented")) {
  static_cast<void>(iut.post_receive({{1, 0, 1}, {1, 1, 1}}));
  expect_that(true, "truth", "truth");
}

CASES_OF_FILE(mpa, startup)

}  // namespace suite::cases
