// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What each call on an endpoint returns in each state: a case for each call, a row for each state.
#include <netinet/in.h>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

const Returns wrong_state = returns(DAT_INVALID_STATE);
/// No document says what an endpoint without a zone returns.
const Returns wrong_state_or_unconfigured = returns(DAT_INVALID_STATE)
                                                .or_tolerably(DAT_INVALID_HANDLE)
                                                .or_tolerably(DAT_INVALID_PARAMETER)
                                                .or_tolerably(DAT_PROTECTION_VIOLATION);

/// Runs `body` on an endpoint in each state except `except`, which another case judges.
template <typename Body>
void in_each_state(DatBody& of, const Body& body, std::optional<Phase> except = {}) {
  for (const Phase phase : all_phases) {
    if (phase == except) continue;
    of.row(phase_text(phase), [&] {
      EndpointInState ep(of.ia(), phase);
      body(ep, phase);
    });
  }
}

bool is_one_of(Phase phase, std::initializer_list<Phase> phases) {
  return std::ranges::find(phases, phase) != phases.end();
}

/// Requests can be posted to connected and disconnected endpoints only.
Returns of_a_request(Phase phase) {
  if (is_one_of(phase, {Phase::connected, Phase::disconnected})) return succeeds;
  return phase == Phase::unconfigured || phase == Phase::tentative ? wrong_state_or_unconfigured
                                                                   : wrong_state;
}

/// Only an unconnected endpoint can connect.
Returns of_a_connect(Phase phase) {
  if (phase == Phase::unconnected) return succeeds;
  return phase == Phase::unconfigured ? wrong_state_or_unconfigured : wrong_state;
}

DAT_EP_STATE expected_state(Phase phase) {
  switch (phase) {
    case Phase::unconfigured:
      return DAT_EP_STATE_UNCONFIGURED_UNCONNECTED;
    case Phase::unconnected:
      return DAT_EP_STATE_UNCONNECTED;
    case Phase::reserved:
      return DAT_EP_STATE_RESERVED;
    case Phase::passive:
      return DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
    case Phase::tentative:
      return DAT_EP_STATE_UNCONFIGURED_TENTATIVE;
    case Phase::active:
      return DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    case Phase::connected:
      return DAT_EP_STATE_CONNECTED;
    case Phase::disconnected:
      return DAT_EP_STATE_DISCONNECTED;
  }
  return DAT_EP_STATE_UNCONNECTED;
}

/// DAT 1.2 has no unconfigured states, and DAT 2.0 has two more for a connection.
bool is_state(DAT_EP_STATE got, Phase phase) {
  if (got == expected_state(phase)) return true;
  if (phase == Phase::unconfigured) return got == DAT_EP_STATE_UNCONNECTED;
  if (phase == Phase::tentative) return got == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
  return phase == Phase::connected &&
         (got == DAT_EP_STATE_CONNECTED_SINGLE_PATH || got == DAT_EP_STATE_CONNECTED_MULTI_PATH);
}

void expect_phase(DatBody& body, DAT_EP_HANDLE ep, Phase phase, RuleRef rule = {}) {
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives{}, requests{};
  body.expect(CALL(dat_ep_get_status, ep, &state, &receives, &requests), succeeds, rule);
  body.expect_that(is_state(state, phase), state_text(expected_state(phase)), state_text(state),
                   rule);
}

}  // namespace

DAT_CASE(get_status_returns_each_state, calls(dat_ep_get_status),
         rules("dat.ep-get-status.success"), deadline_of(10s)) {
  in_each_state(*this,
                [&](EndpointInState& ep, Phase phase) { expect_phase(*this, ep.get(), phase); });
}

DAT_CASE(query_returns_each_state, calls(dat_ep_query), rules("dat.ep-query.success"),
         deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    DAT_EP_PARAM param{};
    expect(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &param), succeeds);
    expect_that(is_state(param.ep_state, phase), state_text(expected_state(phase)),
                state_text(param.ep_state));
    expect_that(param.ia_handle == ia().get(), "the consumer's IA handle", "another handle");
  });
}

