// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 7306 sections 1.1, 4.1 and 8: which fields of Atomics and Immediate Data are checked, and the
// Terminate if one is wrong.
#include <algorithm>

#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/atomic_steps.hpp"
#include "suite/cases/rdmap/error_steps.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t last_queue = 3;

/// A wrong value of a DDP field, and the Terminate that RFC 5041 section 7.2 lays down for it.
struct WrongField {
  const char* name;
  std::function<Outgoing(const Outgoing&)> damaged;
  rnic::wire::TerminateCause cause;
  rnic::wire::TerminateCause or_cause = cause;  ///< also right (docs/disputes.md D54)
};

const std::vector<WrongField>& wrong_fields() {
  using rnic::wire::UntaggedHeader;
  static const std::vector<WrongField> fields{
      {"DDP version 0", [](const Outgoing& m) { return m.with_ddp_version(0); },
       cause::ddp_untagged_invalid_version},
      {"DDP version 2", [](const Outgoing& m) { return m.with_ddp_version(2); },
       cause::ddp_untagged_invalid_version},
      {"queue 4", [](const Outgoing& m) { return m.with_queue(last_queue + 1); },
       cause::ddp_untagged_invalid_queue, cause::ddp_untagged_no_buffer},
      {"MSN 0", [](const Outgoing& m) { return m.with_msn(0); },
       cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_no_buffer},
      {"MO beyond the buffer",
       [](const Outgoing& m) {
         return m.with_untagged(
             [](std::size_t, UntaggedHeader& header) { header.message_offset = 0x10000; });
       },
       cause::ddp_untagged_invalid_offset, cause::ddp_untagged_message_too_long},
  };
  return fields;
}

/// The Terminate copies the DDP header of what was sent, and no RDMA header.
void expect_copied_header(Body& test, const Octets& sent, RuleRef rule) {
  const Arrival arrival = test.expect(test.peer, any_terminate() | advisory(torn_down()),
                                      "rdmap.terminate.sent-on-rdmap-error");
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  test.expect_that(arrival.is_terminate_as_specified(), "a Terminate as long as its bits say",
                   arrival.text(), rule);
  const Octets header(sent.begin(), sent.begin() + rnic::wire::untagged_header_size);
  // RFC 5040 Figure 10 has it "if possible".
  test.advise_that(terminate->d, "D set", arrival.text(), rule);
  if (terminate->d)
    test.expect_that(std::ranges::equal(terminate->ddp_header, header), rnic::wire::hex(header),
                     rnic::wire::hex(terminate->ddp_header), rule);
  test.advise_that(terminate->m && tells_length_of(*terminate, sent),
                   fmt::format("M set, DDP Segment Length {}", sent.size()), arrival.text(), rule);
  test.advise_that(!terminate->r, "R clear", arrival.text(), rule);
}

/// The IUT reports an error of its own: type 0 of a layer, and no header, or one of zeros.
void expect_local_error(Body& test, RuleRef terminate_rule, RuleRef headers_rule) {
  const Arrival arrival = test.expect(test.peer, local_error() | torn_down(), terminate_rule);
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  test.expect_that(is_no_header(terminate->ddp_header) && is_no_header(terminate->rdmap_header),
                   "no DDP and no RDMA header", arrival.text(), headers_rule);
  test.expect_teardown(test.peer.raw());
}

/// The only Read that may be in progress waits for its Response, and the work after it waits for
/// the Read.
Work read_under_way(Body& test) {
  test.establish({.parameters = {.private_data = {}, .ird = 1, .ord = 1}});
  test.let_iut_send();
  const Work read = test.iut.post_read(8, unknown_stag, 0);
  static_cast<void>(test.expect_message(Opcode::read_request));
  return read;
}

}  // namespace

// ---------------------------------------------------------------- RFC 7306 section 1.1

