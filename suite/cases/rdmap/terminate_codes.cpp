// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 4.8 with Figures 9 and 10, RFC 5041 section 7.2, RFC 5044 section 8: the code of
// every error that a peer or the consumer can provoke, and which headers its Terminate copies.
#include <algorithm>
#include <array>

#include "reference_rnic/wire/markers.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/error_steps.hpp"

namespace suite::cases {

namespace {

using rnic::wire::TerminateCause;

/// What is wrong with a segment, the Terminates that report it, and what they must copy.
struct Wrong {
  std::vector<TerminateCause> causes;
  std::vector<TerminateCause> tolerated{};  ///< advisories
  RuleRef code;                             ///< the rule that lays the cause down
  /// Whether it is a Read Request whose header must or may be copied; otherwise none is.
  enum class ReadHeader : std::uint8_t { none, wanted, left_open } read_header = ReadHeader::none;
};

Wrong refused_as(const Refusal& refusal, RuleRef code) {
  return {.causes = refusal.causes, .tolerated = refusal.tolerated, .code = code};
}

Expected with_cause(const std::vector<TerminateCause>& causes, std::string text) {
  return {std::move(text), [causes](const Arrival& arrival) {
            const auto terminate = arrival.terminate();
            return terminate && std::ranges::find(causes, terminate->cause) != causes.end();
          }};
}

std::string list_of(const std::vector<TerminateCause>& causes) {
  std::string text;
  for (const TerminateCause cause : causes)
    text += (text.empty() ? "" : " or ") + rnic::wire::describe(cause);
  return text;
}

std::size_t header_size(const Octets& ulpdu) {
  const rnic::wire::DdpControl control{std::to_integer<std::uint8_t>(ulpdu.front())};
  return control.tagged() ? rnic::wire::tagged_header_size : rnic::wire::untagged_header_size;
}

/// The copied headers are those of the segment at fault. That they are present is a SHOULD ("if
/// possible").
void expect_copies(Body& test, const Arrival& arrival, const Octets& ulpdu,
                   Wrong::ReadHeader read_header = Wrong::ReadHeader::none) {
  const auto terminate = arrival.terminate();
  const Octets header = part_of(ulpdu, 0, header_size(ulpdu));
  test.advise_that(terminate->m && terminate->d, "M and D set", arrival.text(),
                   "rdmap.terminate.d-bit-per-figure");
  if (terminate->d)
    test.expect_that(std::ranges::equal(terminate->ddp_header, header), rnic::wire::hex(header),
                     rnic::wire::hex(terminate->ddp_header), "rdmap.terminate.ddp-header-copied");
  if (terminate->m)
    test.expect_that(tells_length_of(*terminate, ulpdu),
                     fmt::format("DDP Segment Length {}", ulpdu.size()), arrival.text(),
                     "rdmap.terminate.segment-length-value");
  const bool wanted = read_header == Wrong::ReadHeader::wanted;
  if (read_header != Wrong::ReadHeader::left_open)
    test.advise_that(terminate->r == wanted, wanted ? "R set" : "R clear", arrival.text(),
                     "rdmap.terminate.r-bit-per-figure");
  if (!terminate->r || read_header == Wrong::ReadHeader::none) return;
  const Octets request = part_of(ulpdu, header.size(), ulpdu.size() - header.size());
  test.expect_that(std::ranges::equal(terminate->rdmap_header, request), rnic::wire::hex(request),
                   rnic::wire::hex(terminate->rdmap_header),
                   "rdmap.terminate.read-header-original");
}

/// Sends the FPDUs, the last of which is at fault, and judges the Terminate and what follows it.
void expect_told(Body& test, const std::vector<Fpdu>& fpdus, const Wrong& wrong) {
  test.peer.ready().send(fpdus);
  const Expected right =
      wrong.causes.empty() ? any_terminate() : with_cause(wrong.causes, list_of(wrong.causes));
  const Expected other = with_cause(wrong.tolerated, list_of(wrong.tolerated));
  const Expected wanted = wrong.tolerated.empty() ? right : right | advisory(other);
  const Arrival arrival = test.expect(test.peer, wanted | advisory(torn_down()), wrong.code);
  if (arrival.is_end()) return;
  expect_copies(test, arrival, fpdus.back().ulpdu, wrong.read_header);
  test.expect_teardown(test.peer.raw());
}

void expect_told(Body& test, const Outgoing& message, const Wrong& wrong) {
  expect_told(test, test.peer.prepare(message), wrong);
}

Outgoing read_from(const Region& region, std::uint64_t offset, std::uint32_t length) {
  return read_of(region.stag, region.base + offset, length);
}

/// The Terminate has neither DDP nor RDMA header.
void expect_told_without_headers(Body& test, TerminateCause cause, const Arrival& arrival,
                                 RuleRef code) {
  const auto terminate = arrival.terminate();
  if (!terminate) return;
  test.expect_that(terminate->cause == cause, rnic::wire::describe(cause), arrival.text(), code);
  test.advise_that(!terminate->m && !terminate->d && !terminate->r, "M, D and R clear",
                   arrival.text(), "rdmap.terminate.llp-error-no-headers");
  test.expect_teardown(test.peer.raw());
}

}  // namespace

// ---------------------------------------------------------------- layer 1: DDP

CONFORMANCE_CASE(tagged_errors_are_reported_with_the_segments_header,
                 rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value"),
                 rules("ddp.terminate.tagged-invalid-stag", "ddp.terminate.tagged-base-or-bounds",
                       "ddp.terminate.tagged-stag-not-associated", "ddp.terminate.tagged-to-wrap",
                       "ddp.terminate.tagged-invalid-version", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure"),
                 in_both_roles) {
  row("1/1/00 invalid STag", [&] {
    expect_told(
        *this, rdma_write(unknown_stag, 0x1234, payload(33)),
        {.causes = {cause::ddp_tagged_invalid_stag}, .code = "ddp.terminate.tagged-invalid-stag"});
  });
  row("1/1/01 base or bounds", [&] {
    const Region region = iut.register_memory(100, access::remote_write);
    expect_told(*this, rdma_write(region.stag, region.base + 99, payload(2)),
                {.causes = {cause::ddp_tagged_base_or_bounds},
                 .code = "ddp.terminate.tagged-base-or-bounds"});
  });
  row("1/1/02 STag of another domain", [&] {
    const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
    expect_told(
        *this, rdma_write(region.stag, region.base, payload(16)),
        refused_as(refusal::tagged_of_another_domain, "ddp.terminate.tagged-stag-not-associated"));
  });
  row("1/1/03 TO wrap", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    expect_told(*this, rdma_write(region.stag, ~std::uint64_t{0}, payload(2)),
                refused_as(refusal::tagged_wrap, "ddp.terminate.tagged-to-wrap"));
  });
  row("1/1/04 DDP version", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    expect_told(*this, rdma_write(region.stag, region.base, payload(5)).with_ddp_version(3),
                {.causes = {cause::ddp_tagged_invalid_version},
                 .code = "ddp.terminate.tagged-invalid-version"});
  });
}

