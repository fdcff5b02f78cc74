// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 4.8 with Figures 9 and 10, RFC 5041 section 7.2, RFC 5044 section 8: every cause
// that a peer can provoke, what its Terminate copies, and what may follow it.
#include "suite/cases/rdmap/terminate_matrix.hpp"

#include <algorithm>
#include <array>

#include "reference_rnic/wire/markers.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

using rnic::wire::TerminateCause;

constexpr std::uint32_t unknown_stag = 0x7FFFFF01;

/// What is wrong with a segment, the Terminates that tell it, and what they have to copy.
struct Wrong {
  std::vector<TerminateCause> causes;
  std::vector<TerminateCause> tolerated{};  ///< advisories
  RuleRef code;                             ///< the rule that lays the cause down
  /// It is a Read Request whose header is to be copied, or may be; otherwise none is.
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

/// The copied headers are those of the segment at fault. Whether they are there stands behind a
/// SHOULD ("if possible").
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
    test.expect_that(terminate->segment_length == ulpdu.size(),
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

/// Sends the FPDUs, of which the last is at fault, and judges the Terminate and what follows it.
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

/// Neither DDP nor RDMA header.
void expect_told_without_headers(Body& test, TerminateCause cause, const Arrival& arrival,
                                 RuleRef code) {
  const auto terminate = arrival.terminate();
  if (!terminate) return;
  test.expect_that(terminate->cause == cause, rnic::wire::describe(cause), arrival.text(), code);
  test.advise_that(!terminate->m && !terminate->d && !terminate->r, "M, D and R clear",
                   arrival.text(), "rdmap.terminate.llp-error-no-headers");
  test.expect_teardown(test.peer.raw());
}

Octets terminate_payload(TerminateCause cause) { return terminate_message(cause).payload; }

}  // namespace

// ---------------------------------------------------------------- layer 1: DDP

CONFORMANCE_CASE(tagged_errors_are_told_with_the_segments_header,
                 rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
                       "rdmap.terminate.ddp-header-size", "ddp.terminate.report-has-header",
                       "ddp.terminate.report-has-segment-length",
                       "ddp.terminate.report-has-error-type"),
                 rules("ddp.terminate.tagged-invalid-stag", "ddp.terminate.tagged-base-or-bounds",
                       "ddp.terminate.tagged-stag-not-associated", "ddp.terminate.tagged-to-wrap",
                       "ddp.terminate.tagged-invalid-version",
                       "rdmap.terminate.ddp-error-no-rdma-header",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.r-bit-per-figure"),
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

CONFORMANCE_CASE(
    untagged_errors_are_told_with_the_segments_header,
    rules("rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
          "rdmap.terminate.ddp-header-size", "ddp.terminate.report-has-header",
          "ddp.terminate.report-has-segment-length", "ddp.terminate.report-has-error-type"),
    rules("ddp.terminate.untagged-invalid-qn", "ddp.terminate.untagged-msn-range",
          "ddp.terminate.untagged-invalid-mo", "ddp.terminate.untagged-message-too-long",
          "ddp.terminate.untagged-invalid-version", "rdmap.terminate.ddp-error-no-rdma-header",
          "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.r-bit-per-figure"),
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

CONFORMANCE_CASE(missing_buffer_is_told_with_the_segments_header,
                 rules("ddp.terminate.untagged-no-buffer", "rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value")) {
  let_iut_send();
  const Octets ulpdu = peer.prepare(send_message(payload(9))).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  // It may wait for a buffer where the LLP lets it (docs/disputes.md D9).
  const Arrival arrival = expect(
      peer, only_terminate({cause::ddp_untagged_no_buffer}) | silence() | advisory(torn_down()));
  if (arrival.message(Opcode::terminate) != nullptr) expect_copies(*this, arrival, ulpdu);
}

CONFORMANCE_CASE(header_of_the_segment_at_fault_is_copied,
                 rules("rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value")) {
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

CONFORMANCE_CASE(read_errors_are_told_with_both_headers,
                 rules("rdmap.terminate.read-header-original", "rdmap.terminate.rdma-header-size",
                       "rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
                       "rdmap.terminate.protection-error-ddp-header",
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

CONFORMANCE_CASE(invalidation_errors_are_told_with_the_segments_header,
                 rules("rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.code-cannot-invalidate-protection",
                       "rdmap.terminate.code-cannot-invalidate-operation"),
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

CONFORMANCE_CASE(operation_errors_are_told_with_the_ddp_header_alone,
                 rules("rdmap.terminate.operation-error-ddp-header",
                       "rdmap.terminate.operation-error-no-rdma-header",
                       "rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value"),
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
    // Figure 10 keeps the RDMA header out of it, section 7.1, case 3 puts it in (D57).
    Wrong of_a_read = version;
    of_a_read.read_header = Wrong::ReadHeader::left_open;
    expect_told(*this, read_from(region, 0, 8).with_rdmap_version(2), of_a_read);
  });
  row("0/2/06 reserved opcode", [&] {
    const Work receive = iut.post_receive(32);
    expect_told(*this, send_message(payload(9)).with_opcode(0xD), opcode);
  });
  row("0/2/06 Read Response to nobody", [&] {
    const Region region = iut.register_memory(64, access::remote_write);
    // No text names a cause for it (D58).
    expect_told(*this, read_response(region.stag, region.base, payload(9)),
                {.causes = {}, .code = "rdmap.read.invalid-response-surfaced"});
  });
}

CONFORMANCE_CASE(unaligned_atomic_is_told_with_the_ddp_header_alone,
                 rules("rdmap.atomic.alignment-terminate-code", "rdmap.terminate.ddp-header-copied",
                       "rdmap.terminate.segment-length-value", "rdmap.terminate.r-bit-per-figure"),
                 needs(capability::atomics), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_atomic);
  const std::uint64_t unaligned = region.base % 8 == 0 ? region.base + 1 : region.base;
  expect_told(*this, fetch_add(1, region.stag, unaligned, 1),
              {.causes = {cause::rdmap_catastrophic_stream},
               .code = "rdmap.atomic.alignment-terminate-code"});
}

// ---------------------------------------------------------------- layer 2: MPA

CONFORMANCE_CASE(crc_error_is_told_without_a_header,
                 rules("mpa.terminate.crc-error-code", "mpa.terminate.crc-error-detected",
                       "rdmap.terminate.llp-error-no-headers"),
                 in_both_roles) {
  see_iut_send();                             // a Responder may not answer an invalid first FPDU
  const Work receive = iut.post_receive(64);  // so that nothing else is wrong with it
  peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
  const Arrival arrival = expect_unless_dropped(any_terminate() | advisory(torn_down()),
                                                "mpa.terminate.crc-error-detected");
  expect_told_without_headers(*this, cause::mpa_crc, arrival, "mpa.terminate.crc-error-code");
}

CONFORMANCE_CASE(marker_error_is_told_without_a_header,
                 rules("mpa.terminate.marker-mismatch-code", "rdmap.terminate.llp-error-no-headers",
                       "rdmap.terminate.d-bit-per-figure"),
                 configured({.markers = true})) {
  expect_still_working();  // as above
  const Region region = iut.register_memory(1000, access::remote_write);
  Fpdu fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(1000))).front();
  std::size_t at = rnic::wire::octets_to_marker(peer.raw().sending().position);
  if (at == 0) at = rnic::wire::marker_interval;
  fpdu.change_before_crc = [at](rnic::wire::MutableBytes all) { all[at + 2] ^= std::byte{0x10}; };
  peer.send(fpdu);
  // Markers need not be looked at (docs/disputes.md D8).
  const Arrival arrival = expect(peer, any_terminate() | torn_down() | silence());
  expect_told_without_headers(*this, cause::mpa_marker, arrival,
                              "mpa.terminate.marker-mismatch-code");
}

// ---------------------------------------------------------------- what may follow

CONFORMANCE_CASE(nothing_follows_a_terminate_of_any_layer,
                 rules("rdmap.terminate.nothing-sent-after"), in_both_roles) {
  const auto last_words = [&](const std::function<void()>& offend) {
    establish({.parameters = {.private_data = {}, .ird = 4, .ord = 1}});
    see_iut_send();
    // Work and Responses are waiting when the error is found.
    const Work read = iut.post_read(8, unknown_stag, 0);
    static_cast<void>(expect_message(Opcode::read_request));
    const Work fenced =
        iut.post_send(payload(8), operation::send, [](iut::PostWork& work) { work.fence = true; });
    offend();
    const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()),
                                   "rdmap.error.incoming-message-terminate");
    if (!arrival.is_end()) expect_teardown(peer.raw());
    expect(fenced, completes_in_error(), "rdmap.terminate.pending-completed-in-error");
  };
  row("RDMAP", [&] { last_words([&] { peer.send(read_of(unknown_stag, 0, 8)); }); });
  row("DDP, tagged",
      [&] { last_words([&] { peer.send(rdma_write(unknown_stag, 0, payload(8))); }); });
  row("DDP, untagged",
      [&] { last_words([&] { peer.send(send_message(payload(8)).with_queue(7)); }); });
  row("an error behind an error", [&] {
    last_words([&] {
      peer.send_together({rdma_write(unknown_stag, 0, payload(8)), read_of(unknown_stag, 0, 8),
                          send_message(payload(8)).with_queue(7)});
    });
  });
}

