// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 5.4, 6.2 and 7: errors in each kind of message, and Terminates that come.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t some_stag = 0x7FFFFF01;

Expected ended() { return any_terminate() | torn_down(); }
Expected told() { return any_terminate() | advisory(torn_down()); }

/// The Request of a Read that the IUT is made to post.
ReadRequestFields provoke_read(Body& body, Work& read) {
  body.let_iut_send();
  read = body.iut.post_read(8, 0x01020304, 0);
  return body.expect_message(Opcode::read_request).read_request().value_or(ReadRequestFields{});
}

Outgoing at_offset(const Outgoing& message, std::uint32_t offset) {
  return message.with_untagged(
      [=](std::size_t, rnic::wire::UntaggedHeader& header) { header.message_offset = offset; });
}

}  // namespace

CONFORMANCE_CASE(error_in_any_message_brings_a_terminate,
                 rules("rdmap.error.incoming-message-terminate",
                       "rdmap.error.read-request-terminate"),
                 in_both_roles) {
  row("RDMA Write", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag, region.base + 9, payload(8)));
    expect(peer, told(), then_close, "rdmap.error.incoming-message-terminate");
  });
  for (const bool solicited : {false, true}) {
    row(solicited ? "Send with Solicited Event" : "Send", [&] {
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited(payload(17)) : send_message(payload(17)));
      expect(peer, told(), then_close, "rdmap.error.incoming-message-terminate");
    });
    row(solicited ? "Send with Solicited Event and Invalidate" : "Send with Invalidate", [&] {
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited_invalidate(some_stag, payload(17))
                          : send_invalidate(some_stag, payload(17)));
      expect(peer, told(), then_close, "rdmap.error.incoming-message-terminate");
    });
  }
  row("RDMA Read Response", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(read_response(region.stag, region.base, payload(8)));
    expect(peer, told(), then_close, "rdmap.error.incoming-message-terminate");
  });
  row("RDMA Read Request", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    peer.send(read_of(region.stag, region.base + 9, 8));
    expect(peer, told(), then_close, "rdmap.error.read-request-terminate");
  });
}

CONFORMANCE_CASE(first_of_several_errors_is_told, rules("rdmap.error.first-error-captured"),
                 in_both_roles) {
  const Region region = iut.register_memory(16, access::remote_write);
  see_iut_send();
  peer.send_together({rdma_write(region.stag, region.base + 9, payload(8)),
                      send_message(payload(1)).with_queue(9), rdma_write(some_stag, 0, payload(1)),
                      send_message(payload(1)).with_rdmap_version(3)});
  expect(peer, terminate(cause::ddp_tagged_base_or_bounds));
}

CONFORMANCE_CASE(ddp_fields_of_each_message_are_validated,
                 rules("rdmap.error.ddp-fields-validated"), in_both_roles) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{0, 2, 3}) {
    row(fmt::format("Write of DV {}", version), [&] {
      const Region region = iut.register_memory(16, access::remote_write);
      peer.send(rdma_write(region.stag, region.base, payload(8)).with_ddp_version(version));
      expect(peer, ended());
    });
    row(fmt::format("Read Response of DV {}", version), [&] {
      Work read;
      const ReadRequestFields request = provoke_read(*this, read);
      peer.send(read_response(request.sink_stag, request.sink_offset, payload(8))
                    .with_ddp_version(version));
      expect(peer, ended());
      expect(read, completes_in_error());
    });
    row(fmt::format("Send of DV {}", version), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(send_message(payload(8)).with_ddp_version(version));
      expect(peer, ended());
      expect(receive, completes_in_error());
    });
    row(fmt::format("Terminate of DV {}", version), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message(cause::rdmap_local_catastrophic).with_ddp_version(version));
      expect(peer, ended());
      expect(receive, completes_in_error());
    });
  }
}

CONFORMANCE_CASE(ddp_fields_of_a_read_request_are_validated,
                 rules("rdmap.error.read-request-ddp-fields"), in_both_roles) {
  const auto refuse = [&](const char* name, const std::function<Outgoing(const Outgoing&)>& spoil) {
    row(name, [&] {
      const Region source = iut.register_memory(64, access::remote_read);
      peer.send(spoil(read_of(source.stag, source.base, 8)));
      expect(peer, ended());
    });
  };
  refuse("DV 0", [](const Outgoing& m) { return m.with_ddp_version(0); });
  refuse("DV 3", [](const Outgoing& m) { return m.with_ddp_version(3); });
  refuse("MSN 0", [](const Outgoing& m) { return m.with_msn(0); });
  refuse("MSN 2^31", [](const Outgoing& m) { return m.with_msn(1U << 31U); });
  refuse("MSN 2^32 - 1", [](const Outgoing& m) { return m.with_msn(~0U); });
  refuse("MO 1", [](const Outgoing& m) { return at_offset(m, 1); });
  refuse("MO 2^32 - 28", [](const Outgoing& m) { return at_offset(m, ~0U - 27); });
  refuse("queue 5", [](const Outgoing& m) { return m.with_queue(5); });
}