CONFORMANCE_CASE(untagged_errors_are_reported_with_the_segments_header,
                 rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value"),
                 rules("ddp.terminate.untagged-invalid-qn", "ddp.terminate.untagged-msn-range",
                       "ddp.terminate.untagged-invalid-mo",
                       "ddp.terminate.untagged-message-too-long",
                       "ddp.terminate.untagged-invalid-version", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure"),
                 in_both_roles) {
  const Outgoing send = send_message(payload(17));
  const auto with_receive = [&](const char* name, const Outgoing& message, const Wrong& wrong) {
    row(name, [&, message, wrong] {
      const Work receive = iut.post_receive(32);
      expect_told(*this, message, wrong);
    });
  };
  with_receive("1/2/01 queue number", send.with_queue(0xFFFFFFFF),
               refused_as(refusal::unknown_queue, "ddp.terminate.untagged-invalid-qn"));
  with_receive("1/2/03 MSN", send.with_msn(0x80000001),
               refused_as(refusal::msn_out_of_range, "ddp.terminate.untagged-msn-range"));
  with_receive("1/2/04 MO", send.with_untagged([](std::size_t, rnic::wire::UntaggedHeader& header) {
    header.message_offset = 0x01020304;
  }),
               refused_as(refusal::offset_beyond_buffer, "ddp.terminate.untagged-invalid-mo"));
  with_receive("1/2/05 message too long", send_message(payload(33)),
               {.causes = {cause::ddp_untagged_message_too_long},
                .code = "ddp.terminate.untagged-message-too-long"});
  with_receive("1/2/06 DDP version", send.with_ddp_version(0),
               {.causes = {cause::ddp_untagged_invalid_version},
                .code = "ddp.terminate.untagged-invalid-version"});
}

CONFORMANCE_CASE(missing_buffer_is_reported_with_the_segments_header,
                 rules("ddp.terminate.untagged-no-buffer", "rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure")) {
  let_iut_send();
  const Octets ulpdu = peer.prepare(send_message(payload(9))).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  // It may wait for a buffer, where the LLP lets it (docs/disputes.md D9).
  const Arrival arrival = expect(
      peer, only_terminate({cause::ddp_untagged_no_buffer}) | silence() | advisory(torn_down()));
  if (arrival.message(Opcode::terminate) != nullptr) expect_copies(*this, arrival, ulpdu);
}

CONFORMANCE_CASE(header_of_the_segment_at_fault_is_copied,
                 rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
                       "ddp.terminate.tagged-invalid-stag", "ddp.terminate.untagged-invalid-qn",
                       "ddp.terminate.untagged-message-too-long",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.r-bit-per-figure")) {
  row("third segment of a Write", [&] {
    const Region region = iut.register_memory(100, access::remote_write);
    auto fpdus =
        peer.prepare(rdma_write(region.stag, region.base, payload(110)).with_segments_of(40));
    expect_told(*this, fpdus,
                {.causes = {cause::ddp_tagged_base_or_bounds},
                 .code = "ddp.terminate.tagged-base-or-bounds"});
  });
  row("second segment of a Send", [&] {
    const Work receive = iut.post_receive(50);
    auto fpdus = peer.prepare(send_message(payload(60)).with_segments_of(40));
    expect_told(*this, fpdus,
                {.causes = {cause::ddp_untagged_message_too_long},
                 .code = "ddp.terminate.untagged-message-too-long"});
  });
  row("segment without payload", [&] {
    const Work receive = iut.post_receive(50);
    expect_told(*this, send_message({}).with_queue(9),
                refused_as(refusal::unknown_queue, "ddp.terminate.untagged-invalid-qn"));
  });
  row("segment of 1300 octets", [&] {
    expect_told(
        *this, rdma_write(unknown_stag, 0, payload(1300)).with_segments_of(1300),
        {.causes = {cause::ddp_tagged_invalid_stag}, .code = "ddp.terminate.tagged-invalid-stag"});
  });
}

// ---------------------------------------------------------------- layer 0: RDMAP

CONFORMANCE_CASE(read_errors_are_reported_with_both_headers,
                 rules("rdmap.terminate.read-header-original", "rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value",
                       "rdmap.terminate.protection-error-rdma-header"),
                 rules("rdmap.terminate.code-invalid-stag", "rdmap.terminate.code-base-or-bounds",
                       "rdmap.terminate.code-access-rights",
                       "rdmap.terminate.code-stag-not-associated", "rdmap.terminate.code-to-wrap",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.r-bit-per-figure"),
                 in_both_roles) {
  const auto told = [&](const Outgoing& request, std::vector<TerminateCause> causes, RuleRef code,
                        std::vector<TerminateCause> tolerated = {}) {
    expect_told(*this, request,
                {.causes = std::move(causes),
                 .tolerated = std::move(tolerated),
                 .code = code,
                 .read_header = Wrong::ReadHeader::wanted});
  };
  row("0/1/00 invalid STag", [&] {
    told(read_of(unknown_stag, 0x1000, 8), {cause::rdmap_invalid_stag},
         "rdmap.terminate.code-invalid-stag");
  });
  row("0/1/01 base or bounds", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    told(read_from(region, 60, 5), {cause::rdmap_base_or_bounds},
         "rdmap.terminate.code-base-or-bounds");
  });
  row("0/1/02 access rights", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    told(read_from(region, 0, 8), {cause::rdmap_access_rights},
         "rdmap.terminate.code-access-rights");
  });
  row("0/1/03 STag of another domain", [&] {
    const Region region = iut.register_memory(64, access::remote_read, 0xA5, iut.create_domain());
    told(read_from(region, 0, 8), {cause::rdmap_stag_not_associated},
         "rdmap.terminate.code-stag-not-associated", {cause::rdmap_invalid_stag});
  });
  row("0/1/04 TO wrap", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    told(read_of(region.stag, ~std::uint64_t{0} - 3, 8),
         {cause::rdmap_to_wrap, cause::rdmap_base_or_bounds}, "rdmap.terminate.code-to-wrap");
  });
}

