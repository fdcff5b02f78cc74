// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tagged segments that arrive: RDMA Writes and Read Responses (RFC 5041 sections 5.2 and 7.1, RFC
// 5040 sections 5.1, 5.2 and 7.2).
#include "suite/model/arriving.hpp"
#include "suite/model/commands.hpp"

namespace suite::model {

namespace {

using wire::Opcode;

struct Tagged {
  std::uint32_t stag;
  std::uint64_t offset;
  wire::Bytes payload;
  bool last;
};

Tagged fields_of(const wire::Segment& segment) {
  return {segment.tagged_header.stag.value(), segment.tagged_header.tagged_offset.value(),
          segment.payload, segment.ddp().last()};
}

Accessor accessor(const Taking& taking) {
  return {taking.stream, taking.before.streams[taking.stream].terms.domain};
}

/// RFC 5041 section 7.1, RFC 5040 section 7.2: the checks that do not depend on the operation.
void check_headers(const wire::Segment& segment, Faults& faults) {
  if (segment.ddp().version() != wire::ddp_version) faults.add(fault::tagged_version);
  const Opcode opcode = segment.rdmap().opcode();
  if (!wire::is_defined(opcode)) faults.add(fault::opcode);
  if (!wire::is_tagged(opcode)) faults.add(fault::opcode_when_tagged);
  if (segment.rdmap().version() != wire::rdmap_version) faults.add(fault::rdmap_version);
}

/// Whether an RDMA Write could go there.
bool is_writable(State& state, const Tagged& segment, const Accessor& by) {
  Faults faults;
  state.memory.check(segment.stag, segment.offset, segment.payload.size(), Use::write, by, faults);
  return !faults.any();
}

/// DDP may have placed the octets of a segment that RDMAP refuses.
void leave_open(State& state, const Tagged& segment, const Accessor& by) {
  if (is_writable(state, segment, by))
    state.memory.of_stag(segment.stag)->region->indeterminate = true;
}

/// Rules by which it must be accepted although it looks odd.
void note_oddities(Stream& stream, const wire::Segment& segment) {
  if ((segment.ddp().octet & wire::DdpControl::reserved_mask) != 0)
    stream.taken_by.push_back("ddp.header.rsvd-ignored-on-receive");
  if ((segment.rdmap().octet & wire::RdmapControl::reserved_mask) != 0)
    stream.taken_by.push_back("rdmap.header.reserved-bits-ignored");
  if (segment.payload.empty()) stream.taken_by.push_back("ddp.tagged.zero-length-unchecked");
}

void place_write(const Taking& taking, State state, const Tagged& segment) {
  taking.coverage.took(segment.payload.empty() ? Transition::empty_write
                                               : Transition::segment_of_write);
  if (const auto grant = state.memory.of_stag(segment.stag); grant && !segment.payload.empty()) {
    note_use(taking, state, *grant);
    state.write(*grant->region, segment.offset - grant->region->base, segment.payload,
                taking.stream);
  }
  taking.after.push_back(std::move(state));
}

/// RFC 5040 section 5.2: a Response is placed where its Request asked for it, in order.
/// Whether DDP can place it: in the sink, which need not be open to the peer otherwise, or where an
/// RDMA Write could go.
bool can_be_placed(State& state, const Work& read, const Tagged& segment, const Accessor& by) {
  if (segment.stag == read.sink_stag) {
    const auto sink = state.memory.of_stag(segment.stag);
    if (!sink || segment.offset < sink->base()) return false;
    const std::uint64_t into = segment.offset - sink->base();
    return into <= sink->length() && segment.payload.size() <= sink->length() - into;
  }
  return is_writable(state, segment, by);
}

/// A Read may have left without having been seen yet: then this is its Response, to another place.
void answer_unseen_read(const Taking& taking, State state, const Tagged& segment) {
  Stream& stream = state.streams[taking.stream];
  const Work* next = next_to_leave(std::as_const(stream));
  if (next == nullptr || !next->is_read() || !may_leave(stream, *next)) return;
  state.doubt(next->command.pieces);
  if (const auto grant = state.memory.of_stag(segment.stag)) grant->region->indeterminate = true;
  state.end_openly(taking.stream);
  taking.coverage.took(Transition::response_elsewhere);
  taking.after.push_back(std::move(state));
}

void take_response(const Taking& taking, State state, const Tagged& segment, Faults& faults) {
  Stream& stream = state.streams[taking.stream];
  Work* read = stream.open_read();
  if (read != nullptr && read->is_atomic()) read = nullptr;
  if (read == nullptr) faults.add(fault::unasked_response);
  if (read != nullptr && !segment.payload.empty()) {
    const bool in_place = segment.stag == read->sink_stag &&
                          segment.offset - read->sink_offset == read->received &&
                          segment.payload.size() <= read->length() - read->received;
    if (!in_place) faults.add(fault::response_elsewhere);
    // RFC 5040 section 5.2.2: to compare it with the Request is a MAY.
    if (!in_place && can_be_placed(state, *read, segment, accessor(taking))) {
      state.end_openly(taking.stream);
      state.memory.of_stag(segment.stag)->region->indeterminate = true;
      taking.coverage.took(Transition::response_elsewhere);
      taking.after.push_back(std::move(state));
      return;
    }
  }
  if (faults.any()) {
    // DDP may have placed it in the sink before RDMAP found that it is not the next of its Response.
    // Even if nothing of it may be placed (RFC 5041 section 7.1), the Read is aborted and its
    // Response never delivered: the sink is indeterminate (RFC 5040 sections 3.1 and 5.5, rule 6).
    if (const auto sink = state.memory.of_stag(segment.stag);
        sink && read != nullptr && segment.stag == read->sink_stag)
      sink->region->indeterminate = true;
    leave_open(state, segment, accessor(taking));
    refuse(taking, state, faults.all(), SentSegment{});
    if (read == nullptr) answer_unseen_read(taking, std::move(state), segment);
    return;
  }
  // docs/disputes.md D58: no text says what happens to a Response that ends too early or too late.
  const bool ends = read->received + segment.payload.size() == read->length();
  if (ends != segment.last) state.end_openly(taking.stream);
  state.place(read->command.pieces, read->received, segment.payload);
  state.note_placement(read->command.pieces, taking.stream);
  read->received += segment.payload.size();
  taking.coverage.took(Transition::segment_of_response);
  if (ends && segment.last) {
    read->done = true;
    taking.coverage.took(Transition::read_answered);
  }
  taking.after.push_back(std::move(state));
}

void take_version_zero(const Taking& taking, const wire::Segment& segment) {
  taking.coverage.took(Transition::version_zero_taken);
  wire::Segment usual = segment;
  usual.tagged_header.rdmap = wire::RdmapControl::make(segment.rdmap().opcode());
  arrive_tagged(taking, usual);
}

}  // namespace

void arrive_tagged(const Taking& taking, const wire::Segment& segment) {
  Faults faults;
  check_headers(segment, faults);
  const Tagged fields = fields_of(segment);
  State state = taking.before;
  note_oddities(state.streams[taking.stream], segment);
  if (faults.any()) {
    // RFC 5040 section 4.1: version 0 may also be accepted.
    if (segment.rdmap().version() == 0) take_version_zero(taking, segment);
    leave_open(state, fields, accessor(taking));
  }
  if (segment.rdmap().opcode() == Opcode::read_response && !faults.any())
    return take_response(taking, std::move(state), fields, faults);
  // RFC 5041 section 5.2: STag and TO of a segment without payload are not checked.
  if (!fields.payload.empty())
    state.memory.check(fields.stag, fields.offset, fields.payload.size(), Use::write,
                       accessor(taking), faults);
  if (!faults.any()) return place_write(taking, std::move(state), fields);
  faults.concern({"rdmap.write.invalid-surfaced", "rdmap.error.incoming-message-terminate",
                  "rdmap.write.error-passed-up-and-terminated",
                  "ddp.tagged.validated-before-placement", "ddp.terminate.later-segments-dropped"});
  refuse(taking, std::move(state), faults.all(), SentSegment{});
}

}  // namespace suite::model
