// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Untagged segments that come in: Sends, Read Requests and Terminates (RFC 5041 sections 5.2 to 5.4
// and 7.1, RFC 5040 sections 5.2 to 5.4 and 7.2).
#include <algorithm>

#include "suite/model/atomics.hpp"

namespace suite::model {

namespace {

using wire::Opcode;
using wire::Queue;

constexpr std::uint32_t send_queue = static_cast<std::uint32_t>(Queue::send);
constexpr std::uint32_t read_queue = static_cast<std::uint32_t>(Queue::read_request);
constexpr std::uint32_t atomic_queue = static_cast<std::uint32_t>(Queue::atomic_response);
constexpr std::uint32_t terminate_queue = static_cast<std::uint32_t>(Queue::terminate);

struct Untagged {
  std::uint32_t queue, msn, offset, ulp_word;
  Opcode opcode;
  wire::Bytes payload;
  bool last;
  [[nodiscard]] std::uint64_t end() const { return std::uint64_t{offset} + payload.size(); }
};

Untagged fields_of(const wire::Segment& segment) {
  const wire::UntaggedHeader& header = segment.untagged_header;
  return {header.queue_number.value(),   header.message_sequence_number.value(),
          header.message_offset.value(), header.ulp_word.value(),
          segment.rdmap().opcode(),      segment.payload,
          segment.ddp().last()};
}

/// The length of the buffer that the segment goes to; nothing where there is none.
std::optional<std::uint64_t> buffer_of(Stream& stream, std::uint32_t queue, Opcode opcode) {
  if (queue == send_queue) {
    const Receive* receive = stream.free_receive();
    if (receive == nullptr) return std::nullopt;
    return wire::is_immediate(opcode) ? wire::immediate_size : receive->capacity();
  }
  if (queue == atomic_queue) return sizeof(wire::AtomicResponseHeader);
  return queue == read_queue ? sizeof(wire::AtomicRequestHeader) : wire::max_terminate_size;
}

/// RFC 5041 section 7.1.
void check_ddp(Stream& stream, const wire::Segment& segment, const Untagged& fields,
               Faults& faults) {
  if (segment.ddp().version() != wire::ddp_version) faults.add(fault::untagged_version);
  if (fields.queue >= Stream::queues) return faults.add(fault::unknown_queue);
  // Whether there is a queue 3 is the IUT's choice (RFC 7306 section 1.1).
  if (fields.queue == atomic_queue && fields.opcode != Opcode::atomic_response)
    faults.add(fault::unknown_queue);
  if (fields.msn != stream.next_msn[fields.queue]) faults.add(fault::sequence_number);
  const auto buffer = buffer_of(stream, fields.queue, fields.opcode);
  if (!buffer) return faults.add(fault::no_buffer);
  if (fields.offset > *buffer) faults.add(fault::offset);
  if (fields.end() > *buffer) faults.add(fault::too_long);
}

/// RFC 5040 section 7.2.
void check_rdmap(const wire::Segment& segment, const Untagged& fields, Faults& faults) {
  if (segment.rdmap().version() != wire::rdmap_version) faults.add(fault::rdmap_version);
  if (!wire::is_defined(fields.opcode)) return faults.add(fault::opcode);
  const bool fits = !wire::is_tagged(fields.opcode) &&
                    static_cast<std::uint32_t>(wire::queue_of(fields.opcode)) == fields.queue;
  if (!fits) faults.add(fault::opcode_on_queue);
}

/// Rules that the kind of message adds to those of its fields.
void concern_kind(const Untagged& fields, Faults& faults) {
  if (fields.queue == terminate_queue) faults.concern({"rdmap.terminate.invalid-surfaced"});
  if (fields.queue == read_queue && fields.opcode != Opcode::read_request)
    faults.concern({"rdmap.error.read-request-opcode"});
  if (fields.opcode == Opcode::read_request)
    faults.concern({"rdmap.read.invalid-request-surfaced", "rdmap.error.read-request-terminate",
                    "rdmap.read.error-passed-up-and-terminated", "rdmap.error.read-request-version",
                    "rdmap.error.read-request-ddp-fields"});
  else if (fields.opcode == Opcode::terminate)
    faults.concern({"rdmap.terminate.invalid-surfaced"});
  else if (fields.opcode == Opcode::atomic_request || fields.opcode == Opcode::atomic_response)
    faults.concern({"rdmap.atomic.incoming-error-terminate", "rdmap.atomic.opcode-validated",
                    "rdmap.atomic.version-validated", "rdmap.atomic.ddp-fields-validated",
                    "rdmap.atomic.incoming-error-fields",
                    "rdmap.atomic.invalid-response-surfaced"});
  else if (wire::is_immediate(fields.opcode))
    faults.concern({"rdmap.immediate.incoming-error-terminate", "rdmap.immediate.opcode-validated",
                    "rdmap.immediate.version-validated", "rdmap.immediate.ddp-fields-validated",
                    "rdmap.immediate.incoming-error-fields",
                    "rdmap.immediate.error-passed-up-and-terminated",
                    "rdmap.immediate.consumes-one-buffer", "rdmap.immediate.length-checked"});
  else
    faults.concern({"rdmap.send.invalid-surfaced", "rdmap.error.incoming-message-terminate",
                    "ddp.untagged.validated-before-placement",
                    "rdmap.order.read-response-after-prior-send",
                    "rdmap.atomic.response-after-prior-send"});
}

void note_oddities(State& state, Stream& stream, const wire::Segment& segment,
                   const Untagged& fields) {
  if (segment.rdmap().version() == 0)
    stream.taken_by.push_back("rdmap.header.version-zero-admissible");
  if ((segment.ddp().octet & wire::DdpControl::reserved_mask) != 0)
    stream.taken_by.push_back("ddp.header.rsvd-ignored-on-receive");
  if ((segment.rdmap().octet & wire::RdmapControl::reserved_mask) != 0)
    stream.taken_by.push_back("rdmap.header.reserved-bits-ignored");
  if (fields.ulp_word != 0 && !wire::carries_invalidate(fields.opcode)) {
    const RuleId rule =
        wire::is_immediate(fields.opcode) ? RuleId("rdmap.immediate.invalidate-stag-ignored")
        : fields.opcode == Opcode::atomic_request || fields.opcode == Opcode::atomic_response
            ? RuleId("rdmap.atomic.invalidate-stag-ignored")
            : RuleId("rdmap.header.invalidate-stag-ignored");
    stream.taken_by.push_back(rule);
    if (const auto grant = state.memory.of_stag(fields.ulp_word))
      grant->region->named_by.push_back(rule);
  }
  if (fields.payload.empty()) {
    stream.taken_by.push_back("ddp.segmentation.zero-length-accepted");
    stream.taken_by.push_back("rdmap.send.zero-length-consumes-buffer");
  }
}

/// What RDMAP does with a Send that DDP delivers (RFC 5040 section 5.3).
void fill_receive(State& state, const Taking& taking, const Untagged& fields,
                  std::optional<std::uint32_t> invalidated) {
  Stream& stream = state.streams[taking.stream];
  Receive& receive = *stream.free_receive();
  receive.filled = true;
  receive.length = static_cast<std::uint32_t>(fields.end());
  receive.solicited =
      fields.opcode == Opcode::send_solicited || fields.opcode == Opcode::send_solicited_invalidate;
  receive.invalidated = invalidated;
  taking.coverage.took(Transition::send_delivered);
  taking.after.push_back(state);
}

/// RFC 5040 sections 5.3 and 8.1.1 item 7; docs/disputes.md D1, D16.
void deliver_invalidation(const Taking& taking, State state, const Untagged& fields,
                          std::uint32_t stag) {
  const auto& terms = state.streams[taking.stream].terms;
  state.streams[taking.stream].taken_by.push_back("rdmap.invalidate.stag-invalidated");
  const auto fail = [&](const Fault& fault) {
    Faults faults;
    concern_revoked(state.memory, stag, faults);
    faults.add(fault);
    concern_kind(fields, faults);
    refuse(taking, state, faults.all(), SentSegment{});
  };
  const auto grant = state.memory.of_stag(stag);
  if (!grant) return fail(fault::nothing_to_invalidate);
  if (grant->domain() != terms.domain || grant->stream().value_or(taking.stream) != taking.stream)
    return fail(fault::foreign_invalidation);
  const auto sharers =
      grant->stream() ? 1 : std::ranges::count_if(state.streams, [&](const Stream& each) {
        return each.terms.domain == terms.domain && !each.gone;
      });
  std::size_t users = 0;
  for (std::size_t i = 0; i < state.streams.size(); ++i)
    if ((grant->region->users >> i & 1U) != 0 && state.streams[i].goes_on()) ++users;
  const bool is_shared = sharers > 1 && users > 1;
  if (!is_shared) {
    State gone = state;
    gone.memory.revoke(stag);
    taking.coverage.took(Transition::send_invalidated);
    fill_receive(gone, taking, fields, stag);
  }
  const iut::Access& access = grant->access();
  if (!access.remote_read && !access.remote_write && !access.remote_atomic)
    fail(fault::rightless_invalidation);
  if (sharers < 2) return;
  State left = state;
  taking.coverage.took(Transition::invalidation_left_out);
  fill_receive(left, taking, fields, std::nullopt);
  fail(fault::shared_invalidation);
}

/// RFC 5040 section 5.2.
void deliver_read_request(const Taking& taking, State state, const Untagged& fields,
                          const Octets& octets) {
  Stream& stream = state.streams[taking.stream];
  Faults faults;
  if (octets.size() != sizeof(wire::ReadRequestHeader)) {
    faults.add(fault::request_length);
    return refuse(taking, std::move(state), faults.all(), SentSegment{});
  }
  const auto request = wire::Reader(octets).read<wire::ReadRequestHeader>();
  const std::uint32_t stag = request.source_stag.value(), length = request.length.value();
  const std::uint64_t offset = request.source_offset.value();
  Response response{request.sink_stag.value(), request.sink_offset.value(), {}, false};
  if (length == 0) {
    // Nothing of its source is looked at.
    taking.coverage.took(Transition::nothing_asked);
    stream.taken_by.push_back("rdmap.read.zero-length-not-validated");
    stream.taken_by.push_back("sec.buffer.zero-length-read-permitted");
    stream.taken_by.push_back("rdmap.read.zero-length-answered");
  } else {
    state.memory.check(stag, offset, length, Use::read, {taking.stream, stream.terms.domain},
                       faults);
    if (faults.any()) {
      concern_kind(fields, faults);
      return refuse(taking, std::move(state), faults.all(), SentSegment{});
    }
    const Grant grant = *state.memory.of_stag(stag);
    note_use(taking, state, grant);
    Region& source = *grant.region;
    response.source = Source{stag, offset, length, Use::read};
    response.indeterminate = !state.is_known(source);
    response.contents = Contents(source.contents.part(offset - source.base, length));
    taking.coverage.took(Transition::read_asked);
  }
  owe(taking, std::move(state), std::move(response));
}

/// RFC 7306 section 6.3: eight octets, which take a receive.
void deliver_immediate(const Taking& taking, State state, const Untagged& fields,
                       const Octets& octets) {
  if (octets.size() != wire::immediate_size) {
    Faults faults;
    faults.add(fault::immediate_length);
    return refuse(taking, std::move(state), faults.all(), SentSegment{});
  }
  state.streams[taking.stream].taken_by.push_back("rdmap.immediate.consumes-one-buffer");
  Receive& receive = *state.streams[taking.stream].free_receive();
  receive.filled = true;
  receive.immediate.emplace();
  std::ranges::copy(octets, receive.immediate->begin());
  receive.solicited = fields.opcode == Opcode::immediate_solicited;
  taking.coverage.took(Transition::immediate_delivered);
  taking.after.push_back(std::move(state));
}

/// RFC 5040 section 4.8: what a Terminate may look like.
void note_terminate(Stream& stream, const Octets& octets) {
  const auto terminate = wire::parse_terminate(octets);
  if (!terminate) return stream.taken_by.push_back("rdmap.terminate.invalid-surfaced");
  if (terminate->reserved != 0) stream.taken_by.push_back("rdmap.terminate.reserved-ignored");
  if (terminate->cause.layer == wire::layer::rdmap &&
      terminate->cause.type == wire::error_type::rdmap_local)
    stream.taken_by.push_back("rdmap.terminate.local-catastrophic-any-code");
}

void deliver(const Taking& taking, State state, const Untagged& fields, const Incoming& message) {
  if (message.opcode == Opcode::atomic_request)
    return deliver_atomic_request(taking, state, message.octets);
  if (message.opcode == Opcode::atomic_response)
    return deliver_atomic_response(taking, state, message.octets);
  if (wire::is_immediate(message.opcode))
    return deliver_immediate(taking, std::move(state), fields, message.octets);
  if (fields.queue == read_queue)
    return deliver_read_request(taking, std::move(state), fields, message.octets);
  if (fields.queue == terminate_queue) {
    // Well made or not, it ends the stream (RFC 5040 sections 5.4 and 7).
    note_terminate(state.streams[taking.stream], message.octets);
    state.streams[taking.stream].phase = Phase::terminated;
    state.doubt_atomics_of(taking.stream);
    taking.coverage.took(Transition::terminate_came);
    return taking.after.push_back(std::move(state));
  }
  if (wire::carries_invalidate(message.opcode))
    return deliver_invalidation(taking, std::move(state), fields, message.ulp_word);
  fill_receive(state, taking, fields, std::nullopt);
}

/// RFC 5041 section 5.3: octets at MO, and the message when its last segment is there.
void accept(const Taking& taking, State state, const Untagged& fields) {
  Stream& stream = state.streams[taking.stream];
  Incoming& message = stream.incoming[fields.queue];
  const bool mixed =
      message.open && (message.opcode != fields.opcode || message.ulp_word != fields.ulp_word);
  // RFC 5041 section 4.3: a receiver may take RsvdULP of any segment.
  if (mixed) state.end_openly(taking.stream);
  message.open = true;
  message.end = fields.end();
  message.opcode = fields.opcode;
  message.ulp_word = fields.ulp_word;
  if (fields.queue == send_queue && !wire::is_immediate(fields.opcode)) {
    const std::vector<iut::Piece>& pieces = stream.free_receive()->pieces;
    state.place(pieces, fields.offset, fields.payload);
    state.note_placement(pieces, taking.stream);
    for (const iut::Piece& piece : pieces)
      if (Region* region = state.memory.find(piece.region)) state.written_beside_responses(*region);
    taking.coverage.took(Transition::segment_of_send);
  } else {
    message.octets.resize(std::max<std::size_t>(message.octets.size(), fields.end()));
    std::ranges::copy(fields.payload, message.octets.begin() + fields.offset);
  }
  if (!fields.last) return taking.after.push_back(std::move(state));
  const Incoming whole = std::exchange(message, {});
  ++stream.next_msn[fields.queue];
  deliver(taking, std::move(state), fields, whole);
}

/// DDP may have placed what RDMAP refuses.
void leave_open(State& state, std::size_t stream, const Untagged& fields) {
  if (fields.queue != send_queue) return;
  const Receive* receive = state.streams[stream].free_receive();
  if (receive == nullptr) return;
  state.doubt(receive->pieces);
}

/// What an IUT may also refuse: a segment that does not continue its message (RFC 5041 section 5.2 leaves
/// that to DDP), and an empty one at the end of its buffer, whose MO is not that of an octet of it.
void refuse_what_may_be_refused(const Taking& taking, State& state, const Untagged& fields) {
  if (fields.queue != send_queue || wire::is_immediate(fields.opcode)) return;
  Stream& stream = state.streams[taking.stream];
  const Incoming& message = stream.incoming[send_queue];
  Faults faults;
  if (fields.offset != (message.open ? message.end : 0)) {
    faults.add(fault::incomplete);
    stream.taken_by.push_back("ddp.delivery.completeness-check-not-required");
  }
  const Receive* receive = stream.free_receive();
  if (fields.payload.empty() && fields.offset > 0 && fields.offset == receive->capacity())
    faults.add(fault::offset);
  if (!faults.any()) return;
  State refused = state;
  leave_open(refused, taking.stream, fields);
  refuse(taking, std::move(refused), faults.all(), SentSegment{});
}

void process(const Taking& taking, const wire::Segment& segment, const Untagged& fields) {
  State state = taking.before;
  Stream& stream = state.streams[taking.stream];
  note_oddities(state, stream, segment, fields);
  Faults faults;
  check_ddp(stream, segment, fields, faults);
  const bool placed = !faults.any();
  // RFC 5040 section 4.1: version 0 may be taken as well.
  if (placed && segment.rdmap().version() == 0) {
    taking.coverage.took(Transition::version_zero_taken);
    accept(taking, state, fields);
  }
  check_rdmap(segment, fields, faults);
  if (!faults.any()) {
    if (fields.queue == atomic_queue && !stream.awaits_atomic()) {
      // A buffer on queue 3 is there for each Atomic Request that is open, and else perhaps none.
      Faults early;
      early.add(fault::unasked_atomic_response);
      refuse(taking, state, early.all(), SentSegment{});
    }
    refuse_what_may_be_refused(taking, state, fields);
    return accept(taking, std::move(state), fields);
  }
  if (placed) leave_open(state, taking.stream, fields);
  // As many Requests as may be open are not answered yet: that may be found first (docs/disputes.md D54).
  if (fields.queue == read_queue && stream.responses.size() >= stream.terms.depths.ird)
    faults.add(fault::too_many_reads);
  concern_kind(fields, faults);
  Octets ulpdu(segment.header().begin(), segment.header().end());
  ulpdu.insert(ulpdu.end(), fields.payload.begin(), fields.payload.end());
  refuse(taking, std::move(state), faults.all(), SentSegment{std::move(ulpdu)});
}

}  // namespace

States with_shared_receive(const State& before, std::size_t stream) {
  const SharedQueue& queue = *before.shared_of(before.streams[stream]);
  const auto number = static_cast<std::size_t>(&queue - before.shared_queues.data());
  States states;
  for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
    State state = before;
    SharedQueue& left = state.shared_queues[number];
    state.streams[stream].receives.push_back(left.waiting[i]);
    left.waiting.erase(left.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    if (left.waiting.size() < left.limit) {
      left.limit = 0;
      left.is_low = true;
    }
    states.push_back(std::move(state));
  }
  return states;
}

namespace {

/// A segment that is refused may, or may not, have taken a receive.
void process_with_shared(const Taking& taking, const wire::Segment& segment,
                         const Untagged& fields) {
  taking.coverage.took(Transition::shared_receive_taken);
  const auto untaken = [&](State state) {
    state.shared_queues = taking.before.shared_queues;
    state.streams[taking.stream].receives = taking.before.streams[taking.stream].receives;
    return state;
  };
  // Without the receive, the states of the same fault are the same whichever was taken.
  bool is_first = true;
  for (const State& each : with_shared_receive(taking.before, taking.stream)) {
    States after;
    process({each, taking.stream, taking.coverage, after}, segment, fields);
    for (State& state : after) {
      if (is_first && state.streams[taking.stream].phase == Phase::refusing)
        taking.after.push_back(untaken(state));
      taking.after.push_back(std::move(state));
    }
    is_first = false;
  }
}

}  // namespace

void arrive_untagged(const Taking& taking, const wire::Segment& segment) {
  const Untagged fields = fields_of(segment);
  const Stream& stream = taking.before.streams[taking.stream];
  const SharedQueue* shared = taking.before.shared_of(stream);
  const bool takes =
      fields.queue == send_queue && std::ranges::all_of(stream.receives, &Receive::filled);
  if (takes && shared != nullptr && !shared->waiting.empty())
    return process_with_shared(taking, segment, fields);
  process(taking, segment, fields);
}

}  // namespace suite::model
