// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 8.1.1, RFC 5041 section 8.2: which streams may use an STag, and with which
// rights.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// A window over all of the region with the rights of `then`; bound with those of `first` before, if
/// there are any.
Window bound_after(Body& body, const Region& region, const iut::Access& first,
                   const iut::Access& then) {
  const auto length = static_cast<std::uint32_t>(region.length);
  if (!first.remote_read && !first.remote_write)
    return body.iut.bind_window(region, 0, length, then);
  return body.iut.bind_again(body.iut.bind_window(region, 0, length, first), region, 0, length,
                             then);
}

}  // namespace

CONFORMANCE_CASE(window_for_reading_refuses_writes,
                 rules("ddp.security.rnic-access-rights-mechanism"),
                 needs(capability::memory_windows), in_both_roles) {
  const auto refuse = [&](const char* name, const iut::Access& first) {
    row(name, [&] {
      establish({.opening = true});
      const Region region = iut.register_memory(64, access::under_windows);
      const Window window = bound_after(*this, region, first, access::remote_read);
      peer.send(rdma_write(window.stag, window.base, payload(16)));
      expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-access-rights-mechanism");
      expect(region, unchanged);
    });
  };
  refuse("bound once", {});
  refuse("bound for both before", access::remote_read_write);
}

CONFORMANCE_CASE(window_for_writing_refuses_reads,
                 rules("ddp.security.rnic-access-rights-mechanism"),
                 needs(capability::memory_windows)) {
  const auto refuse = [&](const char* name, const iut::Access& first) {
    row(name, [&] {
      establish({.opening = true});
      const Region region = iut.register_memory(64, access::under_windows);
      const Window window = bound_after(*this, region, first, access::remote_write);
      peer.send(read_of(window.stag, window.base, 16));
      expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-access-rights-mechanism");
    });
  };
  refuse("bound once", {});
  refuse("bound for both before", access::remote_read_write);
}

CONFORMANCE_CASE(write_with_an_stag_of_another_domain_is_not_placed,
                 rules("ddp.security.pd-mismatch-not-placed", "ddp.security.pd-mismatch-error"),
                 in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  watch();
  expect(region, unchanged, "ddp.security.pd-mismatch-not-placed");
  expect(iut, asynchronous_error() | disconnected(), "ddp.security.pd-mismatch-error");
}