CONFORMANCE_CASE(send_that_rdmap_cannot_take_ends_the_stream, rules("rdmap.send.invalid-surfaced"),
                 in_both_roles) {
  const auto refuse = [&](const std::string& name, const Outgoing& message) {
    row(name, [&] {
      const Work receive = iut.post_receive(16);
      peer.send(message);
      expect(peer, ended());
      expect(receive, completes_in_error());
    });
  };
  refuse("Send of RV 2", send_message(payload(8)).with_rdmap_version(2));
  refuse("Send with Solicited Event of RV 3", send_solicited(payload(8)).with_rdmap_version(3));
  refuse("Immediate opcode beyond the table", send_message(payload(8)).with_opcode(0xE));
  refuse("opcode of a Write", send_message(payload(8)).with_opcode(0));
  if (iut.can(capability::remote_invalidate)) {
    refuse("Invalidate of an unknown STag", send_invalidate(some_stag, payload(8)));
    refuse("Solicited Invalidate of STag 0", send_solicited_invalidate(0, payload(8)));
  }
}

CONFORMANCE_CASE(rdmap_version_zero_is_taken_or_refused,
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

CONFORMANCE_CASE(error_of_the_llp_is_told_to_the_peer, rules("rdmap.terminate.sent-on-llp-error"),
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

CONFORMANCE_CASE(terminate_is_an_untagged_message,
                 rules("rdmap.terminate.untagged-buffer", "rdmap.terminate.marked-untagged",
                       "rdmap.terminate.control-field-format"),
                 in_both_roles) {
  see_iut_send();
  peer.send(send_message(payload(1)).with_queue(7));
  const Arrival arrival = expect(peer, told());
  if (arrival.is_end()) return;
  const Message& terminate = *arrival.message(Opcode::terminate);
  expect_that(!terminate.tagged, "an untagged header", arrival.text());
  const std::byte control = terminate.segments.front().front();
  expect_that((control & std::byte{0x80}) == std::byte{}, "T clear", arrival.text(),
              "rdmap.terminate.marked-untagged");
  // Layer 1 and type 2 share the first octet, code 1 (or 2, D54) has the second.
  const Octets& body = terminate.payload;
  expect_that(body.size() >= 4 && body[0] == std::byte{0x12} &&
                  (body[1] == std::byte{0x01} || body[1] == std::byte{0x02}),
              "12 01 or 12 02 in front", arrival.text(), "rdmap.terminate.control-field-format");
}

CONFORMANCE_CASE(cause_is_one_of_the_message_at_fault,
                 rules("rdmap.terminate.protection-error-causes",
                       "rdmap.terminate.code-protection-unspecified",
                       "rdmap.terminate.code-operation-unspecified",
                       "rdmap.terminate.llp-error-passed-up"),
                 in_both_roles) {
  using rnic::wire::TerminateCause;
  const auto tell = [&](const Outgoing& message, const char* admissible,
                        const std::function<bool(TerminateCause)>& holds, RuleRef rule) {
    peer.send(message);
    const Arrival arrival = expect(peer, told(), rule);
    const auto terminate = arrival.terminate();
    if (!arrival.is_end())
      expect_that(terminate && holds(terminate->cause), admissible, arrival.text(), rule);
  };
  const auto no_protection_error = [&](const Outgoing& message) {
    tell(
        message, "another type than 0/1",
        [](TerminateCause c) { return c.layer != 0 || c.type != 1; },
        "rdmap.terminate.protection-error-causes");
  };
  row("Write out of bounds", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    no_protection_error(rdma_write(region.stag, region.base + 9, payload(8)));
  });
  row("Send longer than its receive", [&] {
    const Work receive = iut.post_receive(16);
    no_protection_error(send_message(payload(17)));
  });
  row("Read Response that nobody asked for", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    no_protection_error(read_response(region.stag, region.base, payload(8)));
  });
  row("Read of an unknown STag", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    tell(
        read_of(region.stag_with_other_key(), region.base, 8), "another code than 0/1/FF",
        [](TerminateCause c) { return c != cause::rdmap_protection_unspecified; },
        "rdmap.terminate.code-protection-unspecified");
  });
  row("Send of another RDMAP version", [&] {
    const Work receive = iut.post_receive(16);
    tell(
        send_message(payload(8)).with_rdmap_version(2), "another code than 0/2/FF",
        [](TerminateCause c) { return c != cause::rdmap_operation_unspecified; },
        "rdmap.terminate.code-operation-unspecified");
  });
  row("unknown queue", [&] {
    see_iut_send();
    tell(
        send_message(payload(8)).with_queue(7), "layer DDP",
        [](TerminateCause c) { return c.layer == rnic::wire::layer::ddp; },
        "rdmap.terminate.llp-error-passed-up");
  });
}