CONFORMANCE_CASE(message_that_is_not_supported_is_an_unexpected_opcode,
                 rules("rdmap.atomic.unsupported-reported", "rdmap.immediate.unsupported-reported",
                       "rdmap.error.opcode-validated")) {
  struct Unsupported {
    const char* name;
    Outgoing message;
    bool supported;
  };
  // An RNIC may support what its API has no call for; its PICS says so.
  const auto has = [&](const char* name) {
    const auto claim = environment().pics.find(name);
    return iut.can(name) || (claim != environment().pics.end() && claim->second);
  };
  const bool atomics = has(capability::atomics), immediate = has(capability::immediate);
  const Unsupported unsupported[] = {
      {"Atomic Request", fetch_add(1, unknown_stag, 0, 0), atomics},
      {"Immediate Data", immediate_data(payload(8)), immediate},
      {"Immediate Data with SE", immediate_data(payload(8), true), immediate},
      {"reserved opcode on the queue of Sends", send_message(payload(8)).with_opcode(0xC), false},
      {"reserved opcode on the queue of Requests",
       fetch_add(1, unknown_stag, 0, 0).with_opcode(0xE).with_queue(1), false},
  };
  for (const Unsupported& one : unsupported) {
    // Other cases judge what it does support.
    if (one.supported) continue;
    row(one.name, [&] {
      const Work receive = iut.post_receive(64);
      peer.send(one.message);
      expect_rejection({cause::rdmap_unexpected_opcode}, "rdmap.error.opcode-validated",
                       "rdmap.error.opcode-validated",
                       {cause::rdmap_operation_unspecified, cause::rdmap_catastrophic_stream,
                        cause::ddp_untagged_message_too_long});
    });
  }
}

// ---------------------------------------------------------------- Atomics

CONFORMANCE_CASE(ddp_fields_of_an_atomic_request_are_validated,
                 rules("rdmap.atomic.ddp-fields-validated",
                       "rdmap.atomic.incoming-error-terminate"),
                 needs(capability::atomics)) {
  for (const WrongField& field : wrong_fields()) {
    row(field.name, [&] {
      const Region region = word_of(*this);
      peer.send(field.damaged(fetch_add(1, region.stag, region.base, 1)));
      expect_rejection({field.cause, field.or_cause}, "rdmap.atomic.ddp-fields-validated",
                       "rdmap.atomic.incoming-error-terminate");
      expect(region, unchanged, "rdmap.atomic.ddp-fields-validated");
    });
  }
}

CONFORMANCE_CASE(ddp_fields_of_an_atomic_response_are_validated,
                 rules("rdmap.atomic.ddp-fields-validated",
                       "rdmap.atomic.incoming-error-terminate"),
                 needs(capability::atomics)) {
  for (const WrongField& field : wrong_fields()) {
    row(field.name, [&] {
      let_iut_send();
      const Work work = post_atomic(*this, operation::fetch_add, 1);
      const std::uint32_t id = expect_request(*this).request_id;
      peer.send(field.damaged(atomic_response(id, symmetric)));
      expect_rejection({field.cause, field.or_cause}, "rdmap.atomic.ddp-fields-validated",
                       "rdmap.atomic.incoming-error-terminate");
      expect(work, completes_in_error(), "rdmap.atomic.ddp-fields-validated");
    });
  }
}

CONFORMANCE_CASE(rdmap_version_of_an_atomic_is_validated,
                 rules("rdmap.atomic.version-validated", "rdmap.terminate.code-invalid-version"),
                 needs(capability::atomics)) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{2, 3}) {
    row(fmt::format("Request with RV {}", version), [&] {
      const Region region = word_of(*this);
      peer.send(fetch_add(1, region.stag, region.base, 1).with_rdmap_version(version));
      expect_rejection({cause::rdmap_invalid_version}, "rdmap.atomic.version-validated",
                       "rdmap.terminate.code-invalid-version");
      expect(region, unchanged, "rdmap.atomic.version-validated");
    });
    row(fmt::format("Response with RV {}", version), [&] {
      let_iut_send();
      const Work work = post_atomic(*this, operation::fetch_add, 1);
      const std::uint32_t id = expect_request(*this).request_id;
      peer.send(atomic_response(id, symmetric).with_rdmap_version(version));
      expect_rejection({cause::rdmap_invalid_version}, "rdmap.atomic.version-validated",
                       "rdmap.terminate.code-invalid-version");
      expect(work, completes_in_error(), "rdmap.atomic.version-validated");
    });
  }
}

