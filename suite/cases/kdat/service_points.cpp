// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reserved and common service points, and requests that are handed off to another point.
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

/// A qualifier that nobody listens at: the kernel has just given it away, and got it back.
Word free_qualifier(KdatBody& body) {
  KernelPair pair;
  body.listen(pair);
  body.need(body.call(RNIC_KDAT_PSP_FREE, {pair.psp}), "the service point stays");
  return pair.qualifier;
}

/// An endpoint that is reserved, and one that will ask for it.
struct Reserved {
  explicit Reserved(KdatBody& body)
      : pz(body.pz()),
        arrivals(body.evd(DAT_EVD_CR_FLAG, 8)),
        qualifier(free_qualifier(body)),
        active(body.side(pz)),
        passive(body.side(pz)) {}
  Result create(KdatBody& body) const {
    return body.call(RNIC_KDAT_RSP_CREATE, {body.ia_handle(), qualifier, passive.ep, arrivals});
  }

  Word pz, arrivals, qualifier;
  KernelSide active, passive;
};

}  // namespace

// ---------------------------------------------------------------- reserved

KDAT_CASE(reserved_endpoint_takes_the_request,
          calls(dat_rsp_create, dat_rsp_query, dat_rsp_free, dat_cr_query, dat_cr_accept),
          rules("dat.rsp-create.success", "dat.rsp-query.success", "dat.rsp-free.success")) {
  const Reserved reserved(*this);
  const Result rsp = reserved.create(*this);
  expect(rsp, succeeds);
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_RESERVED);
  const Result got = call(RNIC_KDAT_RSP_QUERY, {rsp.out(0), 0xF});
  const RuleRef query = "dat.rsp-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(0), ia_handle(), query);
  expect_number("qualifier", got.out(1), reserved.qualifier, query);
  expect_number("EVD", got.out(2), reserved.arrivals, query);
  expect_number("EP", got.out(3), reserved.passive.ep, query);

  need(start_connect(reserved.active.ep, reserved.qualifier), "no connect");
  const KernelEvent request = expect_upcall(reserved.arrivals, DAT_CONNECTION_REQUEST_EVENT);
  expect_number("qualifier", request.qualifier, reserved.qualifier);
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  expect_number("endpoint of the request",
                call(RNIC_KDAT_CR_QUERY, {request.cr, DAT_CR_FIELD_ALL}).out(2),
                reserved.passive.ep);
  expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, 0, 0}), succeeds);
  (void)expect_upcall(reserved.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  (void)expect_upcall(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_CONNECTED);
  expect(call(RNIC_KDAT_RSP_FREE, {rsp.out(0)}), succeeds, "dat.rsp-free.success");
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_CONNECTED, "dat.rsp-free.success");
}

KDAT_CASE(reserved_point_takes_one_request, calls(dat_rsp_create, dat_cr_reject),
          rules("dat.rsp-create.one-request", "dat.rsp-create.success")) {
  const Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(start_connect(reserved.active.ep, reserved.qualifier), "no connect");
  const KernelEvent request =
      expect_upcall(reserved.arrivals, DAT_CONNECTION_REQUEST_EVENT, "dat.rsp-create.success");
  const KernelSide second = side(reserved.pz);
  need(start_connect(second.ep, reserved.qualifier), "no connect");
  (void)expect_upcall(second.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  // The rejected one leaves the endpoint to other uses.
  need(call(RNIC_KDAT_CR_REJECT, {request.cr, 0}), "no reject");
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED, "dat.rsp-create.success");
}

