// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5042 sections 5 and 6: peers that come in numbers, halt in the midst of startup, or guess.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr int crowd = 16;

/// Opens so many connections and sends the beginning of a Request on each.
void open_half(Body& body, std::size_t octets_of_request) {
  const Octets request = mpa_request().encode();
  std::vector<Peer*> halted;
  for (int i = 0; i < crowd; ++i) {
    halted.push_back(&body.another_peer());
    body.expect_that(halted.back()->connect(body.iut_address()).has_value(), "a connection", "none",
                     "mpa.startup.acceptable-request-accepted");
  }
  if (octets_of_request == 0) return;
  // Who comes up behind them shows that they were accepted. What goes wrong with octets that come
  // while a connection is being accepted is request_in_pieces_is_put_together's to find.
  body.establish(body.another_peer(), {.endpoint = body.iut.create_endpoint(),
                                       .judged_by = "mpa.startup.acceptable-request-accepted"});
  for (Peer* peer : halted) peer->send_octets(wire::Bytes(request).first(octets_of_request));
}

}  // namespace

CONFORMANCE_CASE(startups_that_halt_hold_up_nobody,
                 rules("mpa.startup.acceptable-request-accepted"), deadline_of(20s)) {
  for (const std::size_t octets : {0UZ, 1UZ, 16UZ, 19UZ}) {
    row(fmt::format("{} octets of a Request", octets), [&] {
      open_half(*this, octets);
      establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
      expect_still_working("mpa.startup.acceptable-request-accepted");
    });
  }
}

CONFORMANCE_CASE(connections_that_come_and_go_leave_nothing_behind,
                 rules("mpa.startup.acceptable-request-accepted"), deadline_of(20s)) {
  for (int i = 0; i < 4 * crowd; ++i) {
    Peer& visitor = another_peer();
    expect_that(visitor.connect(iut_address()).has_value(), "a connection", "none");
    if (i % 3 != 0) visitor.send_octets(wire::Bytes(mpa_request().encode()).first(10));
    if (i % 2 != 0)
      visitor.reset();
    else
      visitor.half_close();
  }
  establish({.judged_by = "mpa.startup.acceptable-request-accepted"});
  expect_still_working();
}

CONFORMANCE_CASE(guessed_stags_open_nothing,
                 rules("ddp.tagged.check-stag-valid", "sec.stag.invalid-stag-ends-stream"),
                 in_both_roles, deadline_of(20s)) {
  struct Guess {
    const char* name;
    std::function<std::uint32_t(std::uint32_t)> of;
  };
  const Guess guesses[] = {
      {"the next key", [](std::uint32_t stag) { return (stag & ~0xFFU) | ((stag + 1) & 0xFFU); }},
      {"the last key", [](std::uint32_t stag) { return (stag & ~0xFFU) | ((stag - 1) & 0xFFU); }},
      {"a key with one bit changed", [](std::uint32_t stag) { return stag ^ 0x80U; }},
      {"its octets reversed", [](std::uint32_t stag) { return __builtin_bswap32(stag); }},
      {"the next index", [](std::uint32_t stag) { return stag + 0x100; }},
      {"the lowest index", [](std::uint32_t stag) { return stag & 0xFFU; }},
      {"the highest index", [](std::uint32_t stag) { return stag | 0xFFFFFF00U; }},
  };
  for (const Guess& guess : guesses) {
    row(guess.name, [&] {
      const Region region = iut.register_memory(64, access::remote_read_write);
      const std::uint32_t stag = guess.of(region.stag);
      if (stag == region.stag) stop(Verdict::inconclusive, "the guess is right");
      peer.send(rdma_write(stag, region.base, payload(16)));
      expect(peer, any_terminate() | torn_down(), "ddp.tagged.check-stag-valid");
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed",
                  "ddp.tagged.check-stag-valid");
    });
  }
  row("a Read by the key alone", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    peer.send(read_of(region.stag_with_other_key(), region.base, 16));
    expect(peer, any_terminate() | torn_down(), "sec.stag.invalid-stag-ends-stream");
  });
}

CASES_OF_FILE(sec, floods)

}  // namespace suite::cases