/// Where the peer is, from the request for a connection on. The side that waits for the consumer's
/// answer may not have it yet at its endpoint: its request tells.
DAT_CASE(query_returns_the_peers_address_of_a_pending_connection, calls(dat_ep_query),
         rules("dat.ep-query.addresses")) {
  const auto* own = reinterpret_cast<const sockaddr_in*>(ia().address());
  for (const Phase phase : {Phase::active, Phase::connected, Phase::passive, Phase::tentative})
    row(phase_text(phase), [&] {
      const EndpointInState ep(ia(), phase);
      DAT_EP_PARAM param{};
      expect(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &param), succeeds);
      const auto* peer = reinterpret_cast<const sockaddr_in*>(param.remote_ia_address_ptr);
      const bool known =
          peer != nullptr && param.remote_port_qual != 0 && peer->sin_family == own->sin_family &&
          (own->sin_family != AF_INET || peer->sin_addr.s_addr == own->sin_addr.s_addr);
      if (is_one_of(phase, {Phase::active, Phase::connected}))
        expect_that(known, "the peer's address and port", "none, or others");
      else
        advise_that(known, "the peer's address and port", "none, or others");
    });
}

DAT_CASE(connect_in_each_state, calls(dat_ep_connect), rules("dat.ep-connect.invalid-state"),
         deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Listener listener(ia());
    expect(start_connect(ia(), ep.get(), listener.qualifier), of_a_connect(phase));
    if (phase != Phase::unconnected) return expect_phase(*this, ep.get(), phase);
    need(CALL(dat_cr_reject, listener.next(), 0, nullptr), "no reject");
  });
}

DAT_CASE(dup_connect_in_each_state, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-state"), deadline_of(10s)) {
  const Pair model = connected();
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    expect(dup_connect(ep.get(), model.active.ep.get()), of_a_connect(phase));
    if (phase != Phase::unconnected) return expect_phase(*this, ep.get(), phase);
    const DAT_EVENT event = expect_event(model.requests, DAT_CONNECTION_REQUEST_EVENT);
    need(CALL(dat_cr_reject, event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr),
         "no reject");
  });
}

DAT_CASE(dup_connect_after_a_model_in_each_state, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-state"), deadline_of(10s)) {
  const auto refused = [&](EndpointInState& model, Phase) {
    const Side duplicate = make_side(ia(), model.pz());
    expect(dup_connect(duplicate.ep.get(), model.get()), wrong_state);
    expect_state(duplicate.ep, DAT_EP_STATE_UNCONNECTED);
  };
  in_each_state(*this, refused, Phase::connected);
}

DAT_CASE(common_connect_in_each_state, calls(dat_ep_common_connect),
         rules("dat.ep-common-connect.invalid-state"), deadline_of(10s)) {
  const auto refused = [&](EndpointInState& ep, Phase phase) {
    sockaddr_storage address{};
    const auto* own = reinterpret_cast<const sockaddr_storage*>(ia().address());
    address = *own;
    // Any port will do: the state is wrong. It is at the same place in both families.
    reinterpret_cast<std::uint16_t*>(&address)[1] = 0x0700;
    expect(common_connect(ep.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address)),
           of_a_connect(phase));
    expect_phase(*this, ep.get(), phase);
  };
  in_each_state(*this, refused, Phase::unconnected);
}

DAT_CASE(graceful_disconnect_in_each_state, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.invalid-state", "dat.ep-disconnect.success"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const bool admitted = is_one_of(phase, {Phase::active, Phase::connected, Phase::disconnected});
    expect(CALL(dat_ep_disconnect, ep.get(), DAT_CLOSE_GRACEFUL_FLAG),
           admitted ? succeeds : wrong_state);
    if (!admitted) return expect_phase(*this, ep.get(), phase);
    if (phase == Phase::connected)
      (void)expect_event(ep.own().connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_phase(*this, ep.get(), Phase::disconnected, "dat.ep-disconnect.success");
  });
}