CONFORMANCE_CASE(terminate_of_every_cause_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap", "rdmap.terminate.nothing-sent-after",
                       "rdmap.terminate.outstanding-completed-in-error")) {
  const auto ended = [&](const Octets& payload) {
    const Work receive = iut.post_receive(32);
    Outgoing terminate = terminate_message(cause::rdmap_local_catastrophic);
    terminate.payload = payload;
    peer.send(terminate);
    // It is not answered by another.
    expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
    if (peer.raw().is_open()) peer.half_close();
    expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
  };
  for (const MatrixEntry& entry : terminate_matrix())
    row(rnic::wire::describe(entry.cause), [&] { ended(terminate_payload(entry.cause)); });
  row("a local catastrophic error of any code", [&] { ended(octets({0x00, 0x7E, 0, 0})); });
  row("copied headers", [&] {
    Octets told = octets({0x11, 0x00, 0xC0, 0x00, 0x00, 0x12});
    const Octets header = part_of(peer.prepare(rdma_write(5, 6, payload(4))).front().ulpdu, 0, 14);
    told.insert(told.end(), header.begin(), header.end());
    ended(told);
  });
}

CASES_OF_FILE(rdmap, terminate_matrix)

// ---------------------------------------------------------------- the matrix

namespace {

constexpr std::string_view tagged =
    "rdmap.terminate_matrix.tagged_errors_are_told_with_the_segments_header";
constexpr std::string_view untagged =
    "rdmap.terminate_matrix.untagged_errors_are_told_with_the_segments_header";
constexpr std::string_view reads = "rdmap.terminate_matrix.read_errors_are_told_with_both_headers";
constexpr std::string_view invalidations =
    "rdmap.terminate_matrix.invalidation_errors_are_told_with_the_segments_header";
constexpr std::string_view operations =
    "rdmap.terminate_matrix.operation_errors_are_told_with_the_ddp_header_alone";
constexpr std::string_view wraps = "out of bounds is right as well (docs/disputes.md D15)";
constexpr std::string_view either_type = "types 1 and 2 are both right (docs/disputes.md D1)";

constexpr MatrixEntry matrix[] = {
    {cause::rdmap_local_catastrophic, true, "local catastrophic error",
     "rdmap.terminate.local_error_is_told_as_such", "provoked by the consumer, not by the peer"},
    {cause::rdmap_invalid_stag, false, "invalid STag", reads, ""},
    {cause::rdmap_base_or_bounds, false, "base or bounds violation", reads, ""},
    {cause::rdmap_access_rights, false, "access rights violation", reads, ""},
    {cause::rdmap_stag_not_associated, false, "STag not associated with the stream", reads, ""},
    {cause::rdmap_to_wrap, false, "TO wrap", reads, wraps},
    {cause::rdmap_protection_cannot_invalidate, false, "STag cannot be invalidated", invalidations,
     either_type},
    {cause::rdmap_protection_unspecified, false, "unspecified protection error", "",
     "no text demands it; accepted by rdmap.atomics.atomic_is_confined_like_a_read"},
    {cause::rdmap_invalid_version, false, "invalid RDMAP version", operations, ""},
    {cause::rdmap_unexpected_opcode, false, "unexpected opcode", operations, ""},
    {cause::rdmap_catastrophic_stream, false, "catastrophic error, this stream",
     "rdmap.terminate_matrix.unaligned_atomic_is_told_with_the_ddp_header_alone",
     "demanded for unaligned Atomics only (RFC 7306 8.2)"},
    {cause::rdmap_catastrophic_global, false, "catastrophic error, global", "",
     "the whole RNIC has failed: nothing that a peer may send brings that about"},
    {cause::rdmap_operation_cannot_invalidate, false, "STag cannot be invalidated", invalidations,
     either_type},
    {cause::rdmap_operation_unspecified, false, "unspecified operation error", "",
     "no text demands it; accepted by rdmap.atomics.unknown_atomic_operation_is_rejected"},
    {cause::ddp_local_catastrophic, false, "local catastrophic error", "",
     "an error of the IUT's own that neither its peer nor its consumer can bring about"},
    {cause::ddp_tagged_invalid_stag, false, "invalid STag", tagged, ""},
    {cause::ddp_tagged_base_or_bounds, false, "base or bounds violation", tagged, ""},
    {cause::ddp_tagged_stag_not_associated, false, "STag not associated with the stream", tagged,
     ""},
    {cause::ddp_tagged_to_wrap, false, "TO wrap", tagged, wraps},
    {cause::ddp_tagged_invalid_version, false, "invalid DDP version", tagged, ""},
    {cause::ddp_untagged_invalid_queue, false, "invalid queue number", untagged, ""},
    {cause::ddp_untagged_no_buffer, false, "no buffer for the MSN",
     "rdmap.terminate_matrix.missing_buffer_is_told_with_the_segments_header",
     "the message may wait for a buffer (docs/disputes.md D9)"},
    {cause::ddp_untagged_msn_out_of_range, false, "MSN out of range", untagged, ""},
    {cause::ddp_untagged_invalid_offset, false, "invalid message offset", untagged, ""},
    {cause::ddp_untagged_message_too_long, false, "message too long for its buffer", untagged, ""},
    {cause::ddp_untagged_invalid_version, false, "invalid DDP version", untagged, ""},
    {{1, 3, 0},
     true,
     "reserved for the LLP",
     "",
     "MPA reports its errors under a layer of its own (RFC 5044 section 8)"},
    {cause::mpa_connection_lost, false, "TCP connection closed, terminated or lost",
     "rdmap.close.fin_within_an_fpdu_is_a_loss",
     "told to the consumer: without the connection no Terminate travels"},
    {cause::mpa_crc, false, "CRC error",
     "rdmap.terminate_matrix.crc_error_is_told_without_a_header",
     "a silent drop is right as well (docs/disputes.md D8)"},
    {cause::mpa_marker, false, "Marker and ULPDU Length mismatch",
     "rdmap.terminate_matrix.marker_error_is_told_without_a_header",
     "Markers need not be looked at (docs/disputes.md D8)"},
    {cause::mpa_invalid_frame, false, "invalid Request or Reply Frame", "",
     "told to the consumer: before full operation there are no FPDUs to carry a Terminate"},
    {cause::mpa_local_catastrophic, false, "local catastrophic error", "",
     "an error of the IUT's own that neither its peer nor its consumer can bring about"},
    {cause::mpa_insufficient_ird, false, "insufficient IRD resources",
     "mpa.enhanced_initiator.insufficient_ird_is_told_by_a_terminate", ""},
    {cause::mpa_no_rtr, false, "no matching RTR option",
     "mpa.enhanced_initiator.missing_rtr_match_is_told_by_a_terminate", ""},
};

}  // namespace

std::span<const MatrixEntry> terminate_matrix() { return matrix; }

}  // namespace suite::cases
