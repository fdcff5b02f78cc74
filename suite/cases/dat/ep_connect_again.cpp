// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Later connections of an endpoint: nothing of an earlier one is left, and nothing of an attempt.
#include <chrono>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

std::chrono::microseconds time_limit(DatBody& body) {
  return std::chrono::duration_cast<std::chrono::microseconds>(500ms *
                                                               body.target().deadline_scale);
}

ConnectOptions within(std::chrono::microseconds timeout) {
  ConnectOptions options;
  options.timeout = static_cast<DAT_TIMEOUT>(timeout.count());
  return options;
}

/// No event comes until the time limit has passed and half of it again.
void expect_quiet(DatBody& body, const Evd& connection) {
  const Waited waited =
      wait_on(connection, static_cast<DAT_TIMEOUT>(time_limit(body).count() * 3 / 2));
  body.expect_that(DAT_GET_TYPE(waited.code) == DAT_TIMEOUT_EXPIRED, "no event",
                   waited.code == DAT_SUCCESS ? event_text(waited.event.event_number)
                                              : return_text(waited.code));
}

/// Accepts a connect of the client with these private data, and returns its event.
DAT_CONNECTION_EVENT_DATA connect_with(DatBody& body, const Listener& listener, const Side& client,
                                       const Side& server, std::vector<std::byte> data) {
  body.need(start_connect(body.ia(), client.ep.get(), listener.qualifier), "no connect");
  body.need(CALL(dat_cr_accept, listener.next(), server.ep.get(),
                 static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data()),
            "no accept");
  (void)body.expect_event(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  return body.expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED)
      .event_data.connect_event_data;
}

}  // namespace

DAT_CASE(time_limit_of_a_connect_ends_with_its_acceptance, calls(dat_ep_connect),
         rules("dat.ep-connect.timed-out", "dat.ep-connect.success"), deadline_of(10s)) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  expect(start_connect(ia(), client.ep.get(), listener.qualifier, within(time_limit(*this))),
         succeeds, "dat.ep-connect.success");
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED, "dat.ep-connect.success");
  expect_quiet(*this, client.connection);
  expect_state(client.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(time_limit_of_an_earlier_attempt_does_not_end_a_later_one,
         calls(dat_ep_connect, dat_ep_reset), rules("dat.ep-connect.timed-out"), deadline_of(10s)) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier, within(time_limit(*this))),
       "no connect");
  need(CALL(dat_cr_reject, listener.next(), 0, nullptr), "no reject");
  (void)next_event(client.connection);
  need(CALL(dat_ep_reset, client.ep.get()), "no reset");
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no second connect");
  const DAT_CR_HANDLE second = listener.next();
  expect_quiet(*this, client.connection);
  expect_state(client.ep, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  need(CALL(dat_cr_accept, second, server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(each_connection_has_private_data_of_its_own, calls(dat_ep_connect, dat_cr_accept),
         rules("dat.cr-accept.private-data")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  for (const std::size_t size : {std::size_t{48}, std::size_t{3}, std::size_t{0}}) {
    const auto sent = private_octets(size);
    const auto data = connect_with(*this, listener, client, server, sent);
    if (size == 0)
      advise_that(data.private_data_size == 0, "no private data",
                  fmt::format("{} octets", data.private_data_size));
    else
      expect_private_data(*this, sent, data.private_data, data.private_data_size);
    need(CALL(dat_ep_disconnect, client.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), "no disconnect");
    for (const Side* side : {&client, &server}) {
      (void)next_event(side->connection);
      need(CALL(dat_ep_reset, side->ep.get()), "no reset");
    }
  }
}

// Each endpoint asks in one connection, and accepts in the next.
DAT_CASE(endpoint_changes_its_part_from_connection_to_connection,
         calls(dat_ep_reset, dat_ep_connect, dat_cr_accept), rules("dat.ep-reset.success")) {
  const Pz pz = ia().pz();
  const Side first = make_side(ia(), pz), second = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  const Listener listener(ia());
  for (DAT_UINT64 id = 1; id <= 4; ++id) {
    const bool first_asks = id % 2 == 1;
    const Side &client = first_asks ? first : second, &server = first_asks ? second : first;
    (void)connect_with(*this, listener, client, server, {});
    for (const auto& [from, to] : {std::pair{&client, &server}, std::pair{&server, &client}}) {
      need(post_recv(to->ep.get(), {memory.triplet(0, 8)}, id), "no receive");
      need(post_send(from->ep.get(), {memory.triplet(8, 8)}, id), "no send");
      (void)expect_completion(from->requests, id, DAT_DTO_SUCCESS);
      (void)expect_completion(to->receives, id, DAT_DTO_SUCCESS);
    }
    need(CALL(dat_ep_disconnect, client.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), "no disconnect");
    for (const Side* side : {&first, &second}) {
      (void)expect_event(side->connection, DAT_CONNECTION_EVENT_DISCONNECTED);
      expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
      expect_state(side->ep, DAT_EP_STATE_UNCONNECTED);
    }
  }
}

DAT_CASES_OF_PART(ep_connect, again)

}  // namespace suite::cases::dat
