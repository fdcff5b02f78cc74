// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::model {

namespace cause = wire::cause;

void Faults::add(const Fault& fault) {
  if (!found_) {
    const std::vector<RuleId> concerned = std::move(all_.rules);
    all_ = fault;
    all_.rules.insert(all_.rules.end(), concerned.begin(), concerned.end());
    found_ = true;
    return;
  }
  // A check that may be reported with any cause leaves the cause open.
  if (all_.causes.empty() || fault.causes.empty())
    all_.causes.clear();
  else
    all_.causes.insert(all_.causes.end(), fault.causes.begin(), fault.causes.end());
  all_.rules.insert(all_.rules.end(), fault.rules.begin(), fault.rules.end());
  all_.may_be_dropped = all_.may_be_dropped || fault.may_be_dropped;
}

bool admits(const Fault& fault, wire::TerminateCause cause) {
  return fault.causes.empty() ? wire::is_registered(cause)
                              : std::ranges::find(fault.causes, cause) != fault.causes.end();
}

bool has_code(const Fault& fault, std::uint8_t code) {
  return std::ranges::find(fault.causes, code, &wire::TerminateCause::code) != fault.causes.end();
}

std::string text_of(const Fault& fault) {
  std::string text;
  for (const wire::TerminateCause& each : fault.causes)
    text += (text.empty() ? "" : " or ") + wire::describe(each);
  return text.empty() ? "any registered cause" : text;
}

std::vector<const Fault*> all_faults() {
  using namespace fault;  // NOLINT(google-build-using-namespace): the list names all of them
  return {&bad_crc,
          &bad_marker,
          &truncated,
          &tagged_version,
          &untagged_version,
          &unknown_queue,
          &no_buffer,
          &sequence_number,
          &offset,
          &too_long,
          &incomplete,
          &tagged_stag,
          &tagged_association,
          &tagged_rights,
          &tagged_start,
          &tagged_end,
          &tagged_wrap,
          &rdmap_version,
          &opcode,
          &opcode_on_queue,
          &opcode_when_tagged,
          &read_stag,
          &read_association,
          &read_rights,
          &read_start,
          &read_end,
          &read_wrap,
          &too_many_reads,
          &request_length,
          &unasked_response,
          &response_elsewhere,
          &atomic_protection,
          &atomic_unaligned,
          &atomic_operation,
          &unasked_atomic_response,
          &immediate_length,
          &nothing_to_invalidate,
          &foreign_invalidation,
          &shared_invalidation,
          &rightless_invalidation};
}