CONFORMANCE_CASE(invalidation_errors_are_reported_with_the_segments_header,
                 rules("rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.code-cannot-invalidate-protection",
                       "rdmap.terminate.d-bit-per-figure"),
                 needs(capability::remote_invalidate), in_both_roles) {
  const auto told = [&](const Outgoing& message, const std::vector<TerminateCause>& causes) {
    const Work receive = iut.post_receive(32);
    const Octets ulpdu = peer.prepare(message).front().ulpdu;
    peer.send(Fpdu{.ulpdu = ulpdu});
    const Arrival arrival =
        expect(peer, with_cause(causes, list_of(causes)) | advisory(torn_down()),
               "rdmap.terminate.code-cannot-invalidate-protection");
    if (arrival.is_end()) return;
    const auto terminate = arrival.terminate();
    const Octets header = part_of(ulpdu, 0, rnic::wire::untagged_header_size);
    // R may be set: Figure 10 and section 4.8 differ (docs/disputes.md D2).
    advise_that(terminate->d, "D set", arrival.text(), "rdmap.terminate.d-bit-per-figure");
    if (terminate->d)
      expect_that(std::ranges::equal(terminate->ddp_header, header), rnic::wire::hex(header),
                  rnic::wire::hex(terminate->ddp_header), "rdmap.terminate.ddp-header-copied");
    expect_teardown(peer.raw());
  };
  row("unknown STag", [&] {
    told(send_invalidate(unknown_stag, payload(8)), refusal::invalidation_of_nothing.causes);
  });
  row("STag of another domain, with SE", [&] {
    const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
    told(send_solicited_invalidate(region.stag, payload(8)),
         refusal::invalidation_of_another_domain.causes);
  });
}