CONFORMANCE_CASE(terminate_about_data_holds_no_read_request,
                 rules("rdmap.terminate.rdma-header-only-for-reads",
                       "rdmap.terminate.segment-length-valid-with-m"),
                 in_both_roles) {
  const auto look = [&](const Outgoing& message) {
    const Fpdu fpdu = peer.prepare(message).front();
    peer.ready().send(fpdu);
    const Arrival arrival = expect(peer, told());
    if (arrival.is_end()) return;
    const auto terminate = arrival.terminate();
    expect_that(terminate.has_value(), "a Terminate as long as its control bits say",
                arrival.text(), "rdmap.terminate.header-format");
    expect_that(!terminate->r, "R clear", arrival.text());
    expect_that(!terminate->m || terminate->segment_length == fpdu.ulpdu.size(),
                fmt::format("segment length {} or none", fpdu.ulpdu.size()), arrival.text(),
                "rdmap.terminate.segment-length-valid-with-m");
  };
  // Segments of 37, 39 and 41 octets.
  row("Write", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    look(rdma_write(region.stag, region.base, payload(23)));
  });
  row("Send", [&] {
    const Work receive = iut.post_receive(16);
    look(send_message(payload(21)));
  });
  row("Send with Solicited Event", [&] {
    const Work receive = iut.post_receive(32);
    look(send_solicited(payload(23)).with_rdmap_version(2));
  });
}

// ---------------------------------------------------------------- Terminates that come

CONFORMANCE_CASE(received_terminate_takes_no_receive, rules("rdmap.terminate.consumes-one-buffer"),
                 in_both_roles) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(terminate_message(cause::rdmap_operation_unspecified));
  expect_end_by_terminate();
  if (peer.raw().is_open()) peer.half_close();
  expect(first, completes_in_error());
  expect(second, completes_in_error());
  expect_that(iut.read_memory(first.buffer) == first.buffer.contents, "the buffer unchanged",
              "octets placed");
}

CONFORMANCE_CASE(wrong_terminate_ends_the_stream_too, rules("rdmap.terminate.invalid-surfaced"),
                 in_both_roles) {
  const auto take = [&](const char* name, const Outgoing& terminate) {
    row(name, [&] {
      see_iut_send();
      peer.send(terminate);
      expect(peer, ended());
      expect(iut, or_at_least(disconnected(), asynchronous_error()));
    });
  };
  const Outgoing good = terminate_message(cause::rdmap_operation_unspecified);
  Outgoing cut_short = good, too_long = good;
  cut_short.payload.resize(2);
  too_long.payload.resize(200);
  take("two octets", cut_short);
  take("two hundred octets", too_long);
  take("RDMAP version 3", good.with_rdmap_version(3));
  take("DDP version 2", good.with_ddp_version(2));
  take("MSN 2", good.with_msn(2));
  take("MO 4096", at_offset(good, 4096));
}

CONFORMANCE_CASE(local_catastrophe_of_any_code_is_taken,
                 rules("rdmap.terminate.local-catastrophic-any-code"), in_both_roles) {
  for (const std::uint8_t code : std::initializer_list<std::uint8_t>{0, 1, 0x7F, 0xFF}) {
    row(fmt::format("code {:#04x}", code), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message({0, 0, code}));
      expect(peer, ended());
      if (peer.raw().is_open()) peer.half_close();
      expect(receive, completes_in_error());
    });
  }
}

CONFORMANCE_CASE(connection_may_go_right_behind_a_terminate,
                 rules("rdmap.terminate.teardown-at-once"), in_both_roles) {
  const auto end_by = [&](const char* name, const std::function<void()>& end) {
    row(name, [&] {
      see_iut_send();
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message(cause::rdmap_operation_unspecified));
      end();
      expect(receive, completes_in_error());
      expect(iut, or_at_least(disconnected(), asynchronous_error()));
    });
  };
  end_by("by a reset", [&] { peer.reset(); });
  end_by("by a FIN", [&] { peer.half_close(); });
}

CASES_OF_FILE(rdmap, errors)

}  // namespace suite::cases