DAT_CASE(abrupt_disconnect_in_each_state, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.invalid-state", "dat.ep-disconnect.success"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const bool admitted = is_one_of(phase, {Phase::active, Phase::connected, Phase::disconnected});
    expect(CALL(dat_ep_disconnect, ep.get(), DAT_CLOSE_ABRUPT_FLAG),
           admitted ? succeeds : wrong_state);
    if (!admitted) return expect_phase(*this, ep.get(), phase);
    if (phase == Phase::connected)
      (void)expect_event(ep.own().connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_phase(*this, ep.get(), Phase::disconnected, "dat.ep-disconnect.success");
  });
}

DAT_CASE(reset_in_each_state, calls(dat_ep_reset),
         rules("dat.ep-reset.invalid-state", "dat.ep-reset.success"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const DAT_RETURN got = CALL(dat_ep_reset, ep.get());
    if (is_one_of(phase, {Phase::unconnected, Phase::disconnected})) {
      expect(got, succeeds, "dat.ep-reset.success");
      return expect_phase(*this, ep.get(), Phase::unconnected, "dat.ep-reset.success");
    }
    expect(got,
           phase == Phase::unconfigured ? succeeds.or_tolerably(DAT_INVALID_STATE) : wrong_state);
    expect_phase(*this, ep.get(), phase);
  });
}

DAT_CASE(free_in_each_state, calls(dat_ep_free),
         rules("dat.ep-free.invalid-state", "dat.ep-free.success"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const bool held = is_one_of(phase, {Phase::reserved, Phase::passive, Phase::tentative});
    const DAT_RETURN got = CALL(dat_ep_free, ep.get());
    if (got == DAT_SUCCESS) ep.forget();
    expect(got, held ? wrong_state : succeeds);
    if (held) expect_phase(*this, ep.get(), phase);
  });
}

DAT_CASE(modify_of_a_dispatcher_in_each_state, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-state", "dat.ep-modify.success"), deadline_of(10s)) {
  const Evd other = ia().evd(DAT_EVD_CONNECTION_FLAG);
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const bool open = !is_one_of(phase, {Phase::active, Phase::connected, Phase::disconnected});
    DAT_EP_PARAM asked{};
    asked.connect_evd_handle = other.get();
    expect(CALL(dat_ep_modify, ep.get(), DAT_EP_FIELD_CONNECT_EVD_HANDLE, &asked),
           open ? succeeds : wrong_state);
    DAT_EP_PARAM param{};
    need(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
    expect_that((param.connect_evd_handle == other.get()) == open,
                open ? "the new dispatcher" : "the old dispatcher", "the other one",
                "dat.ep-modify.success");
  });
}

DAT_CASE(modify_of_the_zone_in_each_state, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-state", "dat.ep-modify.success"), deadline_of(10s)) {
  const Pz other = ia().pz();
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const bool open = is_one_of(phase, {Phase::unconfigured, Phase::unconnected, Phase::tentative});
    DAT_EP_PARAM asked{};
    asked.pz_handle = other.get();
    expect(CALL(dat_ep_modify, ep.get(), DAT_EP_FIELD_PZ_HANDLE, &asked),
           open ? succeeds : wrong_state);
  });
}

DAT_CASE(modify_of_attributes_in_each_state, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-state", "dat.ep-modify.success"), deadline_of(20s)) {
  const std::array fields{std::pair{"max_message_size", DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE},
                          std::pair{"max_recv_dtos", DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS},
                          std::pair{"max_request_dtos", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS},
                          std::pair{"max_recv_iov", DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV},
                          std::pair{"max_rdma_read_in", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN},
                          std::pair{"max_rdma_read_out", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT}};
  for (const Phase phase : all_phases) {
    const bool open = !is_one_of(phase, {Phase::active, Phase::connected, Phase::disconnected});
    for (const auto& [name, field] : fields)
      row(fmt::format("{}, {}", name, phase_text(phase)), [&] {
        const EndpointInState ep(ia(), phase);
        DAT_EP_PARAM same{};
        need(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &same), "no EP query");
        expect(CALL(dat_ep_modify, ep.get(), field, &same), open ? succeeds : wrong_state);
      });
  }
}

