// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Common service points, which libdat2 leaves to the provider's table: dat_csp_create,
// dat_csp_query, dat_csp_free.
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

/// What is needed to make a common service point of the IA.
struct Common {
  explicit Common(DatBody& body) : Common(body, body.ia().evd(DAT_EVD_CR_FLAG)) {}
  /// Whose EVD has room for so few requests.
  Common(DatBody& body, DAT_COUNT room) : Common(body, body.ia().evd(DAT_EVD_CR_FLAG, room)) {}
  Common(DatBody& body, Evd evd) : requests(std::move(evd)) {
    if (dats_get_ia_handle(body.ia().get(), &own) != DAT_SUCCESS)
      body.stop(Verdict::inconclusive, "libdat2 does not convert the IA handle");
    std::memcpy(&address, body.ia().address(), sizeof address);
    comm = tcp_communicator(body.ia());
  }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
  ~Common() {
    if (csp != DAT_HANDLE_NULL) (void)free();
  }
  DAT_RETURN create() { return create(&comm, pointer(), requests.get()); }
  DAT_RETURN create(DAT_COMM* form, DAT_IA_ADDRESS_PTR at, DAT_EVD_HANDLE evd) {
    return CALL(DAT_CSP_CREATE, own, form, at, evd, &csp);
  }
  DAT_RETURN free() {
    const DAT_CSP_HANDLE handle = std::exchange(csp, DAT_HANDLE_NULL);
    return CALL(DAT_CSP_FREE, handle);
  }
  DAT_IA_ADDRESS_PTR pointer() { return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address); }
  in_port_t& port() {
    return address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&address)->sin_port
                                        : reinterpret_cast<sockaddr_in6*>(&address)->sin6_port;
  }
  void listen_at(DAT_CONN_QUAL qualifier) { port() = htons(static_cast<in_port_t>(qualifier)); }

  Evd requests;
  DAT_IA_HANDLE own = DAT_HANDLE_NULL;
  sockaddr_storage address{};
  DAT_COMM comm{};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
};

/// Makes the service point at a port where nobody listens.
DAT_CONN_QUAL create_at_a_free_port(DatBody& body, Common& common) {
  const DAT_CONN_QUAL qualifier = free_qualifier(body.ia());
  common.listen_at(qualifier);
  body.expect(common.create(), succeeds);
  return qualifier;
}

/// A connection that is asked for at the service point, and an endpoint to accept it.
struct AtCommon {
  AtCommon(DatBody& body, Common& common)
      : qualifier(create_at_a_free_port(body, common)),
        pz(body.ia().pz()),
        active(make_side(body.ia(), pz)),
        passive(make_side(body.ia(), pz)) {
    body.need(ask(body.ia(), active.ep, qualifier), "no connect");
    request = arrival(body, common.requests);
  }
  DAT_RETURN accept() const {
    return CALL(dat_cr_accept, request.cr_handle, passive.ep.get(), 0, nullptr);
  }
  DAT_CONN_QUAL qualifier;
  Pz pz;
  Side active, passive;
  DAT_CR_ARRIVAL_EVENT_DATA request{};
};

}  // namespace

