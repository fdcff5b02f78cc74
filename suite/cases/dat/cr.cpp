// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connection requests: dat_cr_query, dat_cr_accept, dat_cr_reject, dat_cr_handoff.
#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

/// Those that the provider takes; dat.ia_query judges whether it takes enough.
std::vector<DAT_COUNT> private_data_sizes(const Ia& ia) {
  const DAT_COUNT most = most_private_data(ia);
  std::vector<DAT_COUNT> sizes{1, 48, 64};
  std::erase_if(sizes, [most](DAT_COUNT size) { return size >= most; });
  sizes.push_back(most);
  return sizes;
}

DAT_CR_PARAM query(DatBody& body, DAT_CR_HANDLE cr) {
  DAT_CR_PARAM param{};
  body.expect(CALL(dat_cr_query, cr, DAT_CR_FIELD_ALL, &param), succeeds);
  return param;
}
DAT_RETURN query(DAT_HANDLE handle) {
  DAT_CR_PARAM param{};
  return CALL(dat_cr_query, handle, DAT_CR_FIELD_ALL, &param);
}

/// Private data that no request, accept or reject can carry: refused by `call(size, data)`.
template <typename Call>
void expect_private_data_refused(DatBody& body, Call call) {
  std::vector<std::byte> octets(static_cast<std::size_t>(most_private_data(body.ia())) + 1);
  const DAT_COUNT size = static_cast<DAT_COUNT>(octets.size());
  body.row("a negative size",
           [&] { body.expect(call(-1, octets.data()), returns(DAT_INVALID_PARAMETER)); });
  body.row("one octet more than the limit",
           [&] { body.expect(call(size, octets.data()), returns(DAT_INVALID_PARAMETER)); });
  body.row("no data at the address",
           [&] { body.expect(call(4, nullptr), returns(DAT_INVALID_PARAMETER)); });
}

DAT_CR_HANDLE answered_cr(DatBody& body) {
  PendingRequest pending(body);
  const DAT_CR_HANDLE handle = pending.cr;
  body.need(pending.reject(), "no reject");
  return handle;
}

}  // namespace

// ---------------------------------------------------------------- dat_cr_query

DAT_CASE(query_returns_where_the_peer_is, calls(dat_cr_query), rules("dat.cr-query.success")) {
  const PendingRequest pending(*this);
  const DAT_CR_PARAM param = query(*this, pending.cr);
  const auto* remote = reinterpret_cast<const sockaddr*>(param.remote_ia_address_ptr);
  const auto* own = reinterpret_cast<const sockaddr*>(ia().address());
  expect_that(remote != nullptr, "an address", "null");
  same(*this, "family", remote->sa_family, own->sa_family);
  if (own->sa_family == AF_INET)
    same(*this, "address", reinterpret_cast<const sockaddr_in*>(remote)->sin_addr.s_addr,
         reinterpret_cast<const sockaddr_in*>(own)->sin_addr.s_addr);
  expect_that(param.remote_port_qual != 0, "a port", "none");
  same(*this, "endpoint", param.local_ep_handle, DAT_HANDLE_NULL);
  // The port of the endpoint that asks is passed to its peer (dat_ep_connect).
  DAT_EP_PARAM asking{};
  need(CALL(dat_ep_query, pending.active.ep.get(), DAT_EP_FIELD_ALL, &asking), "no EP query");
  advise_that(asking.local_port_qual == 0 || asking.local_port_qual == param.remote_port_qual,
              fmt::format("port {}", asking.local_port_qual),
              fmt::format("port {}", param.remote_port_qual));
}

DAT_CASE(query_returns_the_private_data, calls(dat_cr_query), rules("dat.cr-query.success")) {
  for (const DAT_COUNT size : private_data_sizes(ia()))
    row(fmt::format("{} octets", size), [&] {
      const auto sent = private_octets(static_cast<std::size_t>(size));
      const PendingRequest pending(*this, sent);
      const DAT_CR_PARAM param = query(*this, pending.cr);
      expect_private_data(*this, sent, param.private_data, param.private_data_size);
    });
}

DAT_CASE(request_without_private_data_shows_none, calls(dat_cr_query),
         rules("dat.cr-query.success")) {
  const PendingRequest pending(*this);
  const DAT_CR_PARAM param = query(*this, pending.cr);
  // A transport may pad private data, so a size alone says nothing against it.
  advise_that(param.private_data_size == 0, "0 octets",
              fmt::format("{} octets", param.private_data_size));
  at_least(*this, "size", param.private_data_size, 0);
}