CONFORMANCE_CASE(atomic_opcode_on_another_queue_is_rejected, rules("rdmap.atomic.opcode-validated"),
                 needs(capability::atomics)) {
  const auto rejected = [&](const Outgoing& sent) {
    const Work receive = iut.post_receive(128);
    peer.send(sent);
    // DDP may find no buffer or no such message on the queue before RDMAP sees the opcode, or the
    // queue may be what is wrong for the opcode (docs/disputes.md D55).
    expect_rejection({cause::rdmap_unexpected_opcode, cause::ddp_untagged_invalid_queue,
                      cause::ddp_untagged_no_buffer, cause::ddp_untagged_msn_out_of_range,
                      cause::ddp_untagged_message_too_long},
                     "rdmap.atomic.opcode-validated", "rdmap.atomic.opcode-validated",
                     {cause::rdmap_operation_unspecified});
  };
  for (const std::uint32_t queue : {0U, 2U, 3U}) {
    row(fmt::format("a Request on queue {}", queue), [&] {
      const Region region = word_of(*this);
      rejected(fetch_add(1, region.stag, region.base, 1).with_queue(queue));
      expect(region, unchanged);
    });
  }
  for (const std::uint32_t queue : {0U, 1U})
    row(fmt::format("a Response on queue {}", queue),
        [&] { rejected(atomic_response(1, symmetric).with_queue(queue)); });
}

CONFORMANCE_CASE(terminate_about_an_atomic_copies_its_ddp_header,
                 rules("rdmap.atomic.incoming-error-fields"), needs(capability::atomics),
                 in_both_roles) {
  row("unaligned", [&] {
    const Region region = word_of(*this);
    const Octets sent = peer.prepare(fetch_add(1, region.stag, region.base + 4, 1)).front().ulpdu;
    peer.send(Fpdu{.ulpdu = sent});
    expect_copied_header(*this, sent, "rdmap.atomic.incoming-error-fields");
  });
  row("unknown operation", [&] {
    const Region region = word_of(*this);
    const Octets sent =
        peer.prepare(atomic_request({.operation = 15, .stag = region.stag, .offset = region.base}))
            .front()
            .ulpdu;
    peer.send(Fpdu{.ulpdu = sent});
    expect_copied_header(*this, sent, "rdmap.atomic.incoming-error-fields");
  });
}

CONFORMANCE_CASE(consumer_learns_of_an_unaligned_atomic,
                 rules("rdmap.atomic.fetchadd-unaligned-error-again",
                       "rdmap.atomic.cmpswap-unaligned-surfaced",
                       "rdmap.atomic.fetchadd-unaligned-terminate",
                       "rdmap.atomic.cmpswap-unaligned-terminate"),
                 needs(capability::atomics)) {
  const auto rejected = [&](std::uint32_t code, RuleRef terminate, RuleRef surfaced) {
    const Region region = word_of(*this);
    peer.send(atomic_request(
        {.operation = code, .stag = region.stag, .offset = region.base + 4, .compare_mask = 0}));
    expect(peer, some_terminate(), terminate);
    expect(iut, asynchronous_error() | disconnected(), surfaced);
  };
  row("FetchAdd", [&] {
    rejected(fetch_add_code, "rdmap.atomic.fetchadd-unaligned-terminate",
             "rdmap.atomic.fetchadd-unaligned-error-again");
  });
  row("CmpSwap", [&] {
    rejected(compare_swap_code, "rdmap.atomic.cmpswap-unaligned-terminate",
             "rdmap.atomic.cmpswap-unaligned-surfaced");
  });
}