DAT_CASE(request_comes_to_a_common_service_point, calls(dat_csp_create),
         rules("dat.csp-create.success")) {
  Common common(*this);
  const AtCommon pending(*this, common);
  const auto& request = pending.request;
  same(*this, "service point", request.sp_handle.csp_handle, common.csp);
  advise_that(request.conn_qual == pending.qualifier, value_text(pending.qualifier),
              value_text(request.conn_qual));
  expect(pending.accept(), succeeds);
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(requests_beyond_the_evd_are_not_established, calls(dat_csp_create),
         rules("dat.csp-create.backlog")) {
  Common common(*this, 1);
  expect_overrun_refused(*this, common.requests,
                         [&] { return create_at_a_free_port(*this, common); });
}

DAT_CASE(communicator_of_another_transport_is_refused, calls(dat_csp_create),
         rules("dat.csp-create.comm-not-supported")) {
  Common common(*this);
  const auto refused = [&](const char* name, DAT_COMM form) {
    row(name, [&] {
      expect(common.create(&form, common.pointer(), common.requests.get()),
             returns(DAT_COMM_NOT_SUPPORTED));
    });
  };
  DAT_COMM form = common.comm;
  form.type = SOCK_DGRAM;
  form.protocol = IPPROTO_UDP;
  refused("UDP", form);
  form = common.comm;
  form.type = SOCK_DGRAM;
  form.protocol = 0;
  refused("datagrams of the usual protocol", form);
  form = common.comm;
  form.domain = AF_UNIX;
  refused("local sockets", form);
  form = common.comm;
  form.protocol = IPPROTO_SCTP;
  refused("a stream over SCTP", form);
}

DAT_CASE(port_in_use_is_refused, calls(dat_csp_create), rules("dat.csp-create.port-in-use")) {
  Common common(*this);
  const auto [psp, qualifier] = ia().psp(common.requests);
  common.listen_at(qualifier);
  expect(common.create(), returns(DAT_PORT_IN_USE));
}

DAT_CASE(address_that_is_not_the_ias_is_refused, calls(dat_csp_create),
         rules("dat.csp-create.invalid-address")) {
  Common common(*this);
  if (common.address.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in*>(&common.address)->sin_addr.s_addr = htonl(0xC0000201);
  else
    reinterpret_cast<sockaddr_in6*>(&common.address)->sin6_addr.s6_addr[15] ^= 0x55;
  expect(common.create(), returns_one_of({DAT_INVALID_ADDRESS, DAT_INVALID_PARAMETER}));
}

DAT_CASE(service_point_that_lacks_something_is_refused, calls(dat_csp_create),
         rules("dat.csp-create.invalid-parameter"), with_hostile_handles) {
  Common common(*this);
  row("no communicator", [&] {
    expect(common.create(nullptr, common.pointer(), common.requests.get()),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no address", [&] {
    expect(common.create(&common.comm, nullptr, common.requests.get()),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no place for the handle", [&] {
    expect(CALL(DAT_CSP_CREATE, common.own, &common.comm, common.pointer(), common.requests.get(),
                nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(service_point_without_evd_for_requests_is_refused, calls(dat_csp_create),
         rules("dat.csp-create.invalid-handle"), with_hostile_handles) {
  Common common(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EVD);
  others.insert(others.begin(),
                {{"no handle", DAT_HANDLE_NULL}, {"an EVD for DTOs", live.evd.get()}});
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(common.create(&common.comm, common.pointer(), handle), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(service_point_with_an_invalid_ia_is_refused, calls(dat_csp_create),
         rules("dat.csp-create.invalid-handle"), with_hostile_handles) {
  Common common(*this);
  const LiveObjects live(ia());
  const auto call = DAT_HANDLE_TO_PROVIDER(common.own)->csp_create_func;
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_IA))
    row(name, [&] {
      expect(CALL(call, handle, &common.comm, common.pointer(), common.requests.get(), &common.csp),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(query_returns_what_it_was_made_of, calls(dat_csp_query), rules("dat.csp-query.success")) {
  Common common(*this);
  (void)create_at_a_free_port(*this, common);
  DAT_CSP_PARAM param{};
  expect(CALL(DAT_CSP_QUERY, common.csp, DAT_CSP_FIELD_ALL, &param), succeeds);
  same(*this, "IA", param.ia_handle, ia().get());
  same(*this, "EVD", param.evd_handle, common.requests.get());
  expect_that(param.comm != nullptr && param.address_ptr != nullptr, "communicator and address",
              "null");
  same(*this, "domain", param.comm->domain, common.comm.domain);
  same(*this, "type", param.comm->type, common.comm.type);
  const auto* address = reinterpret_cast<const sockaddr_in*>(param.address_ptr);
  same(*this, "port", address->sin_port, common.port());  // in the same place in both families
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_csp_query),
         rules("dat.csp-query.invalid-parameter")) {
  Common common(*this);
  expect(common.create(), succeeds);
  DAT_CSP_PARAM param{};
  expect(CALL(DAT_CSP_QUERY, common.csp, no_such<DAT_CSP_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_csp_query),
         rules("dat.csp-query.invalid-parameter"), with_hostile_handles) {
  Common common(*this);
  expect(common.create(), succeeds);
  expect(CALL(DAT_CSP_QUERY, common.csp, DAT_CSP_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_of_a_freed_handle_is_refused, calls(dat_csp_query),
         rules("dat.csp-query.invalid-handle"), with_hostile_handles) {
  Common common(*this);
  expect(common.create(), succeeds);
  const DAT_CSP_HANDLE handle = common.csp;
  need(common.free(), "not freed");
  DAT_CSP_PARAM param{};
  expect(CALL(DAT_CSP_QUERY, handle, DAT_CSP_FIELD_ALL, &param), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(dispatcher_of_a_common_service_point_is_not_freed, calls(dat_evd_free, dat_csp_free),
         rules("dat.evd-free.invalid-state", "dat.evd-free.success")) {
  Common common(*this);
  expect(common.create(), succeeds, "dat.evd-free.invalid-state");
  expect(CALL(dat_evd_free, common.requests.get()), returns(DAT_INVALID_STATE));
  need(common.free(), "not freed");
  expect(CALL(dat_evd_free, common.requests.release()), succeeds, "dat.evd-free.success");
}

DAT_CASE(freed_service_point_listens_no_more, calls(dat_csp_free), rules("dat.csp-free.success")) {
  Common common(*this);
  const DAT_CONN_QUAL qualifier = create_at_a_free_port(*this, common);
  expect(common.free(), succeeds);
  expect_nobody_listens(*this, qualifier);
  expect(common.create(), succeeds);  // the port is free again
}

/// As of other service points; no page is about these.
DAT_CASE(request_outlives_its_service_point, calls(dat_csp_free), rules("dat.csp-free.success")) {
  Common common(*this);
  const AtCommon pending(*this, common);
  expect(common.free(), succeeds);
  const DAT_RETURN got = pending.accept();
  const auto end = next_event(pending.active.connection).event_number;
  advise_that(got == DAT_SUCCESS && end == DAT_CONNECTION_EVENT_ESTABLISHED,
              event_text(DAT_CONNECTION_EVENT_ESTABLISHED), event_text(end));
}

DAT_CASE(free_of_a_freed_handle_is_refused, calls(dat_csp_free),
         rules("dat.csp-free.invalid-handle"), with_hostile_handles) {
  Common common(*this);
  expect(common.create(), succeeds);
  const DAT_CSP_HANDLE handle = common.csp;
  need(common.free(), "not freed");
  expect(CALL(DAT_CSP_FREE, handle), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(free_of_another_type_is_refused, calls(dat_csp_free), rules("dat.csp-free.invalid-handle"),
         with_hostile_handles) {
  Common common(*this);
  expect(common.create(), succeeds);  // the provider has such service points
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_CSP))
    row(name, [&] { expect(CALL(DAT_CSP_FREE, handle), returns(DAT_INVALID_HANDLE)); });
}

DAT_CASES_OF_FILE(csp)

}  // namespace suite::cases::dat