CONFORMANCE_CASE(operation_errors_are_reported_with_the_ddp_header_alone,
                 rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value"),
                 rules("rdmap.terminate.code-invalid-version",
                       "rdmap.terminate.code-unexpected-opcode", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure", "rdmap.read.invalid-response-surfaced"),
                 in_both_roles) {
  const Wrong version{.causes = {cause::rdmap_invalid_version},
                      .code = "rdmap.terminate.code-invalid-version"};
  const Wrong opcode{.causes = {cause::rdmap_unexpected_opcode},
                     .code = "rdmap.terminate.code-unexpected-opcode"};
  row("0/2/05 version of a Send", [&] {
    const Work receive = iut.post_receive(32);
    expect_told(*this, send_message(payload(9)).with_rdmap_version(3), version);
  });
  row("0/2/05 version of a Write", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    expect_told(*this, rdma_write(region.stag, region.base, payload(9)).with_rdmap_version(2),
                version);
  });
  row("0/2/05 version of a Read Request", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    // Figure 10 leaves out the RDMA header, section 7.1, case 3 includes it (D57).
    Wrong of_a_read = version;
    of_a_read.read_header = Wrong::ReadHeader::left_open;
    expect_told(*this, read_from(region, 0, 8).with_rdmap_version(2), of_a_read);
  });
  row("0/2/06 reserved opcode", [&] {
    const Work receive = iut.post_receive(32);
    expect_told(*this, send_message(payload(9)).with_opcode(0xD), opcode);
  });
  row("0/2/06 Read Response that was not requested", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    // No text lays down a cause for it (D58).
    expect_told(*this, read_response(region.stag, region.base, payload(9)),
                {.causes = {}, .code = "rdmap.read.invalid-response-surfaced"});
  });
}

CONFORMANCE_CASE(unaligned_atomic_is_reported_with_the_ddp_header_alone,
                 rules("rdmap.atomic.alignment-terminate-code", "rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value", "rdmap.terminate.r-bit-per-figure",
                       "rdmap.terminate.d-bit-per-figure"),
                 needs(capability::atomics), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_atomic);
  const std::uint64_t unaligned = region.base % 8 == 0 ? region.base + 1 : region.base;
  expect_told(*this, fetch_add(1, region.stag, unaligned, 1),
              {.causes = {cause::rdmap_catastrophic_stream},
               .code = "rdmap.atomic.alignment-terminate-code"});
}

// ---------------------------------------------------------------- layer 2: MPA

CONFORMANCE_CASE(crc_error_is_reported_without_a_header,
                 rules("mpa.terminate.crc-error-code", "mpa.terminate.crc-error-detected",
                       "rdmap.terminate.llp-error-no-headers"),
                 in_both_roles) {
  see_iut_send();                             // a Responder may not answer an invalid first FPDU
  const Work receive = iut.post_receive(64);  // so that it has no other fault
  peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
  const Arrival arrival = expect_unless_dropped(any_terminate() | advisory(torn_down()),
                                                "mpa.terminate.crc-error-detected");
  expect_told_without_headers(*this, cause::mpa_crc, arrival, "mpa.terminate.crc-error-code");
}

