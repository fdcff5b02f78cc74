// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_ep_post_send: what it returns, and what its completion says.
#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

DAT_CASE(send_completes_with_its_cookie_and_length,
         calls(dat_ep_post_send, dat_ep_post_recv, dat_evd_wait),
         rules("dat.ep-post-send.success")) {
  Pair pair = connected();
  Lmr source(ia(), pair.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  Lmr sink(ia(), pair.pz.get(), 64);
  DAT_LMR_TRIPLET to = sink.triplet(), from = source.triplet(0, 40);
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = 7;
  need(CALL(dat_ep_post_recv, pair.passive.ep.get(), 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG),
       "no receive");
  cookie.as_64 = 8;
  expect(
      CALL(dat_ep_post_send, pair.active.ep.get(), 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG),
      succeeds);
  const auto sent = expect_completion(pair.active.requests, 8, DAT_DTO_SUCCESS);
  expect_that(sent.transfered_length == 40, "40 octets",
              fmt::format("{} octets", sent.transfered_length));
  expect_that(sent.operation == DAT_DTO_SEND, "DAT_DTO_SEND",
              fmt::format("operation {}", static_cast<int>(sent.operation)));
  const auto received = expect_completion(pair.passive.receives, 7, DAT_DTO_SUCCESS);
  expect_that(received.transfered_length == 40, "40 octets",
              fmt::format("{} octets", received.transfered_length));
  expect_that(
      std::equal(source.octets().begin(), source.octets().begin() + 40, sink.octets().begin()),
      "the octets sent", "other octets");
}

DAT_CASES_OF_FILE(ep_post_send)

}  // namespace suite::cases::dat
