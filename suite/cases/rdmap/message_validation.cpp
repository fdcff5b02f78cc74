// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 5.4, 6.2 and 7: the fields of each kind of message are checked.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/error_steps.hpp"

namespace suite::cases {

namespace {

/// The Request of a Read that the IUT posts at our command.
ReadRequestFields provoke_read(Body& body, Work& read) {
  body.let_iut_send();
  read = body.iut.post_read(8, 0x01020304, 0);
  return body.expect_message(Opcode::read_request).read_request().value_or(ReadRequestFields{});
}

}  // namespace

CONFORMANCE_CASE(error_in_any_message_brings_a_terminate,
                 rules("rdmap.error.incoming-message-terminate",
                       "rdmap.error.read-request-terminate"),
                 in_both_roles) {
  row("RDMA Write", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag, region.base + 9, payload(8)));
    expect(peer, some_terminate(), then_close, "rdmap.error.incoming-message-terminate");
  });
  for (const bool solicited : {false, true}) {
    row(solicited ? "Send with Solicited Event" : "Send", [&] {
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited(payload(17)) : send_message(payload(17)));
      expect(peer, some_terminate(), then_close, "rdmap.error.incoming-message-terminate");
    });
    row(solicited ? "Send with Solicited Event and Invalidate" : "Send with Invalidate", [&] {
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited_invalidate(unknown_stag, payload(17))
                          : send_invalidate(unknown_stag, payload(17)));
      expect(peer, some_terminate(), then_close, "rdmap.error.incoming-message-terminate");
    });
  }
  row("RDMA Read Response", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(read_response(region.stag, region.base, payload(8)));
    expect(peer, some_terminate(), then_close, "rdmap.error.incoming-message-terminate");
  });
  row("RDMA Read Request", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    peer.send(read_of(region.stag, region.base + 9, 8));
    expect(peer, some_terminate(), then_close, "rdmap.error.read-request-terminate");
  });
  for (const std::size_t octets : {0U, 1U, 16U, 20U, 24U, 27U}) {
    row(fmt::format("RDMA Read Request of {} octets", octets), [&] {
      const Region region = iut.register_memory(1024, access::remote_read);
      // The last octet of its header is zero: what is missing says nothing but that it is missing.
      Outgoing request = read_of(region.stag, (region.base + 0xFF) & ~std::uint64_t{0xFF}, 8);
      request.payload.resize(octets);
      peer.send(request);
      expect(peer, some_terminate(), then_close, "rdmap.error.read-request-terminate");
    });
  }
}

CONFORMANCE_CASE(ddp_fields_of_each_message_are_validated,
                 rules("rdmap.error.ddp-fields-validated"), in_both_roles) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{0, 2, 3}) {
    row(fmt::format("Write of DV {}", version), [&] {
      const Region region = iut.register_memory(16, access::remote_write);
      peer.send(rdma_write(region.stag, region.base, payload(8)).with_ddp_version(version));
      expect(peer, stream_end());
    });
    row(fmt::format("Read Response of DV {}", version), [&] {
      Work read;
      const ReadRequestFields request = provoke_read(*this, read);
      peer.send(read_response(request.sink_stag, request.sink_offset, payload(8))
                    .with_ddp_version(version));
      expect(peer, stream_end());
      expect(read, completes_in_error());
    });
    row(fmt::format("Send of DV {}", version), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(send_message(payload(8)).with_ddp_version(version));
      expect(peer, stream_end());
      expect(receive, completes_in_error());
    });
    row(fmt::format("Terminate of DV {}", version), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message(cause::rdmap_local_catastrophic).with_ddp_version(version));
      expect(peer, stream_end());
      expect(receive, completes_in_error());
    });
  }
}

CONFORMANCE_CASE(ddp_fields_of_a_read_request_are_validated,
                 rules("rdmap.error.read-request-ddp-fields",
                       "rdmap.terminate.ddp-error-no-rdma-header"),
                 in_both_roles) {
  const auto refuse = [&](const char* name, const std::function<Outgoing(const Outgoing&)>& spoil) {
    row(name, [&] {
      const Region source = iut.register_memory(64, access::remote_read);
      peer.send(spoil(read_of(source.stag, source.base, 8)));
      expect(peer, stream_end());
    });
  };
  refuse("DV 0", [](const Outgoing& m) { return m.with_ddp_version(0); });
  refuse("DV 3", [](const Outgoing& m) { return m.with_ddp_version(3); });
  refuse("MSN 0", [](const Outgoing& m) { return m.with_msn(0); });
  refuse("MSN 2^31", [](const Outgoing& m) { return m.with_msn(1U << 31U); });
  refuse("MSN 2^32 - 1", [](const Outgoing& m) { return m.with_msn(~0U); });
  refuse("MO 1", [](const Outgoing& m) { return at_message_offset(m, 1); });
  refuse("MO 2^32 - 28", [](const Outgoing& m) { return at_message_offset(m, ~0U - 27); });
  refuse("queue 5", [](const Outgoing& m) { return m.with_queue(5); });
}

CONFORMANCE_CASE(send_that_rdmap_must_refuse_ends_the_stream, rules("rdmap.send.invalid-surfaced"),
                 in_both_roles) {
  const auto refuse = [&](const std::string& name, const Outgoing& message) {
    row(name, [&] {
      const Work receive = iut.post_receive(16);
      peer.send(message);
      expect(peer, stream_end());
      expect(receive, completes_in_error());
    });
  };
  refuse("Send of RV 2", send_message(payload(8)).with_rdmap_version(2));
  refuse("Send with Solicited Event of RV 3", send_solicited(payload(8)).with_rdmap_version(3));
  refuse("Immediate opcode beyond the table", send_message(payload(8)).with_opcode(0xE));
  refuse("opcode of a Write", send_message(payload(8)).with_opcode(0));
  if (iut.can(capability::remote_invalidate)) {
    refuse("Invalidate of an unknown STag", send_invalidate(unknown_stag, payload(8)));
    refuse("Solicited Invalidate of STag 0", send_solicited_invalidate(0, payload(8)));
  }
}

CONFORMANCE_CASE(rdmap_version_zero_is_accepted_or_refused,
                 rules("rdmap.header.version-zero-admissible"), in_both_roles) {
  row("Send", [&] {
    const Work receive = iut.post_receive(16);
    peer.send(send_message(payload(8)).with_rdmap_version(0));
    const auto end = iut.take(completion_of(receive).matches, context().deadline);
    expect_that(end.has_value(), "a completion, with success or in error", "none");
    if (!success_of(receive).matches(*end)) expect(peer, terminate(cause::rdmap_invalid_version));
  });
  row("Read Request", [&] {
    const Region source = iut.register_memory(16, access::remote_read);
    peer.send(read_of(source.stag, source.base, 8).with_rdmap_version(0));
    expect(peer, message(Opcode::read_response) | terminate(cause::rdmap_invalid_version));
  });
}

CONFORMANCE_CASE(llp_error_is_reported_to_the_peer, rules("rdmap.terminate.sent-on-llp-error"),
                 in_both_roles) {
  see_iut_send();
  const Region region = iut.register_memory(16, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(8)).with_crc(CrcChoice::wrong));
  const Expected of_mpa("a Terminate of layer MPA", [](const Arrival& arrival) {
    const auto terminate = arrival.terminate();
    return terminate && terminate->cause.layer == rnic::wire::layer::mpa;
  });
  expect_unless_dropped(of_mpa | advisory(torn_down()));
}

// ---------------------------------------------------------------- Terminates that go out

CASES_OF_FILE(rdmap, message_validation)

}  // namespace suite::cases
