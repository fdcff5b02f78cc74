// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the Inbound RDMA Read Queue: which Requests of the peer are accepted, in which
// order they are answered, and how Reads are answered: one deviant for each.
#include <algorithm>
#include <limits>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/incoming.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/read_queue.hpp"
#include "reference_rnic/stream/segmenter.hpp"

namespace rnic::deviants {
namespace {

using stream::Admission;
using stream::Choice;
using stream::Context;
using stream::Decisions;
using stream::InboundRequest;
using stream::Offender;
using stream::OutgoingMessage;
using wire::Opcode;
using wire::ReadRequestHeader;

bool is_read(const InboundRequest& request) {
  return std::holds_alternative<ReadRequestHeader>(request.header);
}

// ---- room for Requests ----

struct IrdNotEnforced : Decisions {
  void inbound_limit(Opcode, std::size_t& places) override {
    places = std::numeric_limits<std::size_t>::max();
  }
};

struct IrdOneTooFew : Decisions {
  void inbound_limit(Opcode, std::size_t& places) override {
    if (places != 0) --places;
  }
};

struct AtomicsHaveOnePlaceLess : Decisions {
  void inbound_limit(Opcode opcode, std::size_t& places) override {
    if (opcode == Opcode::atomic_request && places > 1) --places;
  }
};

// ---- how the source of a Read is checked ----

/// What a check of `length` octets of the source finds.
std::optional<stream::MemoryFault> fault_of_source(const Context& context,
                                                   const ReadRequestHeader& header,
                                                   std::size_t length) {
  const auto memory =
      context.memory.resolve(header.source_stag.value(), header.source_offset.value(), length,
                             stream::MemoryAccess::remote_read);
  if (memory) return std::nullopt;
  return memory.error();
}

struct ZeroLengthReadValidated : Decisions {
  void read_admitted(const Context& context, const Offender& segment, ReadRequestHeader& header,
                     Admission& admission) override {
    if (header.length.value() != 0) return;
    if (const auto reason = fault_of_source(context, header, 1))
      admission.fault =
          stream::Fault{stream::rdmap_cause(*reason),
                        "Read Request for memory that it may not read", segment, header};
  }
};

struct ZeroLengthReadNeedsTheRight : Decisions {
  void read_admitted(const Context& context, const Offender& segment, ReadRequestHeader& header,
                     Admission& admission) override {
    if (header.length.value() != 0) return;
    const auto reason = fault_of_source(context, header, 1);
    if (reason == stream::MemoryFault::access_rights)
      admission.fault = stream::Fault{stream::rdmap_cause(*reason),
                                      "no right for a zero-length Read", segment, header};
  }
};

/// Replaces the finding of the check of the source by that for the first `length` octets.
void check_instead(const Context& context, const ReadRequestHeader& header, std::size_t length,
                   Admission& admission) {
  if (!admission.fault) return;
  if (const auto reason = fault_of_source(context, header, length))
    admission.fault->cause = stream::rdmap_cause(*reason);
  else
    admission.fault.reset();
}

struct ReadSourceEndUnvalidated : Decisions {
  void read_admitted(const Context& context, const Offender&, ReadRequestHeader& header,
                     Admission& admission) override {
    check_instead(context, header, 1, admission);
  }
};

struct ReadLengthCheckedIn16Bits : Decisions {
  void read_admitted(const Context& context, const Offender&, ReadRequestHeader& header,
                     Admission& admission) override {
    const std::size_t length = header.length.value() & 0xFFFF;
    check_instead(context, header, std::max<std::size_t>(length, 1), admission);
  }
};

// ---- which Reads are answered ----

struct BadReadRequestIgnored : Decisions {
  void read_admitted(const Context&, const Offender&, ReadRequestHeader&,
                     Admission& admission) override {
    if (admission.fault) admission = {.fault = std::nullopt, .responses = 0};
  }
};

struct UnknownSourceAnsweredEmpty : Decisions {
  void read_admitted(const Context&, const Offender&, ReadRequestHeader& header,
                     Admission& admission) override {
    if (!admission.fault || admission.fault->cause != wire::cause::rdmap_invalid_stag) return;
    admission.fault.reset();
    header.length = 0U;
  }
};

struct ZeroLengthReadUnanswered : Decisions {
  void read_admitted(const Context&, const Offender&, ReadRequestHeader& header,
                     Admission& admission) override {
    if (header.length.value() == 0) admission.responses = 0;
  }
};

struct ReadRequestUnanswered : Decisions {
  void read_admitted(const Context&, const Offender&, ReadRequestHeader&,
                     Admission& admission) override {
    admission.responses = 0;
  }
};

struct ReadResponseTwice : Decisions {
  void read_admitted(const Context&, const Offender&, ReadRequestHeader&,
                     Admission& admission) override {
    admission.responses = 2;
  }
};

/// Answers Reads with the octets that the last Write has replaced.
struct ReadMissesEarlierWrite : Decisions {
  void place(const stream::Incoming& incoming, std::uint64_t& offset) override {
    if (!incoming.segment.tagged || incoming.payload_length == 0) return;
    stag_ = incoming.segment.tagged_header.stag.value();
    const auto memory = incoming.context.memory.resolve(stag_, offset, incoming.payload_length,
                                                        stream::MemoryAccess::remote_write);
    if (!memory) return;
    at_ = offset;
    replaced_.assign(memory->begin(), memory->end());
  }
  void payload(const stream::OutgoingSegment& segment, std::vector<wire::Bytes>& pieces) override {
    if (!segment.message.source || segment.message.source->stag != stag_ || pieces.size() != 1)
      return;
    const std::uint64_t from = segment.message.source->offset + segment.from;
    answer_.assign(pieces.front().begin(), pieces.front().end());
    for (std::size_t i = 0; i < answer_.size(); ++i)
      if (from + i >= at_ && from + i - at_ < replaced_.size())
        answer_[i] = replaced_[static_cast<std::size_t>(from + i - at_)];
    pieces.front() = answer_;
  }
  std::uint32_t stag_ = 0;
  std::uint64_t at_ = 0;
  std::vector<std::byte> replaced_, answer_;
};

// ---- the order of Responses ----

struct ReadResponsesOutOfOrder : Decisions {
  void next_response(const base::Fifo<InboundRequest>& requests, const Choice<std::size_t>&,
                     std::size_t& next) override {
    next = requests.size() - 1;
  }
};

struct AtomicsServedOutOfOrder : Decisions {
  void next_response(const base::Fifo<InboundRequest>& requests, const Choice<std::size_t>& choice,
                     std::size_t& next) override {
    if (choice.rfc < requests.size() && !is_read(requests[choice.rfc]) && !is_read(requests.back()))
      next = requests.size() - 1;
  }
};

struct ShortestReadServedFirst : Decisions {
  void next_response(const base::Fifo<InboundRequest>& requests, const Choice<std::size_t>& choice,
                     std::size_t& next) override {
    const auto length = [](const InboundRequest& request) {
      const auto* read = std::get_if<ReadRequestHeader>(&request.header);
      return read == nullptr ? 0U : read->length.value();
    };
    const auto shortest = std::ranges::min_element(
        requests.begin() + static_cast<std::ptrdiff_t>(choice.rfc), requests.end(), {}, length);
    next = static_cast<std::size_t>(shortest - requests.begin());
  }
};

struct ReadAnsweredBeforeAtomic : Decisions {
  void next_response(const base::Fifo<InboundRequest>& requests, const Choice<std::size_t>&,
                     std::size_t& next) override {
    if (is_read(requests.back())) next = requests.size() - 1;
  }
};

// ---- what a Read Response carries, and where to ----

/// Changes Read Responses before they are cut into segments.
struct ReadResponses : Decisions {
  void message(OutgoingMessage& message) override {
    if (message.opcode == Opcode::read_response) change(message);
  }
  virtual void change(OutgoingMessage& response) = 0;
};

struct ReadSourceAlignedDown : ReadResponses {
  void change(OutgoingMessage& response) override { response.source->offset &= ~std::uint64_t{7}; }
};

struct OddReadRoundedDown : ReadResponses {
  void change(OutgoingMessage& response) override {
    if (response.length > 8) response.length &= ~std::uint64_t{7};
  }
};

struct ReadLengthIn16Bits : ReadResponses {
  void change(OutgoingMessage& response) override { response.length &= 0xFFFF; }
};

struct ReadSinkOffsetIn32Bits : ReadResponses {
  void change(OutgoingMessage& response) override { response.offset &= 0xFFFFFFFF; }
};

struct ReadSinkOffsetAligned : ReadResponses {
  void change(OutgoingMessage& response) override { response.offset &= ~std::uint64_t{3}; }
};

constexpr StreamRow rows[] = {
    stream_row<IrdNotEnforced>(Deviation::ird_not_enforced),
    stream_row<IrdOneTooFew>(Deviation::ird_one_too_few),
    stream_row<AtomicsHaveOnePlaceLess>(Deviation::atomics_have_one_place_less),
    stream_row<ZeroLengthReadValidated>(Deviation::zero_length_read_validated),
    stream_row<ReadSourceEndUnvalidated>(Deviation::read_source_end_unvalidated),
    stream_row<ReadLengthCheckedIn16Bits>(Deviation::read_length_checked_in_16_bits),
    stream_row<ZeroLengthReadNeedsTheRight>(Deviation::zero_length_read_needs_the_right),
    stream_row<BadReadRequestIgnored>(Deviation::bad_read_request_ignored),
    stream_row<UnknownSourceAnsweredEmpty>(Deviation::unknown_source_answered_empty),
    stream_row<ZeroLengthReadUnanswered>(Deviation::zero_length_read_unanswered),
    stream_row<ReadRequestUnanswered>(Deviation::read_request_unanswered),
    stream_row<ReadResponseTwice>(Deviation::read_response_twice),
    stream_row<ReadMissesEarlierWrite>(Deviation::read_misses_earlier_write),
    stream_row<ReadResponsesOutOfOrder>(Deviation::read_responses_out_of_order),
    stream_row<AtomicsServedOutOfOrder>(Deviation::atomics_served_out_of_order),
    stream_row<ShortestReadServedFirst>(Deviation::shortest_read_served_first),
    stream_row<ReadAnsweredBeforeAtomic>(Deviation::read_answered_before_atomic),
    stream_row<ReadSourceAlignedDown>(Deviation::read_source_aligned_down),
    stream_row<OddReadRoundedDown>(Deviation::odd_read_rounded_down),
    stream_row<ReadLengthIn16Bits>(Deviation::read_length_in_16_bits),
    stream_row<ReadSinkOffsetIn32Bits>(Deviation::read_sink_offset_in_32_bits),
    stream_row<ReadSinkOffsetAligned>(Deviation::read_sink_offset_aligned),
};

}  // namespace

std::span<const StreamRow> inbound_read_deviants() { return rows; }

}  // namespace rnic::deviants
