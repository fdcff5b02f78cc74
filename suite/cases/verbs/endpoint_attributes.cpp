// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_create_qp(3), ibv_query_qp(3) and ibv_modify_qp(3): what an endpoint is asked to be, what it
// says that it is, and what the peer may do through it.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr iut::Access only_reads{.remote_read = true};
constexpr iut::Access only_writes{.remote_write = true};

iut::EndpointAttributes attributes_of(Body& body, iut::Handle endpoint) {
  const iut::Reply reply = body.iut.call(iut::QueryEndpoint{endpoint}, "query the endpoint");
  if (!reply.attributes) body.stop(Verdict::error, "a query without attributes");
  return *reply.attributes;
}

iut::Handle endpoint_with(Body& body, const iut::Access& access) {
  iut::CreateEndpoint wanted;
  wanted.access = access;
  return body.iut.create_endpoint(wanted);
}

std::string remote_rights(const iut::Access& access) {
  return fmt::format("{}{}{}", access.remote_read ? "read " : "",
                     access.remote_write ? "write " : "", access.remote_atomic ? "atomic " : "");
}

Outgoing read_of(const Region& region) {
  return read_request({.sink_stag = 0x01020304,
                       .length = 8,
                       .source_stag = region.stag,
                       .source_offset = region.base});
}

}  // namespace

CONFORMANCE_CASE(endpoint_is_at_least_as_large_as_asked_for, rules("verbs.query.at-least-as-asked"),
                 needs(capability::endpoint_attributes)) {
  establish();
  const auto create = [&](iut::CreateEndpoint wanted) {
    const iut::EndpointAttributes reported = attributes_of(*this, iut.create_endpoint(wanted));
    const auto at_least = [&](const char* what, std::uint32_t asked, std::uint32_t has) {
      expect_that(has >= asked, fmt::format("at least {} {}", asked, what), fmt::format("{}", has));
    };
    at_least("sends", wanted.send_depth, reported.send_depth);
    at_least("receives", wanted.receive_depth, reported.receive_depth);
    at_least("pieces", wanted.max_pieces, reported.max_pieces);
    at_least("octets of inline data", wanted.max_inline, reported.max_inline);
  };
  row("small", [&] { create({.send_depth = 1, .receive_depth = 1, .max_pieces = 1}); });
  row("no powers of two",
      [&] { create({.send_depth = 23, .receive_depth = 37, .max_pieces = 3}); });
  row("with inline data", [&] {
    if (!iut.can(capability::inline_data))
      stop(Verdict::not_applicable, "the upper tester has no inline data");
    create({.send_depth = 8, .receive_depth = 8, .max_pieces = 2, .max_inline = 48});
  });
}

CONFORMANCE_CASE(query_returns_the_state_of_the_endpoint,
                 rules("verbs.query.state-of-the-endpoint", "ddp.close.llp-lost-indicated"),
                 needs(capability::endpoint_attributes)) {
  const auto expect_working = [&](iut::Handle endpoint) {
    const std::string state = iut.state(endpoint);
    expect_that(state != "error", "any but error", state, "verbs.query.state-of-the-endpoint");
  };
  row("until the connection is lost", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& other = another_peer();
    expect_working(endpoint);
    establish(other, {.endpoint = endpoint, .opening = true});
    expect_working(endpoint);
    other.reset();
    expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
    // No page says when the loss shows (docs/disputes.md D73).
    const std::string state = iut.state(endpoint);
    advise_that(state == "error", "error", state, "verbs.query.state-of-the-endpoint");
  });
  row("until it is aborted", [&] {
    if (!iut.can(capability::endpoint_abort))
      stop(Verdict::not_applicable, "the upper tester cannot abort an endpoint");
    const iut::Handle endpoint = iut.create_endpoint();
    establish();
    expect_working(endpoint);
    iut.call(iut::AbortEndpoint{endpoint}, "abort the endpoint");
    const std::string state = iut.state(endpoint);
    expect_that(state == "error", "error", state, "verbs.query.state-of-the-endpoint");
  });
}

CONFORMANCE_CASE(query_returns_the_access_that_was_set, rules("verbs.query.access-as-set"),
                 needs(capability::endpoint_attributes, capability::endpoint_access)) {
  establish();
  const auto ask = [&](const char* name, const iut::Access& wanted) {
    row(name, [&] {
      const std::string reported =
          remote_rights(attributes_of(*this, endpoint_with(*this, wanted)).access);
      expect_that(reported == remote_rights(wanted), remote_rights(wanted), reported);
    });
  };
  ask("none", {});
  ask("only reads", only_reads);
  ask("only writes", only_writes);
}

CONFORMANCE_CASE(endpoint_for_reads_refuses_writes, rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_read_write);
  establish({.endpoint = endpoint_with(*this, only_reads), .opening = true});
  peer.send(read_of(region));
  expect(peer, message(Opcode::read_response));
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  watch();
  expect(region, unchanged);
  // No page says that it is refused, nor how (docs/disputes.md D74).
  if (iut.read_memory(region) != region.contents) return;
  expect(iut, asynchronous_error() | disconnected());
}

CONFORMANCE_CASE(endpoint_for_writes_refuses_reads, rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access), in_both_roles) {
  Region region = iut.register_memory(64, access::remote_read_write);
  establish({.endpoint = endpoint_with(*this, only_writes), .opening = true});
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  peer.send(read_of(region));
  expect(peer, any_terminate() | torn_down());
  expect(region, holds(payload(16)));
}

CASES_OF_FILE(verbs, endpoint_attributes)

}  // namespace suite::cases