CONFORMANCE_CASE(invalidate_stag_of_an_atomic_is_ignored,
                 rules("rdmap.atomic.invalidate-stag-ignored"), needs(capability::atomics)) {
  row("Request", [&] {
    const Region region = word_of(*this);
    peer.send(fetch_add(1, region.stag, region.base, 1).with_ulp_word(region.stag));
    expect(peer, message(Opcode::atomic_response));
    peer.send(fetch_add(2, region.stag, region.base, 1));
    expect(peer, message(Opcode::atomic_response));
  });
  row("Response", [&] {
    const Region region = word_of(*this);
    let_iut_send();
    const Work work = post_atomic(*this, operation::fetch_add, 1);
    const std::uint32_t id = expect_request(*this).request_id;
    peer.send(atomic_response(id, symmetric).with_ulp_word(region.stag));
    expect(work, completes());
    peer.send(fetch_add(2, region.stag, region.base, 1));
    expect(peer, message(Opcode::atomic_response));
  });
}

CONFORMANCE_CASE(abort_with_an_atomic_waiting_is_a_local_error,
                 rules("rdmap.atomic.local-error-terminate", "rdmap.atomic.local-error-no-headers"),
                 needs(capability::atomics), in_both_roles) {
  const Work read = read_under_way(*this);
  const Work atomic = post_atomic(*this, operation::fetch_add, 1);
  iut.disconnect(true);
  expect_local_error(*this, "rdmap.atomic.local-error-terminate",
                     "rdmap.atomic.local-error-no-headers");
}

// ---------------------------------------------------------------- Immediate Data

CONFORMANCE_CASE(ddp_fields_of_immediate_data_are_validated,
                 rules("rdmap.immediate.ddp-fields-validated",
                       "rdmap.immediate.incoming-error-terminate"),
                 needs(capability::immediate)) {
  for (const WrongField& field : wrong_fields()) {
    row(field.name, [&] {
      const Work receive = iut.post_receive(64);
      peer.send(field.damaged(immediate_data(payload(8))));
      expect_rejection({field.cause, field.or_cause}, "rdmap.immediate.ddp-fields-validated",
                       "rdmap.immediate.incoming-error-terminate");
      expect(receive, completes_in_error(), "rdmap.immediate.ddp-fields-validated");
    });
  }
}

CONFORMANCE_CASE(rdmap_version_of_immediate_data_is_validated,
                 rules("rdmap.immediate.version-validated", "rdmap.terminate.code-invalid-version"),
                 needs(capability::immediate)) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{2, 3}) {
    for (const bool solicited : {false, true}) {
      row(fmt::format("RV {}{}", version, solicited ? " with SE" : ""), [&] {
        const Work receive = iut.post_receive(64);
        peer.send(immediate_data(payload(8), solicited).with_rdmap_version(version));
        expect_rejection({cause::rdmap_invalid_version}, "rdmap.immediate.version-validated",
                         "rdmap.terminate.code-invalid-version");
        expect(receive, completes_in_error(), "rdmap.immediate.version-validated");
      });
    }
  }
}

CONFORMANCE_CASE(immediate_data_on_another_queue_are_rejected,
                 rules("rdmap.immediate.opcode-validated"), needs(capability::immediate)) {
  for (const std::uint32_t queue : {1U, 2U, 3U}) {
    row(fmt::format("queue {}", queue), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(immediate_data(payload(8)).with_queue(queue));
      // DDP may find no buffer on the queue before RDMAP sees the opcode.
      expect_rejection({cause::rdmap_unexpected_opcode, cause::ddp_untagged_no_buffer,
                        cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_invalid_queue},
                       "rdmap.immediate.opcode-validated", "rdmap.immediate.opcode-validated",
                       {cause::rdmap_operation_unspecified});
    });
  }
  row("a tagged segment", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    const auto opcode = static_cast<std::uint8_t>(Opcode::immediate);
    peer.send(rdma_write(region.stag, region.base, payload(8)).with_opcode(opcode));
    expect_rejection({cause::rdmap_unexpected_opcode}, "rdmap.immediate.opcode-validated",
                     "rdmap.immediate.opcode-validated", {cause::rdmap_operation_unspecified});
  });
}