KDAT_CASE(freed_reserved_point_gives_its_endpoint_back,
          calls(dat_rsp_create, dat_rsp_free, dat_ep_free),
          rules("dat.rsp-free.success", "dat.ep-free.invalid-state")) {
  const Reserved reserved(*this);
  const Result rsp = reserved.create(*this);
  need(rsp, "no RSP");
  expect(call(RNIC_KDAT_EP_FREE, {reserved.passive.ep}), returns(DAT_INVALID_STATE),
         "dat.ep-free.invalid-state");
  expect(call(RNIC_KDAT_RSP_FREE, {rsp.out(0)}), succeeds);
  expect_ep_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED);
  need(start_connect(reserved.active.ep, reserved.qualifier), "no connect");
  (void)expect_upcall(reserved.active.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  expect(call(RNIC_KDAT_RSP_QUERY, {rsp.out(0), 1}), returns(DAT_INVALID_HANDLE));
}

KDAT_CASE(bad_reservations_are_refused, calls(dat_rsp_create, dat_rsp_query, dat_rsp_free),
          rules("dat.rsp-create.in-use", "dat.rsp-create.invalid-state",
                "dat.rsp-create.invalid-handle", "dat.rsp-create.invalid-parameter",
                "dat.rsp-query.invalid-handle", "dat.rsp-query.invalid-parameter",
                "dat.rsp-free.invalid-handle")) {
  const Reserved reserved(*this);
  const Word ia = ia_handle(), ep = reserved.passive.ep, arrivals = reserved.arrivals;
  const auto create = [&](Word of, Word qualifier, Word with, Word evd_of,
                          std::uint32_t nulls = 0) {
    return call(RNIC_KDAT_RSP_CREATE, {of, qualifier, with, evd_of}, {.nulls = nulls});
  };
  row("something else in place of a handle", [&] {
    const RuleRef rule = "dat.rsp-create.invalid-handle";
    for (const Word none : {Word{0}, reserved.pz}) {
      expect(create(none, reserved.qualifier, ep, arrivals), returns(DAT_INVALID_HANDLE), rule);
      expect(create(ia, reserved.qualifier, ep, none), returns(DAT_INVALID_HANDLE), rule);
    }
    expect(create(ia, reserved.qualifier, reserved.pz, arrivals), returns(DAT_INVALID_HANDLE),
           rule);
    expect(create(ia, reserved.qualifier, ep, reserved.passive.requests),
           returns(DAT_INVALID_HANDLE), rule);
  });
  row("a qualifier that is none", [&] {
    expect(create(ia, 0x1'0000, ep, arrivals), returns(DAT_INVALID_PARAMETER),
           "dat.rsp-create.invalid-parameter");
  });
  row("no place for the handle", [&] {
    expect(create(ia, reserved.qualifier, ep, arrivals, RNIC_KDAT_NULL(0)),
           returns(DAT_INVALID_PARAMETER), "dat.rsp-create.invalid-parameter");
  });
  row("a qualifier in use", [&] {
    KernelPair pair;
    listen(pair);
    expect(create(ia, pair.qualifier, ep, arrivals), returns(DAT_CONN_QUAL_IN_USE));
    expect_ep_state(ep, DAT_EP_STATE_UNCONNECTED);
  });
  row("an endpoint that is reserved", [&] {
    const Result rsp = reserved.create(*this);
    need(rsp, "no RSP");
    const RuleRef rule = "dat.rsp-create.invalid-state";
    expect(create(ia, reserved.qualifier, ep, arrivals), returns(DAT_INVALID_STATE), rule);
    expect(start_connect(ep, reserved.qualifier), returns(DAT_INVALID_STATE), rule);
    expect_refused_without(RNIC_KDAT_RSP_QUERY, {rsp.out(0), 1}, {0},
                           "dat.rsp-query.invalid-parameter");
    expect(call(RNIC_KDAT_RSP_QUERY, {rsp.out(0), 0x100}), returns(DAT_INVALID_PARAMETER),
           "dat.rsp-query.invalid-parameter");
  });
  row("no reserved point", [&] {
    for (const Word none : {Word{0}, ia}) {
      expect(call(RNIC_KDAT_RSP_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE),
             "dat.rsp-query.invalid-handle");
      expect(call(RNIC_KDAT_RSP_FREE, {none}), returns(DAT_INVALID_HANDLE),
             "dat.rsp-free.invalid-handle");
    }
  });
}

// ---------------------------------------------------------------- common

namespace {

struct Communicator {
  Word domain = AF_INET, type = SOCK_STREAM, protocol = IPPROTO_TCP;
};

Result common_point(KdatBody& body, Word qualifier, Word arrivals, const Communicator& form = {},
                    Word address = 0, std::uint32_t nulls = 0) {
  return body.call(
      RNIC_KDAT_CSP_CREATE,
      {body.ia_handle(), form.domain, form.type, form.protocol, address, qualifier, arrivals},
      {.nulls = nulls});
}

}  // namespace

KDAT_CASE(common_point_takes_requests,
          calls(dat_csp_create, dat_csp_query, dat_csp_free, dat_ep_common_connect),
          rules("dat.csp-create.success", "dat.csp-query.success", "dat.csp-free.success")) {
  const Word arrivals = evd(DAT_EVD_CR_FLAG, 8), qualifier = free_qualifier(*this);
  const Result csp = common_point(*this, qualifier, arrivals);
  expect(csp, succeeds);
  const Result got = call(RNIC_KDAT_CSP_QUERY, {csp.out(0), 0xF});
  const RuleRef query = "dat.csp-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(0), ia_handle(), query);
  expect_number("domain", got.out(1), AF_INET, query);
  expect_number("type", got.out(2), SOCK_STREAM, query);
  expect_number("protocol", got.out(3), IPPROTO_TCP, query);
  expect_number("address", got.out(4),
                call(RNIC_KDAT_IA_QUERY, {ia_handle(), 1, 1}).out(RNIC_KDAT_IA_ADDRESS), query);
  expect_number("port", got.out(5), qualifier, query);
  expect_number("EVD", got.out(6), arrivals, query);

  const Word zone = pz();
  const KernelSide active = side(zone), passive = side(zone), late = side(zone);
  need(call(RNIC_KDAT_EP_COMMON_CONNECT, {active.ep, 0, qualifier, ia_handle(), 10'000'000, 0}),
       "no connect");
  const KernelEvent request = expect_upcall(arrivals, DAT_CONNECTION_REQUEST_EVENT);
  expect_number("service point", request.psp, csp.out(0));
  need(call(RNIC_KDAT_CR_ACCEPT, {request.cr, passive.ep, 0}), "no accept");
  (void)expect_upcall(active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const RuleRef freed = "dat.csp-free.success";
  expect(call(RNIC_KDAT_CSP_FREE, {csp.out(0)}), succeeds, freed);
  need(start_connect(late.ep, qualifier), "no connect");
  (void)expect_upcall(late.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, freed);
  expect_ep_state(active.ep, DAT_EP_STATE_CONNECTED, freed);
}

KDAT_CASE(bad_common_points_are_refused, calls(dat_csp_create, dat_csp_query, dat_csp_free),
          rules("dat.csp-create.comm-not-supported", "dat.csp-create.port-in-use",
                "dat.csp-create.invalid-address", "dat.csp-create.invalid-parameter",
                "dat.csp-create.invalid-handle", "dat.csp-query.invalid-parameter",
                "dat.csp-query.invalid-handle", "dat.csp-free.invalid-handle")) {
  const Word arrivals = evd(DAT_EVD_CR_FLAG, 8), qualifier = free_qualifier(*this);
  row("another transport", [&] {
    for (const Communicator& form : {Communicator{.type = SOCK_DGRAM, .protocol = IPPROTO_UDP},
                                     Communicator{.domain = AF_UNIX, .protocol = 0}})
      expect(common_point(*this, qualifier, arrivals, form), returns(DAT_COMM_NOT_SUPPORTED),
             "dat.csp-create.comm-not-supported");
  });
  row("a port in use", [&] {
    KernelPair pair;
    listen(pair);
    expect(common_point(*this, pair.qualifier, arrivals), returns(DAT_PORT_IN_USE),
           "dat.csp-create.port-in-use");
  });
  row("an address of others", [&] {
    constexpr Word others = 0x010200C0;  // 192.0.2.1
    expect(common_point(*this, qualifier, arrivals, {}, others),
           returns_one_of({DAT_INVALID_ADDRESS, DAT_INVALID_PARAMETER}),
           "dat.csp-create.invalid-address");
  });
  row("something that is not there", [&] {
    for (const std::uint32_t pointer : {0U, 1U, 2U})
      expect(common_point(*this, qualifier, arrivals, {}, 0, RNIC_KDAT_NULL(pointer)),
             returns(DAT_INVALID_PARAMETER), "dat.csp-create.invalid-parameter");
  });
  row("something else in place of a handle", [&] {
    for (const Word none : {Word{0}, ia_handle(), evd(DAT_EVD_DTO_FLAG)})
      expect(common_point(*this, qualifier, none), returns(DAT_INVALID_HANDLE),
             "dat.csp-create.invalid-handle");
    for (const Word none : {Word{0}, ia_handle()}) {
      expect(call(RNIC_KDAT_CSP_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE),
             "dat.csp-query.invalid-handle");
      expect(call(RNIC_KDAT_CSP_FREE, {none}), returns(DAT_INVALID_HANDLE),
             "dat.csp-free.invalid-handle");
    }
  });
  row("a bad query", [&] {
    const Result csp = common_point(*this, qualifier, arrivals);
    need(csp, "no CSP");
    const RuleRef rule = "dat.csp-query.invalid-parameter";
    expect_refused_without(RNIC_KDAT_CSP_QUERY, {csp.out(0), 1}, {0}, rule);
    expect(call(RNIC_KDAT_CSP_QUERY, {csp.out(0), 0x100}), returns(DAT_INVALID_PARAMETER), rule);
  });
}

// ---------------------------------------------------------------- handing off

KDAT_CASE(request_is_handed_off, calls(dat_cr_handoff, dat_cr_query, dat_cr_accept),
          rules("dat.cr-handoff.success")) {
  KernelPair pair{.pz = pz()}, other{.pz = pair.pz};
  listen(pair);
  listen(other);
  pair.active = side(pair.pz);
  pair.passive = side(pair.pz);
  const auto data = octets_of("for the other");
  need(start_connect(pair.active.ep, pair.qualifier, data), "no connect");
  const KernelEvent first = next_request(pair);
  expect(call(RNIC_KDAT_CR_HANDOFF, {first.cr, other.qualifier}), succeeds);
  expect(call(RNIC_KDAT_CR_QUERY, {first.cr, 1}), returns(DAT_INVALID_HANDLE));
  const KernelEvent second = expect_upcall(other.arrivals, DAT_CONNECTION_REQUEST_EVENT);
  expect_number("service point", second.psp, other.psp);
  expect_private_data(call(RNIC_KDAT_CR_QUERY, {second.cr, DAT_CR_FIELD_ALL}).data(), data);
  expect(call(RNIC_KDAT_CR_ACCEPT, {second.cr, pair.passive.ep, 0}), succeeds);
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

KDAT_CASE(bad_handoffs_are_refused, calls(dat_cr_handoff),
          rules("dat.cr-handoff.invalid-parameter", "dat.cr-handoff.invalid-handle")) {
  const Word nobody = free_qualifier(*this);
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz);
  pair.passive = side(pair.pz);
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  const KernelEvent request = next_request(pair);
  expect(call(RNIC_KDAT_CR_HANDOFF, {request.cr, nobody}), returns(DAT_INVALID_PARAMETER));
  for (const Word none : {Word{0}, pair.pz})
    expect(call(RNIC_KDAT_CR_HANDOFF, {none, pair.qualifier}), returns(DAT_INVALID_HANDLE),
           "dat.cr-handoff.invalid-handle");
  // It is still pending.
  expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, 0}), succeeds);
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

KDAT_CASES_OF_FILE(service_points)

}  // namespace suite::cases::dat