CONFORMANCE_CASE(write_with_an_stag_of_another_stream_is_not_placed,
                 rules("ddp.security.stream-mismatch-not-placed",
                       "ddp.security.stream-mismatch-error"),
                 needs(capability::memory_windows, capability::stream_windows), in_both_roles) {
  establish({.opening = true});
  const iut::Handle owner = iut.create_endpoint();
  establish(another_peer(), {.endpoint = owner, .opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write, owner);
  peer.send(rdma_write(window.stag, window.base, payload(16)));
  watch();
  expect(region, unchanged, "ddp.security.stream-mismatch-not-placed");
  expect(iut, asynchronous_error() | disconnected(), "ddp.security.stream-mismatch-error");
}

CONFORMANCE_CASE(stag_serves_the_streams_of_its_domain,
                 rules("ddp.security.pd-association-supported", "ddp.security.rnic-pd-isolation",
                       "rdmap.security.pd-isolation")) {
  iut::CreateEndpoint within;
  within.domain = iut.create_domain();
  Peer &first = another_peer(), &second = another_peer();
  establish(first, {.endpoint = iut.create_endpoint(within), .opening = true});
  establish(second, {.endpoint = iut.create_endpoint(within), .opening = true});
  const Region region = iut.register_memory(16, access::remote_read, 0xA5, within.domain);
  for (Peer* of_the_domain : {&first, &second}) {
    of_the_domain->send(read_of(region.stag, region.base, 16));
    expect(*of_the_domain, message(Opcode::read_response, region.contents),
           "ddp.security.pd-association-supported");
  }
  peer.send(read_of(region.stag, region.base, 16));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-pd-isolation");
  second.send(read_of(region.stag, region.base, 16));
  expect(second, message(Opcode::read_response, region.contents), "rdmap.security.pd-isolation");
}

CONFORMANCE_CASE(stag_cannot_be_invalidated_by_its_owner_through_another_domain,
                 rules("sec.stag.pd-isolation"), needs(capability::local_invalidate)) {
  establish({.opening = true});
  iut::CreateEndpoint within;
  within.domain = iut.create_domain();
  Peer& owner = another_peer();
  establish(owner, {.endpoint = iut.create_endpoint(within), .opening = true});
  const Region region = iut.register_memory(16, access::remote_read, 0xA5, within.domain);
  owner.send(read_of(region.stag, region.base, 16));
  expect(owner, message(Opcode::read_response, region.contents));
  iut::PostWork invalidation;
  invalidation.operation = operation::local_invalidate;
  invalidation.invalidate_stag = region.stag;
  static_cast<void>(iut.try_post(invalidation));
  watch();
  owner.send(read_of(region.stag, region.base, 16));
  expect(owner, message(Opcode::read_response, region.contents), "sec.stag.pd-isolation");
}

CONFORMANCE_CASE(each_stream_has_windows_of_its_own,
                 rules("ddp.security.stream-association-supported",
                       "ddp.security.stag-stream-mechanism", "ddp.security.rnic-stream-isolation",
                       "rdmap.security.stream-scoped-stag"),
                 needs(capability::memory_windows, capability::stream_windows)) {
  establish({.opening = true});
  const iut::Handle elsewhere = iut.create_endpoint();
  Peer& other = another_peer();
  establish(other, {.endpoint = elsewhere, .opening = true});
  const Region region = iut.register_memory(64, access::under_windows);
  const Window ours = iut.bind_window(region, 0, 16, access::remote_write);
  const Window theirs = iut.bind_window(region, 32, 16, access::remote_read, elsewhere);
  peer.send(rdma_write(ours.stag, ours.base, payload(16)));
  expect(region, holds(payload(16)), "ddp.security.stream-association-supported");
  other.send(read_of(theirs.stag, theirs.base, 16));
  expect(other, message(Opcode::read_response, part_of(region.contents, 32, 16)),
         "ddp.security.stag-stream-mechanism");
  peer.send(read_of(theirs.stag, theirs.base, 16));
  expect(peer, any_terminate() | torn_down(), "ddp.security.rnic-stream-isolation");
  other.send(read_of(theirs.stag, theirs.base, 16));
  expect(other, message(Opcode::read_response, part_of(region.contents, 32, 16)),
         "rdmap.security.stream-scoped-stag");
}

CONFORMANCE_CASE(buffer_is_open_from_registration_to_deregistration,
                 rules("rdmap.security.buffer-association-mechanism",
                       "ddp.security.rnic-association-mechanism",
                       "rdmap.security.access-within-buffer"),
                 in_both_roles) {
  const auto open_a_buffer_and_its_neighbour = [&] {
    const Region region = iut.register_memory(64, access::remote_read_write);
    peer.send(rdma_write(region.stag, region.base, payload(64)));
    peer.send(read_of(region.stag, region.base, 64));
    expect(peer, message(Opcode::read_response, payload(64)),
           "rdmap.security.buffer-association-mechanism");
    const Region neighbour = iut.register_memory(64, access::remote_read_write);
    iut.deregister(region);
    // Another buffer stays accessible.
    peer.send(read_of(neighbour.stag, neighbour.base, 64));
    expect(peer, message(Opcode::read_response, neighbour.contents),
           "ddp.security.rnic-association-mechanism");
    return std::pair(region, neighbour);
  };
  row("after deregistration", [&] {
    const auto [region, neighbour] = open_a_buffer_and_its_neighbour();
    peer.send(rdma_write(region.stag, region.base, payload(1)));
    expect(peer, any_terminate() | torn_down(), "rdmap.security.buffer-association-mechanism");
    expect(neighbour, unchanged, "rdmap.security.buffer-association-mechanism");
  });
  row("beyond the bounds", [&] {
    const auto [region, neighbour] = open_a_buffer_and_its_neighbour();
    peer.send(rdma_write(neighbour.stag, neighbour.base + 60, payload(8)));
    expect(peer, any_terminate() | torn_down(), "rdmap.security.access-within-buffer");
    // What lies within may be in place.
    const Octets seen = part_of(iut.read_memory(neighbour), 0, 60);
    expect_that(seen == part_of(neighbour.contents, 0, 60), "the octets before it unchanged",
                "others", "rdmap.security.access-within-buffer");
  });
}

CONFORMANCE_CASE(rights_are_those_that_were_granted,
                 rules("rdmap.security.access-rights-mechanism"), in_both_roles) {
  struct Grant {
    const char* name;
    iut::Access access;
  };
  const Grant grants[] = {
      {"none", access::local}, {"reading", access::remote_read}, {"writing", access::remote_write}};
  for (const Grant& grant : grants) {
    for (const bool writes : {true, false}) {
      row(fmt::format("{} by a peer granted {}", writes ? "a Write" : "a Read", grant.name), [&] {
        const Region region = iut.register_memory(16, grant.access);
        peer.send(writes ? rdma_write(region.stag, region.base, payload(16))
                         : read_of(region.stag, region.base, 16));
        const bool granted = writes ? grant.access.remote_write : grant.access.remote_read;
        if (!granted)
          expect(peer, any_terminate() | torn_down());
        else if (!writes)
          expect(peer, message(Opcode::read_response, region.contents));
        if (granted && writes)
          expect(region, holds(payload(16)));
        else
          expect_that(iut.read_memory(region) == region.contents, "memory unchanged",
                      "memory changed");
      });
    }
  }
}

namespace {

/// Whether the peer, which is granted this access, obtains it. What it reads of another region
/// tells it that a Write was taken.
bool peer_gets_in(Body& body, const Region& target, const iut::Access& access) {
  const Region other = body.iut.register_memory(16, access::remote_read);
  if (access.remote_write) body.peer.send(rdma_write(target.stag, target.base, payload(16)));
  body.peer.send(access.remote_write ? read_of(other.stag, other.base, 16)
                                     : read_of(target.stag, target.base, 16));
  const Arrival arrival = body.peer.ready().next(body.context().deadline);
  return arrival.as<Message>() != nullptr && !arrival.terminate();
}

}  // namespace

CONFORMANCE_CASE(memory_that_the_process_has_no_right_to_is_not_opened,
                 rules("ddp.security.prm-checks-buffer-rights"),
                 needs(capability::process_rights)) {
  struct Ask {
    const char* name;
    const char* process_rights;
    iut::Access access;
  };
  for (const Ask& ask :
       {Ask{"read-only memory, for Writes", "read", access::remote_write},
        Ask{"read-only memory, for Writes of the peer alone", "read", {.remote_write = true}},
        Ask{"no memory, for Writes", "none", access::remote_write},
        Ask{"no memory, for Reads", "none", {.remote_read = true}}}) {
    row(ask.name, [&] {
      iut::RegisterMemory command;
      command.length = 4096;
      command.access = ask.access;
      // It may with all rights; but an API may open to the peer only what its owner can write to.
      if (!iut.try_register(command))
        stop(Verdict::not_applicable, "the API refuses such access to any memory");
      command.process_rights = ask.process_rights;
      const auto opened = iut.try_register(command);
      expect_that(!opened || !peer_gets_in(*this, *opened, ask.access),
                  "the registration refused, or the peer's access", "the peer's access granted");
    });
  }
}

CASES_OF_FILE(sec, access_control)

}  // namespace suite::cases