DAT_CASE(several_threads_query_at_once, calls(dat_cr_query), rules("dat.cr-query.success")) {
  const auto sent = private_octets(32);
  const PendingRequest pending(*this, sent);
  std::array<DAT_CR_PARAM, 4> params{};
  std::array<DAT_RETURN, 4> got{};
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = CALL(dat_cr_query, pending.cr, DAT_CR_FIELD_ALL, &params[at]);
  });
  for (std::size_t i = 0; i < params.size(); ++i) {
    expect(got[i], succeeds);
    expect_private_data(*this, sent, params[i].private_data, params[i].private_data_size);
  }
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_cr_query),
         rules("dat.cr-query.invalid-parameter")) {
  const PendingRequest pending(*this);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, pending.cr, no_such<DAT_CR_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_cr_query),
         rules("dat.cr-query.invalid-parameter"), with_hostile_handles) {
  const PendingRequest pending(*this);
  expect(CALL(dat_cr_query, pending.cr, DAT_CR_FIELD_ALL, nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_cr_query, "dat.cr-query.invalid-handle", DAT_HANDLE_TYPE_CR,
                 answered_cr(*this), query(handle))

// ---------------------------------------------------------------- dat_cr_accept

DAT_CASE(accept_connects_both, calls(dat_cr_accept),
         rules("dat.cr-accept.success", "dat.cr-accept.event-fields")) {
  PendingRequest pending(*this);
  expect(pending.accept(), succeeds);
  for (const Side* side : {&pending.active, &pending.passive}) {
    const auto event = expect_event(side->connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    same(*this, "endpoint", event.event_data.connect_event_data.ep_handle, side->ep.get(),
         "dat.cr-accept.event-fields");
    same(*this, "EVD", event.evd_handle, side->connection.get(), "dat.cr-accept.event-fields");
    expect_state(side->ep, DAT_EP_STATE_CONNECTED);
  }
}

DAT_CASE(requests_are_answered_in_any_order, calls(dat_cr_accept, dat_cr_reject, dat_cr_query),
         rules("dat.cr-query.success", "dat.cr-accept.success", "dat.cr-reject.success")) {
  PendingRequest first(*this, private_octets(40));
  const Side again = make_side(ia(), first.pz), third = make_side(ia(), first.pz);
  need(ask(ia(), again.ep, first.qualifier, private_octets(7)), "no connect");
  const DAT_CR_HANDLE second = arrival(*this, first.requests).cr_handle;
  for (const auto& [cr, size] : {std::pair{first.cr, 40}, std::pair{second, 7}}) {
    const DAT_CR_PARAM param = query(*this, cr);
    expect_private_data(*this, private_octets(static_cast<std::size_t>(size)), param.private_data,
                        param.private_data_size, "dat.cr-query.success");
  }
  expect(CALL(dat_cr_accept, second, third.ep.get(), 0, nullptr), succeeds,
         "dat.cr-accept.success");
  expect_event(again.connection, DAT_CONNECTION_EVENT_ESTABLISHED, "dat.cr-accept.success");
  expect_state(first.active.ep, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, "dat.cr-accept.success");
  expect(first.reject(), succeeds, "dat.cr-reject.success");
  expect_event(first.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED,
               "dat.cr-reject.success");
  expect_state(again.ep, DAT_EP_STATE_CONNECTED, "dat.cr-reject.success");
}

/// What a request came with is the consumer's until the request is answered.
DAT_CASE(each_request_keeps_what_it_came_with, calls(dat_cr_query), rules("dat.cr-query.success")) {
  PendingRequest first(*this, private_octets(40));
  const DAT_CR_PARAM before = query(*this, first.cr);
  const auto port_of = [](DAT_IA_ADDRESS_PTR address) {  // in the same place in both families
    return reinterpret_cast<const sockaddr_in*>(address)->sin_port;
  };
  const auto port = port_of(before.remote_ia_address_ptr);
  const Side again = make_side(ia(), first.pz);
  std::vector<std::byte> others(40, std::byte{0x11});
  need(ask(ia(), again.ep, first.qualifier, others), "no connect");
  const DAT_CR_HANDLE second = arrival(*this, first.requests).cr_handle;
  const DAT_CR_PARAM after = query(*this, second);
  expect_private_data(*this, others, after.private_data, after.private_data_size);
  expect_private_data(*this, private_octets(40), before.private_data, before.private_data_size);
  same(*this, "port at the address", port_of(before.remote_ia_address_ptr), port);
  (void)dat_cr_reject(second, 0, nullptr);
}

DAT_CASE(port_of_the_peer_is_that_of_its_endpoint, calls(dat_cr_query, dat_ep_connect),
         rules("dat.cr-query.success")) {
  PendingRequest pending(*this);
  const DAT_PORT_QUAL port = query(*this, pending.cr).remote_port_qual;
  need(pending.accept(), "no accept");
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  DAT_EP_PARAM asking{};
  need(CALL(dat_ep_query, pending.active.ep.get(), DAT_EP_FIELD_ALL, &asking), "no EP query");
  advise_that(asking.local_port_qual == port, fmt::format("port {}", asking.local_port_qual),
              fmt::format("port {}", port));
}

DAT_CASE(accepted_request_is_gone, calls(dat_cr_accept), rules("dat.cr-accept.success"),
         with_hostile_handles) {
  PendingRequest pending(*this);
  const DAT_CR_HANDLE cr = pending.cr;
  expect(pending.accept(), succeeds);
  expect(query(cr), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(private_data_of_an_accept_comes_with_the_event, calls(dat_cr_accept),
         rules("dat.cr-accept.private-data")) {
  for (const DAT_COUNT size : private_data_sizes(ia()))
    row(fmt::format("{} octets", size), [&] {
      const auto sent = private_octets(static_cast<std::size_t>(size));
      PendingRequest pending(*this);
      expect(pending.accept(sent), succeeds);
      const auto data = expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED)
                            .event_data.connect_event_data;
      expect_private_data(*this, sent, data.private_data, data.private_data_size);
    });
}

DAT_CASE(passive_side_gets_no_private_data, calls(dat_cr_accept),
         rules("dat.cr-accept.private-data")) {
  PendingRequest pending(*this, private_octets(16));
  expect(pending.accept(private_octets(8)), succeeds);
  const auto data = expect_event(pending.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED)
                        .event_data.connect_event_data;
  same(*this, "size", data.private_data_size, 0);
}

DAT_CASE(accept_of_no_request_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-handle")) {
  const PendingRequest pending(*this);
  expect(CALL(dat_cr_accept, DAT_HANDLE_NULL, pending.passive.ep.get(), 0, nullptr),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(accept_of_an_answered_request_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-handle"), with_hostile_handles) {
  const DAT_CR_HANDLE cr = answered_cr(*this);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_cr_accept, cr, side.ep.get(), 0, nullptr), returns(DAT_INVALID_HANDLE));
  expect_state(side.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(accept_with_an_invalid_endpoint_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-handle"), with_hostile_handles) {
  PendingRequest pending(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EP);
  others.emplace_back("a freed endpoint", freed(std::move(make_side(ia(), pending.pz).ep)));
  for (const auto& [name, handle] : others)
    row(name, [&] { expect(pending.accept(handle, 0, nullptr), returns(DAT_INVALID_HANDLE)); });
}

DAT_CASE(accept_without_any_endpoint_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-handle")) {
  PendingRequest pending(*this);  // at a service point that provides no endpoint
  expect(pending.accept(DAT_HANDLE_NULL, 0, nullptr),
         returns(DAT_INVALID_HANDLE).or_tolerably(DAT_INVALID_PARAMETER));
}

DAT_CASE(accept_with_impossible_private_data_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-parameter"), with_hostile_handles) {
  PendingRequest pending(*this);
  expect_private_data_refused(*this, [&](DAT_COUNT size, DAT_PVOID data) {
    return pending.accept(pending.passive.ep.get(), size, data);
  });
}

DAT_CASE(request_can_be_accepted_after_a_refused_accept, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-parameter")) {
  PendingRequest pending(*this);
  const DAT_COUNT most = most_private_data(ia());
  auto octets = private_octets(static_cast<std::size_t>(most) + 1);
  expect(pending.accept(pending.passive.ep.get(), most + 1, octets.data()),
         returns(DAT_INVALID_PARAMETER));
  expect_state(pending.passive.ep, DAT_EP_STATE_UNCONNECTED);
  expect(pending.accept(), succeeds);
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(accept_with_a_connected_endpoint_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.ep-state")) {
  const Pair pair = connected();
  PendingRequest pending(*this);
  expect(pending.accept(pair.passive.ep.get(), 0, nullptr),
         returns_one_of({DAT_INVALID_STATE, DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
  expect(pending.accept(), succeeds);  // the request still exists
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// A request that an accept has refused can still be accepted or rejected.
DAT_CASE(request_outlives_each_refused_accept, calls(dat_cr_accept, dat_cr_reject),
         rules("dat.cr-accept.ep-state", "dat.cr-reject.success")) {
  const auto refuses = [&](const char* name, const std::function<Ep(const Side&, const Pz&)>& make,
                           bool then_rejected) {
    row(fmt::format("{}, then {}", name, then_rejected ? "rejected" : "accepted"), [&] {
      PendingRequest pending(*this);
      const Side spare = make_side(ia(), pending.pz);
      const Ep ep = make(spare, pending.pz);
      expect(pending.accept(ep.get() == DAT_HANDLE_NULL ? pending.active.ep.get() : ep.get(), 0,
                            nullptr),
             returns_one_of({DAT_INVALID_STATE, DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE})
                 .or_tolerably(DAT_PROTECTION_VIOLATION));
      if (then_rejected) {
        expect(pending.reject(), succeeds, "dat.cr-reject.success");
        expect_event(pending.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED,
                     "dat.cr-reject.success");
        return;
      }
      expect(pending.accept(), succeeds);
      expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    });
  };
  const auto lacking = [&](bool zone, bool connection) {
    return [this, zone, connection](const Side& spare, const Pz& pz) {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      need(CALL(dat_ep_create, ia().get(), zone ? pz.get() : DAT_HANDLE_NULL, spare.receives.get(),
                spare.requests.get(), connection ? spare.connection.get() : DAT_HANDLE_NULL,
                nullptr, &handle),
           "no endpoint without one of its parts");
      return Ep(handle);
    };
  };
  for (const bool then_rejected : {false, true}) {
    refuses("an endpoint without a zone", lacking(false, true), then_rejected);
    refuses(
        "the endpoint that has asked", [](const Side&, const Pz&) { return Ep(); }, then_rejected);
  }
}

DAT_CASE(accept_with_the_endpoint_of_another_request_is_refused, calls(dat_cr_accept),
         rules("dat.cr-accept.ep-state")) {
  PendingRequest pending(*this);
  // The endpoint that has asked waits for its own connection.
  expect(pending.accept(pending.active.ep.get(), 0, nullptr),
         returns_one_of({DAT_INVALID_STATE, DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
  expect_state(pending.active.ep, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
}

DAT_CASE(endpoint_of_another_ia_cannot_accept, calls(dat_cr_accept),
         rules("dat.cr-accept.invalid-handle"), with_hostile_handles) {
  const Ia other(target());
  const Pz pz = other.pz();
  const Side side = make_side(other, pz);
  PendingRequest pending(*this);
  expect(pending.accept(side.ep.get(), 0, nullptr),
         returns(DAT_INVALID_HANDLE).or_tolerably(DAT_INVALID_PARAMETER));
}

// ---------------------------------------------------------------- dat_cr_reject

DAT_CASE(reject_is_reported_to_the_peer, calls(dat_cr_reject), rules("dat.cr-reject.success")) {
  PendingRequest pending(*this);
  expect(pending.reject(), succeeds);
  const auto event = expect_event(pending.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  same(*this, "endpoint", event.event_data.connect_event_data.ep_handle, pending.active.ep.get());
  expect_state(pending.active.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(reject_leaves_the_service_point, calls(dat_cr_reject), rules("dat.cr-reject.success")) {
  PendingRequest pending(*this);
  expect(pending.reject(), succeeds);
  const Side again = make_side(ia(), pending.pz);
  need(ask(ia(), again.ep, pending.qualifier), "no connect");
  pending.cr = arrival(*this, pending.requests).cr_handle;
  expect(pending.accept(), succeeds);
  expect_event(again.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(private_data_of_a_reject_comes_with_the_event, calls(dat_cr_reject),
         rules("dat.cr-reject.private-data")) {
  for (const DAT_COUNT size : private_data_sizes(ia()))
    row(fmt::format("{} octets", size), [&] {
      auto sent = private_octets(static_cast<std::size_t>(size));
      PendingRequest pending(*this);
      expect(pending.reject(size, sent.data()), succeeds);
      const auto data = expect_event(pending.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED)
                            .event_data.connect_event_data;
      expect_private_data(*this, sent, data.private_data, data.private_data_size);
    });
}

DAT_CASE(endpoint_of_a_reserved_service_point_is_free_after_a_reject,
         calls(dat_cr_reject, dat_rsp_create), rules("dat.cr-reject.ep-returns")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect(CALL(dat_cr_reject, request.cr_handle, 0, nullptr), succeeds);
  expect_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED);
  expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

DAT_CASE(private_data_of_a_reject_comes_from_a_reserved_service_point,
         calls(dat_cr_reject, dat_rsp_create), rules("dat.cr-reject.private-data")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  auto sent = private_octets(20);
  expect(CALL(dat_cr_reject, arrival(*this, reserved.requests).cr_handle, 20, sent.data()),
         succeeds);
  const auto data = expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED)
                        .event_data.connect_event_data;
  expect_private_data(*this, sent, data.private_data, data.private_data_size);
}

DAT_CASE(reject_with_impossible_private_data_is_refused, calls(dat_cr_reject),
         rules("dat.cr-reject.invalid-parameter"), with_hostile_handles) {
  PendingRequest pending(*this);
  expect_private_data_refused(
      *this, [&](DAT_COUNT size, DAT_PVOID data) { return pending.reject(size, data); });
}

DAT_HANDLE_CASES(reject, dat_cr_reject, "dat.cr-reject.invalid-handle", DAT_HANDLE_TYPE_CR,
                 answered_cr(*this), CALL(dat_cr_reject, handle, 0, nullptr))

// ---------------------------------------------------------------- dat_cr_handoff

DAT_CASE(request_is_handed_to_another_service_point, calls(dat_cr_handoff),
         rules("dat.cr-handoff.success")) {
  const auto sent = private_octets(24);
  PendingRequest pending(*this, sent);
  const Evd others = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(others);
  const DAT_PORT_QUAL peer_port = query(*this, pending.cr).remote_port_qual;
  expect(CALL(dat_cr_handoff, pending.cr, qualifier), succeeds);
  pending.cr = DAT_HANDLE_NULL;
  const auto request = arrival(*this, others);
  same(*this, "service point", request.sp_handle.psp_handle, psp.get());
  same(*this, "Connection Qualifier", request.conn_qual, qualifier);
  const auto* local = reinterpret_cast<const sockaddr_in*>(request.local_ia_address_ptr);
  const auto* own = reinterpret_cast<const sockaddr_in*>(ia().address());
  expect_that(local != nullptr && local->sin_family == own->sin_family &&
                  (own->sin_family != AF_INET || local->sin_addr.s_addr == own->sin_addr.s_addr),
              "the address of the IA", "another address");
  const DAT_CR_PARAM param = query(*this, request.cr_handle);
  expect_private_data(*this, sent, param.private_data, param.private_data_size);
  same(*this, "port of the peer", param.remote_port_qual, peer_port);
  expect(CALL(dat_cr_accept, request.cr_handle, pending.passive.ep.get(), 0, nullptr), succeeds);
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(pending.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(request_is_handed_to_a_reserved_service_point, calls(dat_cr_handoff),
         rules("dat.cr-handoff.success")) {
  const auto sent = private_octets(24);
  PendingRequest pending(*this, sent);
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  expect(CALL(dat_cr_handoff, pending.cr, reserved.qualifier), succeeds);
  pending.cr = DAT_HANDLE_NULL;
  const auto request = arrival(*this, reserved.requests);
  const DAT_CR_PARAM param = query(*this, request.cr_handle);
  same(*this, "endpoint", param.local_ep_handle, reserved.passive.ep.get());
  expect_private_data(*this, sent, param.private_data, param.private_data_size);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(handed_off_request_is_gone, calls(dat_cr_handoff), rules("dat.cr-handoff.success"),
         with_hostile_handles) {
  PendingRequest pending(*this);
  const Evd others = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(others);
  const DAT_CR_HANDLE cr = std::exchange(pending.cr, DAT_HANDLE_NULL);
  expect(CALL(dat_cr_handoff, cr, qualifier), succeeds);
  expect(query(cr), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(handoff_to_an_unused_qualifier_is_refused, calls(dat_cr_handoff),
         rules("dat.cr-handoff.invalid-parameter")) {
  PendingRequest pending(*this);
  expect(CALL(dat_cr_handoff, pending.cr, free_qualifier(ia())), returns(DAT_INVALID_PARAMETER));
  expect(pending.accept(), succeeds);  // the request still exists
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_HANDLE_CASES(handoff, dat_cr_handoff, "dat.cr-handoff.invalid-handle", DAT_HANDLE_TYPE_CR,
                 answered_cr(*this), CALL(dat_cr_handoff, handle, free_qualifier(ia())))

DAT_CASES_OF_FILE(cr)

}  // namespace suite::cases::dat