CONFORMANCE_CASE(invalidate_stag_of_immediate_data_is_ignored,
                 rules("rdmap.immediate.invalidate-stag-ignored"), needs(capability::immediate)) {
  const Region region = iut.register_memory(64, access::remote_write);
  for (const bool solicited : {false, true}) {
    const Work receive = iut.post_receive(64);
    peer.send(immediate_data(payload(8), solicited).with_ulp_word(region.stag));
    expect(receive, completes().with_immediate(payload(8)));
    peer.send(rdma_write(region.stag, region.base, payload(16)));
    expect(region, holds(payload(16)));
  }
}

CONFORMANCE_CASE(terminate_about_immediate_data_copies_their_ddp_header,
                 rules("rdmap.immediate.incoming-error-fields"), needs(capability::immediate),
                 in_both_roles) {
  for (const bool solicited : {false, true}) {
    row(solicited ? "with SE" : "without SE", [&] {
      const Work receive = iut.post_receive(64);
      const Octets sent = peer.prepare(immediate_data(payload(7), solicited)).front().ulpdu;
      peer.send(Fpdu{.ulpdu = sent});
      expect_copied_header(*this, sent, "rdmap.immediate.incoming-error-fields");
    });
  }
}

CONFORMANCE_CASE(consumer_learns_of_immediate_data_in_error,
                 rules("rdmap.immediate.error-passed-up-and-terminated"),
                 needs(capability::immediate), in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(immediate_data(payload(7)));
  expect(peer, some_terminate());
  expect(receive, completes_in_error());
  expect(iut, asynchronous_error() | disconnected());
}

CONFORMANCE_CASE(read_after_failing_immediate_data_is_not_answered,
                 rules("rdmap.immediate.before-read-response"), needs(capability::immediate)) {
  const Region source = iut.register_memory(64, access::remote_read);
  const Work receive = iut.post_receive(64);
  peer.send_together({immediate_data(payload(7)), read_of(source.stag, source.base, 8)});
  expect(peer, some_terminate(), then_close, "rdmap.immediate.before-read-response");
}

CONFORMANCE_CASE(atomic_after_failing_immediate_data_is_not_executed,
                 rules("rdmap.immediate.before-atomic-response"),
                 needs(capability::atomics, capability::immediate)) {
  const Region region = word_of(*this);
  const Work receive = iut.post_receive(64);
  peer.send_together({immediate_data(payload(7)), fetch_add(1, region.stag, region.base, 1)});
  expect(peer, some_terminate(), then_close, "rdmap.immediate.before-atomic-response");
  expect(region, unchanged, "rdmap.immediate.before-atomic-response");
}

CONFORMANCE_CASE(abort_with_immediate_data_waiting_is_a_local_error,
                 rules("rdmap.immediate.local-error-terminate",
                       "rdmap.immediate.local-error-no-headers"),
                 needs(capability::immediate), in_both_roles) {
  const Work read = read_under_way(*this);
  iut::PostWork post;
  post.operation = operation::immediate;
  post.fence = true;
  const Work immediate = iut.post(post);
  iut.disconnect(true);
  expect_local_error(*this, "rdmap.immediate.local-error-terminate",
                     "rdmap.immediate.local-error-no-headers");
}

CASES_OF_FILE(rdmap, extension_validation)

}  // namespace suite::cases