DAT_CASE(recv_query_in_each_state, calls(dat_ep_recv_query), rules("dat.ep-recv-query.success"),
         deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase) {
    DAT_COUNT held = -2, span = -2;
    expect(CALL(dat_ep_recv_query, ep.get(), &held, &span), succeeds);
    expect_that(held == 0 || held == DAT_VALUE_UNKNOWN, "no buffers", fmt::format("{}", held));
  });
}

DAT_CASE(set_watermark_in_each_state, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.success"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    expect(CALL(dat_ep_set_watermark, ep.get(), 10, 20), succeeds);
    expect_phase(*this, ep.get(), phase);
  });
}

DAT_CASE(post_recv_in_each_state, calls(dat_ep_post_recv), rules("dat.ep-post-recv.success"),
         deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    const bool without_a_zone = is_one_of(phase, {Phase::unconfigured, Phase::tentative});
    // No document says what an endpoint without a zone objects to in its segments.
    expect(post_recv(ep.get(), {memory.triplet()}, 1),
           without_a_zone ? returns_one_of({DAT_SUCCESS, DAT_INVALID_STATE})
                                .or_tolerably(DAT_PROTECTION_VIOLATION)
                                .or_tolerably(DAT_INVALID_HANDLE)
                          : succeeds);
    if (phase == Phase::disconnected)
      (void)expect_completion(ep.own().receives, 1, DAT_DTO_ERR_FLUSHED);
  });
}

DAT_CASE(post_send_in_each_state, calls(dat_ep_post_send), rules("dat.ep-post-send.invalid-state"),
         deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    expect(post_send(ep.get(), {memory.triplet()}, 1), of_a_request(phase));
  });
}

DAT_CASE(post_rdma_write_in_each_state, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.invalid-state"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    expect(post_write(ep.get(), {memory.triplet(0, 8)}, memory.remote(8, 8), 1),
           of_a_request(phase));
  });
}

DAT_CASE(post_rdma_read_in_each_state, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.invalid-state"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    expect(post_read(ep.get(), {memory.triplet(0, 8)}, memory.remote(8, 8), 1),
           of_a_request(phase));
  });
}

DAT_CASE(post_rdma_read_to_rmr_in_each_state, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.invalid-state"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    const DAT_RMR_TRIPLET to = memory.remote(0, 8), from = memory.remote(8, 8);
    expect(post_read_to_rmr(ep.get(), &to, &from, 1), of_a_request(phase));
  });
}

DAT_CASE(post_send_with_invalidate_in_each_state, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.invalid-state"), deadline_of(10s)) {
  in_each_state(*this, [&](EndpointInState& ep, Phase phase) {
    const Lmr memory(ia(), ep.pz().get(), 64);
    expect(post_send_with_invalidate(ep.get(), {memory.triplet(0, 8)}, 1, 0x123456),
           of_a_request(phase));
  });
}

// ---------------------------------------------------------------- disconnect pending

namespace {

/// A connection that ends gracefully with RDMA Reads outstanding: its active side is disconnect
/// pending until they complete, which may be soon.
struct Ending {
  explicit Ending(DatBody& body)
      : pair(body.connected()),
        source(body.ia(), pair.pz.get(), size),
        sink(body.ia(), pair.pz.get(), size) {
    for (DAT_UINT64 id = 1; id <= reads; ++id)
      body.need(post_read(ep(), {sink.triplet()}, source.remote(), id), "no read");
    body.need(CALL(dat_ep_disconnect, ep(), DAT_CLOSE_GRACEFUL_FLAG), "no disconnect");
  }
  [[nodiscard]] DAT_EP_HANDLE ep() const { return pair.active.ep.get(); }