CONFORMANCE_CASE(marker_error_is_reported_without_a_header,
                 rules("mpa.terminate.marker-mismatch-code",
                       "rdmap.terminate.llp-error-no-headers"),
                 configured({.markers = true})) {
  expect_still_working();  // as above
  const Region region = iut.register_memory(1000, access::remote_write);
  const Outgoing write = rdma_write(region.stag, region.base, payload(1000));
  Fpdu fpdu = peer.prepare(write.with_segments_of(1000)).front();
  std::size_t at = rnic::wire::octets_to_marker(peer.raw().sending().position);
  if (at == 0) at = rnic::wire::marker_interval;
  fpdu.change_before_crc = [at](rnic::wire::MutableBytes all) { all[at + 2] ^= std::byte{0x10}; };
  peer.send(fpdu);
  // Markers need not be checked (docs/disputes.md D8).
  const Arrival arrival = expect(peer, any_terminate() | torn_down() | silence());
  expect_told_without_headers(*this, cause::mpa_marker, arrival,
                              "mpa.terminate.marker-mismatch-code");
}

// ---------------------------------------------------------------- what may follow

CONFORMANCE_CASE(local_error_is_reported_as_such,
                 rules("rdmap.error.local-error-terminate", "rdmap.error.local-error-no-headers"),
                 in_both_roles) {
  row("abort by the consumer", [&] {
    see_iut_send();
    iut.disconnect(true);
    // The MUST of RFC 5040 section 7.1, as far as a Terminate can be sent (docs/disputes.md D7).
    const Arrival arrival = expect(peer, local_error() | advisory(torn_down()));
    if (const auto told = arrival.terminate())
      expect_that(is_no_header(told->ddp_header) && is_no_header(told->rdmap_header),
                  "no DDP and no RDMA header", arrival.text(),
                  "rdmap.error.local-error-no-headers");
  });
  row("Read whose sink is deregistered before it is sent", [&] {
    establish({.parameters = {.private_data = {}, .ird = 1, .ord = 1}});
    let_iut_send();
    const Work first = iut.post_read(8, unknown_stag, 0),
               second = iut.post_read(8, unknown_stag, 8);
    const auto request = expect_message(Opcode::read_request).read_request();
    iut.deregister(second.buffer);
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
    // An IUT that checks the sink only when the Response arrives finds no error here.
    expect(peer, local_error() | advisory(torn_down()) | message(Opcode::read_request));
  });
  row("Read with Invalidate whose sink a window holds", [&] {
    if (!iut.can(capability::read_invalidate) || !iut.can(capability::memory_windows))
      stop(Verdict::not_applicable, "the IUT has no such Reads, or no windows");
    see_iut_send();
    const Region sink =
        iut.register_memory(8, {.local_write = true, .remote_write = true, .bind_window = true});
    static_cast<void>(iut.bind_window(sink, 0, 8, access::remote_write));
    iut::PostWork command;
    command.operation = operation::read_invalidate;
    command.pieces = {{sink.handle, 0, 8}};
    command.remote_stag = unknown_stag;
    const Attempt read = iut.try_post(command);
    if (!read.taken()) stop(Verdict::not_applicable, "the API refuses such a Read");
    const auto request = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
    const iut::Event done = expect(iut, completion_of(read.work));
    // Where the invalidation succeeds, windows or not, there is no error.
    if (success_of(read.work).matches(done)) return;
    expect(peer, local_error() | advisory(torn_down()));
  });
}

CONFORMANCE_CASE(cause_fits_the_message_at_fault,
                 rules("rdmap.terminate.protection-error-causes",
                       "rdmap.terminate.code-protection-unspecified",
                       "rdmap.terminate.code-operation-unspecified",
                       "rdmap.terminate.llp-error-passed-up"),
                 rules("rdmap.error.streams-terminated"), in_both_roles) {
  using rnic::wire::TerminateCause;
  const auto tell = [&](const Outgoing& message, const char* admissible,
                        const std::function<bool(TerminateCause)>& holds, RuleRef rule) {
    peer.send(message);
    // An error that goes unnoticed has no cause.
    const Arrival arrival = expect(peer, some_terminate(), "rdmap.error.streams-terminated");
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
  row("Read Response that was not requested", [&] {
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

CASES_OF_FILE(rdmap, terminate_codes)

}  // namespace suite::cases