namespace fault {

// After a bad CRC the segment may be dropped (RFC 5044 section 8, docs/disputes.md D8).
const Fault bad_crc{
    "a CRC that does not match",
    {cause::mpa_crc},
    {"mpa.crc.mismatch-invalidates-fpdu", "mpa.crc.checked-when-either-c-one",
     "mpa.crc.checked-when-peer-requires", "mpa.crc.support-implemented", "ddp.llp.strong-digest",
     "mpa.crc.recomputed-on-receive", "mpa.terminate.crc-error-code",
     "mpa.terminate.nothing-passed-after-error", "mpa.receive.fpdu-verified-before-ddp",
     "mpa.receive.start-by-chained-lengths-or-marker"},
    true};

// The same for a Marker (docs/disputes.md D8).
const Fault bad_marker{
    "a Marker that does not point to its FPDU",
    {cause::mpa_marker},
    {"mpa.terminate.marker-mismatch-code", "mpa.terminate.nothing-passed-after-error"},
    true};

const Fault truncated{
    "a ULPDU shorter than its header", {}, {"ddp.header.truncated-segment-rejected"}};
const Fault tagged_version{
    "a DDP version that is not 1",
    {cause::ddp_tagged_invalid_version},
    {"ddp.terminate.tagged-invalid-version", "rdmap.error.ddp-fields-validated"}};
const Fault untagged_version{
    "a DDP version of an untagged segment that is not 1",
    {cause::ddp_untagged_invalid_version},
    {"ddp.terminate.untagged-invalid-version", "rdmap.error.ddp-fields-validated"}};
// A queue that does not exist has no buffer either (D54).
const Fault unknown_queue{"a queue number that is not valid",
                          {cause::ddp_untagged_invalid_queue, cause::ddp_untagged_no_buffer},
                          {"ddp.untagged.check-qn-valid", "ddp.terminate.untagged-invalid-qn"}};
const Fault no_buffer{"no buffer on the queue",
                      {cause::ddp_untagged_no_buffer},
                      {"ddp.terminate.untagged-no-buffer", "ddp.untagged.check-buffer-available",
                       "ddp.untagged.no-buffer-is-fault", "ddp.untagged.no-buffer-llp-recovery"},
                      true};
const Fault sequence_number{
    "an MSN that is not the next one",
    {cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_no_buffer},
    {"ddp.untagged.check-msn-in-range", "ddp.terminate.untagged-msn-range"}};
const Fault offset{"an MO beyond the buffer",
                   {cause::ddp_untagged_invalid_offset, cause::ddp_untagged_message_too_long},
                   {"ddp.terminate.untagged-invalid-mo", "ddp.untagged.check-mo-in-range"}};
const Fault too_long{"a segment that ends beyond the buffer",
                     {cause::ddp_untagged_message_too_long},
                     {"ddp.untagged.check-end-in-range", "ddp.terminate.untagged-message-too-long",
                      "rdmap.send.too-long-is-error"}};
const Fault incomplete{"a segment that does not continue its message",
                       {},
                       {"ddp.delivery.completeness-check-not-required"}};

const Fault tagged_stag{"an STag that is not valid",
                        {cause::ddp_tagged_invalid_stag},
                        {"ddp.tagged.check-stag-valid", "ddp.terminate.tagged-invalid-stag",
                         "sec.buffer.revocation-stops-writes"}};
// docs/disputes.md: implementations call the STag of another domain invalid.
const Fault tagged_association{
    "an STag of another domain or stream",
    {cause::ddp_tagged_stag_not_associated, cause::ddp_tagged_invalid_stag},
    {"ddp.terminate.tagged-stag-not-associated", "sec.stag.pd-isolation"}};
// DDP has no code for access rights (docs/disputes.md D3).
const Fault tagged_rights{
    "an STag that does not grant remote writing",
    {cause::ddp_tagged_invalid_stag, cause::rdmap_access_rights},
    {"ddp.tagged.check-stag-allows-placement", "rdmap.security.access-rights-mechanism"}};
const Fault tagged_start{"a TO before the buffer",
                         {cause::ddp_tagged_base_or_bounds},
                         {"ddp.tagged.check-to-in-range", "ddp.terminate.tagged-base-or-bounds"}};
const Fault tagged_end{"an end beyond the buffer",
                       {cause::ddp_tagged_base_or_bounds},
                       {"ddp.tagged.check-end-in-range", "ddp.terminate.tagged-base-or-bounds",
                        "sec.buffer.octet-granular-check", "ddp.security.octet-level-bounds",
                        "sec.buffer.no-access-outside-bounds"}};
// A range that wraps is also out of bounds (docs/disputes.md D15).
const Fault tagged_wrap{"an end beyond 2^64",
                        {cause::ddp_tagged_to_wrap, cause::ddp_tagged_base_or_bounds},
                        {"ddp.tagged.check-to-no-wrap", "ddp.terminate.tagged-to-wrap"}};

const Fault rdmap_version{"an RDMAP version that is not 1",
                          {cause::rdmap_invalid_version},
                          {"rdmap.error.version-validated", "rdmap.terminate.code-invalid-version",
                           "rdmap.terminate.code-operation-unspecified"}};
const Fault opcode{"an opcode that no RFC defines",
                   {cause::rdmap_unexpected_opcode},
                   {"rdmap.error.opcode-validated", "rdmap.terminate.code-unexpected-opcode"}};
// The opcode is wrong on that queue, or the queue is wrong for it (docs/disputes.md D55).
const Fault opcode_on_queue{
    "an opcode that is not of its queue",
    {cause::rdmap_unexpected_opcode, cause::ddp_untagged_invalid_queue},
    {"rdmap.terminate.code-unexpected-opcode", "rdmap.error.opcode-validated"}};
const Fault opcode_when_tagged{"an opcode that is not of tagged messages",
                               {cause::rdmap_unexpected_opcode},
                               {"rdmap.terminate.code-unexpected-opcode",
                                "rdmap.error.opcode-validated", "ddp.tagged.rsvdulp-given-to-ulp"}};

const Fault read_stag{"a source STag that is not valid",
                      {cause::rdmap_invalid_stag},
                      {"rdmap.error.read-source-stag-valid", "rdmap.terminate.code-invalid-stag",
                       "rdmap.read.source-stag-validated", "sec.buffer.revocation-stops-reads",
                       "rdmap.terminate.code-protection-unspecified"}};
const Fault read_association{"a source STag of another domain or stream",
                             {cause::rdmap_stag_not_associated, cause::rdmap_invalid_stag},
                             {"rdmap.error.read-source-stag-associated",
                              "rdmap.terminate.code-stag-not-associated", "sec.stag.pd-isolation"}};
const Fault read_rights{"a source STag that does not grant remote reading",
                        {cause::rdmap_access_rights},
                        {"rdmap.terminate.code-access-rights", "sec.buffer.write-only-not-readable",
                         "rdmap.security.access-rights-mechanism"}};
const Fault read_start{"a source TO before the buffer",
                       {cause::rdmap_base_or_bounds},
                       {"sec.buffer.read-bounds-enforced", "rdmap.error.read-source-start-in-range",
                        "rdmap.terminate.code-base-or-bounds", "rdmap.read.source-to-validated"}};
const Fault read_end{"a source that ends beyond the buffer",
                     {cause::rdmap_base_or_bounds},
                     {"sec.buffer.read-bounds-enforced", "rdmap.error.read-source-end-in-range",
                      "rdmap.terminate.code-base-or-bounds", "rdmap.read.source-to-validated",
                      "sec.buffer.octet-granular-check"}};
const Fault read_wrap{"a source that ends beyond 2^64",
                      {cause::rdmap_to_wrap, cause::rdmap_base_or_bounds},
                      {"rdmap.error.read-source-no-wrap", "rdmap.terminate.code-to-wrap"}};

// Neither RFC 5040 nor RFC 5041 lays down the code for these.
const Fault too_many_reads{"more Read Requests than the IRD",
                           {},
                           {"rdmap.resources.inbound-limit-kept", "sec.reads.excess-ends-stream"}};
const Fault request_length{
    "an RDMA header of the wrong length", {}, {"rdmap.read.invalid-request-surfaced"}};
const Fault unasked_response{
    "a Read Response that was not requested", {}, {"rdmap.read.invalid-response-surfaced"}};
const Fault response_elsewhere{
    "a Read Response to another place than requested",
    {},
    {"rdmap.read.response-validated-by-sink", "rdmap.read.invalid-response-surfaced"}};

// ---- RFC 7306, which names the code of only one error of Atomics ----
const Fault atomic_protection{
    "an Atomic on memory that is not open to it",
    {cause::rdmap_invalid_stag, cause::rdmap_base_or_bounds, cause::rdmap_access_rights,
     cause::rdmap_stag_not_associated, cause::rdmap_to_wrap, cause::rdmap_protection_unspecified,
     cause::rdmap_catastrophic_stream, cause::rdmap_operation_unspecified},
    {"rdmap.atomic.remote-addressing-like-read"}};
const Fault atomic_unaligned{
    "an Atomic on an address that is not a multiple of eight",
    {cause::rdmap_catastrophic_stream},
    {"rdmap.atomic.alignment-terminate-code", "rdmap.atomic.alignment-validated",
     "rdmap.atomic.request-extra-validation", "rdmap.atomic.fetchadd-unaligned-terminate",
     "rdmap.atomic.cmpswap-unaligned-terminate", "rdmap.atomic.fetchadd-unaligned-surfaced",
     "rdmap.atomic.cmpswap-unaligned-surfaced", "rdmap.atomic.fetchadd-unaligned-memory-unchanged",
     "rdmap.atomic.cmpswap-unaligned-memory-unchanged",
     "rdmap.atomic.cmpswap-unaligned-not-performed"}};
const Fault atomic_operation{"an AOpCode that is not defined",
                             {cause::rdmap_unexpected_opcode, cause::rdmap_operation_unspecified,
                              cause::rdmap_catastrophic_stream},
                             {"rdmap.atomic.unsupported-aopcode-surfaced"}};
const Fault unasked_atomic_response{
    "an Atomic Response that belongs to no Request",
    {},
    {"rdmap.atomic.invalid-response-surfaced", "rdmap.atomic.response-matched-by-msn"}};
const Fault immediate_length{
    "Immediate Data that are not eight octets",
    {},
    {"rdmap.immediate.length-checked", "rdmap.immediate.error-passed-up-and-terminated",
     "rdmap.immediate.incoming-error-terminate"}};

// RFC 5040 section 5.3; of either type (docs/disputes.md D1).
const Fault nothing_to_invalidate{
    "an Invalidate STag that does not exist",
    {cause::rdmap_invalid_stag, cause::rdmap_protection_cannot_invalidate,
     cause::rdmap_operation_cannot_invalidate},
    {"rdmap.error.invalidate-stag-valid", "rdmap.invalidate.terminate-if-not-associated",
     "rdmap.terminate.code-cannot-invalidate-protection"}};
const Fault foreign_invalidation{
    "an Invalidate STag of another domain or stream",
    {cause::rdmap_protection_cannot_invalidate, cause::rdmap_operation_cannot_invalidate},
    {"rdmap.invalidate.association-verified", "rdmap.error.invalidate-stag-associated",
     "rdmap.invalidate.terminate-if-not-associated",
     "rdmap.terminate.code-cannot-invalidate-protection"}};
// The peer was never given access by the STag; no text says whether it may invalidate it.
const Fault rightless_invalidation{
    "an Invalidate STag that gives the peer no right",
    {cause::rdmap_protection_cannot_invalidate, cause::rdmap_operation_cannot_invalidate,
     cause::rdmap_access_rights},
    {"rdmap.invalidate.terminate-if-not-associated"}};
const Fault shared_invalidation{"an Invalidate STag that several streams share",
                                {},
                                {"rdmap.security.shared-stag-not-invalidated"}};

}  // namespace fault

}  // namespace suite::model