  static constexpr std::size_t size = std::size_t{1024} * 1024;
  static constexpr DAT_UINT64 reads = 8;
  Pair pair;
  Lmr source, sink;
};

}  // namespace

DAT_CASE(disconnect_pending_takes_no_requests, calls(dat_ep_post_send),
         rules("dat.ep-post-send.invalid-state", "dat.ep-disconnect.graceful"), deadline_of(20s)) {
  const Ending ending(*this);
  const DAT_RETURN got = post_send(ending.ep(), {ending.sink.triplet(0, 8)}, Ending::reads + 1);
  expect(got, returns_one_of({DAT_INVALID_STATE, DAT_SUCCESS}));
  for (DAT_UINT64 id = 1; id <= Ending::reads; ++id)
    (void)expect_completion(ending.pair.active.requests, id, DAT_DTO_SUCCESS,
                            "dat.ep-disconnect.graceful");
  // The call may succeed only if the endpoint was disconnected by then.
  if (got == DAT_SUCCESS)
    (void)expect_completion(ending.pair.active.requests, Ending::reads + 1, DAT_DTO_ERR_FLUSHED);
  (void)expect_event(ending.pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect_no_event(ending.pair.active.requests);
}

DAT_CASE(second_graceful_disconnect_waits_as_well, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.graceful"), deadline_of(20s)) {
  const Ending ending(*this);
  expect(CALL(dat_ep_disconnect, ending.ep(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  for (DAT_UINT64 id = 1; id <= Ending::reads; ++id)
    (void)expect_completion(ending.pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_event(ending.pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect_no_event(ending.pair.active.connection);
}

DAT_CASE(abrupt_disconnect_ends_a_pending_graceful_one, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.success", "dat.ep-disconnect.flush"), deadline_of(20s)) {
  const Ending ending(*this);
  expect(CALL(dat_ep_disconnect, ending.ep(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  for (DAT_UINT64 id = 1; id <= Ending::reads; ++id) {
    const auto data = expect_event(ending.pair.active.requests, DAT_DTO_COMPLETION_EVENT,
                                   "dat.ep-disconnect.flush")
                          .event_data.dto_completion_event_data;
    expect_that(data.user_cookie.as_64 == id, fmt::format("completion {}", id),
                fmt::format("completion {}", data.user_cookie.as_64), "dat.ep-disconnect.flush");
  }
  (void)expect_event(ending.pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect_state(ending.pair.active.ep, DAT_EP_STATE_DISCONNECTED);
  expect_no_event(ending.pair.active.connection);
}

// ---------------------------------------------------------------- not an endpoint

namespace {
// What the calls below may read or write.
DAT_EP_PARAM any_param;
DAT_EP_STATE any_state;
DAT_BOOLEAN any_boolean;
DAT_COUNT any_count;
DAT_LMR_TRIPLET any_segment;
DAT_RMR_TRIPLET any_remote;

DAT_EP_HANDLE freed_endpoint(DatBody& body) {
  const Pz pz = body.ia().pz();
  Side side = make_side(body.ia(), pz);
  const DAT_EP_HANDLE freed = side.ep.get();
  body.need(CALL(dat_ep_free, side.ep.release()), "not freed");
  return freed;
}
}  // namespace

// Two cases for each call: an endpoint that was freed, and a zone.
#define EP_HANDLE_CASES(slug, function, rule, ...)                                            \
  DAT_CASE(slug##_of_a_freed_endpoint_is_refused, calls(function), rules(rule),               \
           with_hostile_handles) {                                                            \
    const DAT_EP_HANDLE ep = freed_endpoint(*this);                                           \
    expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE));                                         \
  }                                                                                           \
  DAT_CASE(slug##_of_a_zone_is_refused, calls(function), rules(rule), with_hostile_handles) { \
    const Pz zone = ia().pz();                                                                \
    const DAT_EP_HANDLE ep = zone.get();                                                      \
    expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE));                                         \
  }
// ... and no handle, for calls that libdat2 answers for.
#define EP_HANDLE_AND_NULL_CASES(slug, function, rule, ...)                    \
  DAT_CASE(slug##_of_a_null_handle_is_refused, calls(function), rules(rule)) { \
    const DAT_EP_HANDLE ep = DAT_HANDLE_NULL;                                  \
    expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE));                          \
  }                                                                            \
  EP_HANDLE_CASES(slug, function, rule, __VA_ARGS__)

EP_HANDLE_AND_NULL_CASES(query, dat_ep_query, "dat.ep-query.invalid-handle",
                         CALL(dat_ep_query, ep, DAT_EP_FIELD_ALL, &any_param))
EP_HANDLE_AND_NULL_CASES(modify, dat_ep_modify, "dat.ep-modify.invalid-handle",
                         CALL(dat_ep_modify, ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &any_param))
EP_HANDLE_AND_NULL_CASES(get_status, dat_ep_get_status, "dat.ep-get-status.invalid-handle",
                         CALL(dat_ep_get_status, ep, &any_state, &any_boolean, &any_boolean))
EP_HANDLE_AND_NULL_CASES(free, dat_ep_free, "dat.ep-free.invalid-handle", CALL(dat_ep_free, ep))
EP_HANDLE_AND_NULL_CASES(reset, dat_ep_reset, "dat.ep-reset.invalid-handle", CALL(dat_ep_reset, ep))
EP_HANDLE_AND_NULL_CASES(recv_query, dat_ep_recv_query, "dat.ep-recv-query.invalid-handle",
                         CALL(dat_ep_recv_query, ep, &any_count, &any_count))
EP_HANDLE_AND_NULL_CASES(set_watermark, dat_ep_set_watermark, "dat.ep-set-watermark.invalid-handle",
                         CALL(dat_ep_set_watermark, ep, 1, 2))
EP_HANDLE_AND_NULL_CASES(connect, dat_ep_connect, "dat.ep-connect.invalid-handle",
                         start_connect(ia(), ep, 7))
EP_HANDLE_AND_NULL_CASES(dup_connect, dat_ep_dup_connect, "dat.ep-dup-connect.invalid-handle",
                         dup_connect(ep, connected().active.ep.get()))
EP_HANDLE_CASES(common_connect, dat_ep_common_connect, "dat.ep-common-connect.invalid-handle",
                common_connect(ep, ia().address()))
EP_HANDLE_AND_NULL_CASES(disconnect, dat_ep_disconnect, "dat.ep-disconnect.invalid-handle",
                         CALL(dat_ep_disconnect, ep, DAT_CLOSE_ABRUPT_FLAG))
EP_HANDLE_AND_NULL_CASES(post_send, dat_ep_post_send, "dat.ep-post-send.invalid-handle",
                         post_send(ep, {any_segment}, 1))
EP_HANDLE_AND_NULL_CASES(post_recv, dat_ep_post_recv, "dat.ep-post-recv.invalid-handle",
                         post_recv(ep, {any_segment}, 1))
EP_HANDLE_AND_NULL_CASES(post_rdma_read, dat_ep_post_rdma_read,
                         "dat.ep-post-rdma-read.invalid-handle",
                         post_read(ep, {any_segment}, any_remote, 1))
EP_HANDLE_AND_NULL_CASES(post_rdma_write, dat_ep_post_rdma_write,
                         "dat.ep-post-rdma-write.invalid-handle",
                         post_write(ep, {any_segment}, any_remote, 1))
EP_HANDLE_CASES(post_rdma_read_to_rmr, dat_ep_post_rdma_read_to_rmr,
                "dat.ep-post-rdma-read-to-rmr.invalid-handle",
                post_read_to_rmr(ep, &any_remote, &any_remote, 1))
EP_HANDLE_CASES(post_send_with_invalidate, dat_ep_post_send_with_invalidate,
                "dat.ep-post-send-with-invalidate.invalid-handle",
                post_send_with_invalidate(ep, {any_segment}, 1, 7))

DAT_CASES_OF_FILE(ep_states)

}  // namespace suite::cases::dat
