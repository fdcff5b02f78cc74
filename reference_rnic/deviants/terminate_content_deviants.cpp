// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the Terminates that are sent: whether they are, and what they contain: one deviant
// for each. Wrong causes have a file of their own.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reference_rnic/deviants/faults.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/stream/terminate_builder.hpp"

namespace rnic::deviants {
namespace {

using stream::Choice;
using stream::Decisions;
using stream::Failure;
using stream::Fault;
using stream::OutgoingMessage;
using stream::Reaction;
using wire::Opcode;
using wire::Terminate;

// ---- errors that the peer is not told about ----

struct TerminateNotSent : Decisions {
  void may_terminate(bool& may) override { may = false; }
};

/// Ends without a Terminate where `silent` holds.
template <bool (*silent)(const Failure&)>
struct EndsInSilence : Decisions {
  void react(const Failure& failure, const Choice<Reaction>&, Reaction& reaction) override {
    if (silent(failure)) reaction.terminate = false;
  }
};

bool is_of_llp(const Failure& failure) { return failure.fault.cause.layer == wire::layer::mpa; }

bool is_of_segment(const Failure& failure) {
  return failure.segment != nullptr && !is_of_llp(failure);
}

bool while_sending(const Failure& failure) {
  return is_of_segment(failure) && failure.output_pending;
}

bool is_of_ddp(const Failure& failure) {
  return is_of_segment(failure) && failure.fault.cause.layer == wire::layer::ddp;
}

bool is_of_read_request(const Failure& failure) {
  return is_of_segment(failure) &&
         failure.segment->segment.rdmap().opcode() == Opcode::read_request;
}

bool is_of_data(const Failure& failure) {
  return is_of_segment(failure) && !is_of_read_request(failure);
}

struct ResetsOnAnLlpError : Decisions {
  void react(const Failure& failure, const Choice<Reaction>&, Reaction& reaction) override {
    if (!is_of_llp(failure)) return;
    failed_ = true;
    reaction.terminate = false;
  }
  void closes(const stream::Ending&, const Choice<stream::Closing>&,
              stream::Closing& closing) override {
    if (failed_) closing = stream::Closing::reset;
  }
  bool failed_ = false;
};

// ---- streams that continue ----

struct GoesOnAfterError : Decisions {
  void react(const Failure&, const Choice<Reaction>&, Reaction& reaction) override {
    reaction.discard = false;
  }
};

class LaterErrorReported : public GoesOnAfterError {
 public:
  void react(const Failure& failure, const Choice<Reaction>& choice, Reaction& reaction) override {
    failed_ = true;
    GoesOnAfterError::react(failure, choice, reaction);
  }
  void checked(rules::RuleId, const stream::Incoming&, std::optional<Fault>& found) override {
    if (failed_ && found) later_ = found;
  }
  void message(OutgoingMessage& message) override {
    if (message.opcode != wire::Opcode::terminate || !later_) return;
    message.header = stream::build_terminate(*later_, {});
    message.length = message.header.size();
  }

 private:
  bool failed_ = false;
  std::optional<Fault> later_;
};

struct TerminateSentTwice : Decisions {
  void last_messages(std::vector<OutgoingMessage>& messages) override {
    OutgoingMessage again = messages.front();
    again.tag.number = messages.size();
    messages.push_back(std::move(again));
  }
};

struct SendsAfterTerminate : Decisions {
  void last_messages(std::vector<OutgoingMessage>& messages) override {
    OutgoingMessage send = messages.front();
    send.opcode = Opcode::send;
    send.tag.number = messages.size();
    messages.push_back(std::move(send));
  }
};

// ---- the headers that are copied ----

void leave_headers_out(Terminate& terminate) {
  terminate.m = terminate.d = terminate.r = false;
  terminate.segment_length.reset();
  terminate.ddp_header = terminate.rdmap_header = {};
}

struct TerminateWithoutHeaders : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { leave_headers_out(terminate); }
};

/// Whether the segment at fault carries a message with such an opcode.
template <class Predicate>
bool is_about(const Terminate& terminate, Predicate&& predicate) {
  const auto segment = wire::parse_segment(terminate.ddp_header);
  return segment && predicate(segment->rdmap().opcode());
}

struct AtomicTerminateWithoutHeader : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    const bool atomic = is_about(terminate, [](Opcode opcode) {
      return opcode == Opcode::atomic_request || opcode == Opcode::atomic_response;
    });
    if (atomic) leave_headers_out(terminate);
  }
};

struct ImmediateTerminateWithoutHeader : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (is_about(terminate, wire::is_immediate)) leave_headers_out(terminate);
  }
};

struct TerminateWithoutRdmaHeader : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    terminate.r = false;
    terminate.rdmap_header = {};
  }
};

/// Copies no header where `concerned` holds of the cause.
template <bool (*concerned)(wire::TerminateCause)>
struct LeavesHeadersOut : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (concerned(fault.cause)) leave_headers_out(terminate);
  }
};

bool is_operation(wire::TerminateCause cause) {
  return cause.layer == wire::layer::rdmap && cause.type == wire::error_type::rdmap_operation;
}

/// What a deviant copies in place of a Read Request.
constexpr std::array<std::byte, sizeof(wire::ReadRequestHeader)> zeros{};

struct DdpTerminateWithRequest : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    const auto is_request = [](Opcode opcode) { return opcode == Opcode::read_request; };
    if (fault.cause.layer != wire::layer::ddp || !is_about(terminate, is_request)) return;
    terminate.r = true;
    terminate.rdmap_header = zeros;
  }
};

struct OperationTerminateWithRequest : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (!is_operation(fault.cause)) return;
    leave_headers_out(terminate);
    terminate.r = true;
    terminate.rdmap_header = zeros;
  }
};

/// Makes up a DDP header where `concerned` says that no segment was at fault.
template <bool (*concerned)(wire::TerminateCause)>
struct MakesUpHeader : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (!concerned(fault.cause)) return;
    made_up_.fill(std::byte{0x41});
    terminate.m = terminate.d = true;
    terminate.segment_length = static_cast<std::uint16_t>(made_up_.size());
    terminate.ddp_header = made_up_;
  }
  std::array<std::byte, wire::untagged_header_size> made_up_{};
};

bool is_local(wire::TerminateCause cause) { return cause == wire::cause::rdmap_local_catastrophic; }

bool is_of_mpa(wire::TerminateCause cause) { return cause.layer == wire::layer::mpa; }

struct TerminateRequestAltered : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (terminate.rdmap_header.empty()) return;
    altered_.assign(terminate.rdmap_header.begin(), terminate.rdmap_header.end());
    altered_.back() ^= std::byte{1};
    terminate.rdmap_header = altered_;
  }
  std::vector<std::byte> altered_;
};

/// One of zeros is as good as none (docs/disputes.md D101).
struct TerminateWithMadeUpRequest : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (!terminate.d || terminate.r) return;
    made_up_.fill(std::byte{0x41});
    terminate.r = true;
    terminate.rdmap_header = made_up_;
  }
  std::array<std::byte, sizeof(wire::ReadRequestHeader)> made_up_{};
};

struct TerminateDdpHeaderAltered : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (terminate.ddp_header.empty()) return;
    altered_.assign(terminate.ddp_header.begin(), terminate.ddp_header.end());
    altered_.back() ^= std::byte{1};
    terminate.ddp_header = altered_;
  }
  std::vector<std::byte> altered_;
};

struct TerminatedReadNotAdvanced : Decisions {
  void terminated_read(const stream::OutgoingSegment& segment,
                       wire::ReadRequestHeader& header) override {
    header = segment.message.source->request;
  }
};

/// Without the last four octets. The header of a truncated segment may be shorter.
wire::Bytes cut(wire::Bytes header) {
  return header.first(header.size() - std::min<std::size_t>(header.size(), 4));
}

struct TerminateDdpHeaderCut : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    terminate.ddp_header = cut(terminate.ddp_header);
  }
};

struct TerminateRdmaHeaderCut : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    terminate.rdmap_header = cut(terminate.rdmap_header);
  }
};

struct TerminatedReadLengthKept : Decisions {
  void terminated_read(const stream::OutgoingSegment& segment,
                       wire::ReadRequestHeader& header) override {
    header.length = segment.message.source->request.length;
  }
};

struct TerminatedReadStagsLost : Decisions {
  void terminated_read(const stream::OutgoingSegment&, wire::ReadRequestHeader& header) override {
    header.sink_stag = header.source_stag = 0U;
  }
};

// ---- the Terminate Control field, and the segment length ----

struct TerminateMBitClear : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.m = false; }
};

struct TerminateDBitClear : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.d = false; }
};

struct TerminateRBitClear : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.r = false; }
};

struct TerminateDBitWithoutHeader : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.d = true; }
};

struct TerminateRBitWithoutHeader : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.r = true; }
};

struct LocalTerminateWithMBit : Decisions {
  void terminate(const Fault& fault, Terminate& terminate) override {
    if (!is_local(fault.cause)) return;
    terminate.m = true;
    terminate.segment_length = static_cast<std::uint16_t>(wire::untagged_header_size);
  }
};

struct TerminateReservedBitsSet : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    terminate.reserved = wire::TerminateControl::reserved_mask;
  }
};

struct TerminateLayerBehindType : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    std::swap(terminate.cause.layer, terminate.cause.type);
  }
};

struct TerminateSegmentLengthLeftOut : Decisions {
  void terminate(const Fault&, Terminate& terminate) override { terminate.segment_length.reset(); }
};

struct TerminateSegmentLengthPayloadOnly : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (terminate.segment_length)
      *terminate.segment_length =
          static_cast<std::uint16_t>(*terminate.segment_length - terminate.ddp_header.size());
  }
};

struct TerminateSegmentLengthRounded : Decisions {
  void terminate(const Fault&, Terminate& terminate) override {
    if (terminate.segment_length)
      *terminate.segment_length =
          static_cast<std::uint16_t>((*terminate.segment_length + 3) / 4 * 4);
  }
};

constexpr StreamRow rows[] = {
    stream_row<TerminateNotSent>(Deviation::terminate_not_sent),
    stream_row<EndsInSilence<is_of_llp>>(Deviation::llp_error_without_terminate),
    stream_row<ResetsOnAnLlpError>(Deviation::resets_on_an_llp_error),
    stream_row<EndsInSilence<while_sending>>(Deviation::busy_stream_without_terminate),
    stream_row<EndsInSilence<is_of_ddp>>(Deviation::closes_on_ddp_error),
    stream_row<EndsInSilence<is_of_read_request>>(Deviation::read_error_without_terminate),
    stream_row<EndsInSilence<is_of_data>>(Deviation::data_error_without_terminate),
    stream_row<GoesOnAfterError>(Deviation::goes_on_after_error),
    stream_row<GoesOnAfterError>(Deviation::erroneous_stream_goes_on),
    stream_row<LaterErrorReported>(Deviation::later_error_reported),
    stream_row<TerminateSentTwice>(Deviation::terminate_sent_twice),
    stream_row<SendsAfterTerminate>(Deviation::sends_after_terminate),
    stream_row<TerminateWithoutHeaders>(Deviation::terminate_without_headers),
    stream_row<AtomicTerminateWithoutHeader>(Deviation::atomic_terminate_without_header),
    stream_row<ImmediateTerminateWithoutHeader>(Deviation::immediate_terminate_without_header),
    stream_row<TerminateWithoutRdmaHeader>(Deviation::terminate_without_rdma_header),
    stream_row<MakesUpHeader<is_local>>(Deviation::local_terminate_with_header),
    stream_row<MakesUpHeader<is_of_mpa>>(Deviation::llp_error_with_header),
    stream_row<TerminateRequestAltered>(Deviation::terminate_request_altered),
    stream_row<TerminateWithMadeUpRequest>(Deviation::terminate_with_made_up_request),
    stream_row<TerminateDdpHeaderAltered>(Deviation::terminate_ddp_header_altered),
    stream_row<TerminatedReadNotAdvanced>(Deviation::terminated_read_not_advanced),
    stream_row<TerminatedReadStagsLost>(Deviation::terminated_read_stags_lost),
    stream_row<LeavesHeadersOut<is_read_refusal>>(Deviation::protection_terminate_without_headers),
    stream_row<LeavesHeadersOut<is_operation>>(Deviation::operation_terminate_without_headers),
    stream_row<DdpTerminateWithRequest>(Deviation::ddp_terminate_with_request),
    stream_row<OperationTerminateWithRequest>(Deviation::operation_terminate_with_request),
    stream_row<TerminateDdpHeaderCut>(Deviation::terminate_ddp_header_cut),
    stream_row<TerminateRdmaHeaderCut>(Deviation::terminate_rdma_header_cut),
    stream_row<TerminatedReadLengthKept>(Deviation::terminated_read_length_kept),
    stream_row<TerminateRBitWithoutHeader>(Deviation::terminate_r_bit_without_header),
    stream_row<LocalTerminateWithMBit>(Deviation::local_terminate_with_m_bit),
    stream_row<TerminateMBitClear>(Deviation::terminate_m_bit_clear),
    stream_row<TerminateDBitClear>(Deviation::terminate_d_bit_clear),
    stream_row<TerminateRBitClear>(Deviation::terminate_r_bit_clear),
    stream_row<TerminateDBitWithoutHeader>(Deviation::terminate_d_bit_without_header),
    stream_row<TerminateReservedBitsSet>(Deviation::terminate_reserved_bits_set),
    stream_row<TerminateLayerBehindType>(Deviation::terminate_layer_behind_type),
    stream_row<TerminateSegmentLengthLeftOut>(Deviation::terminate_segment_length_left_out),
    stream_row<TerminateSegmentLengthPayloadOnly>(Deviation::terminate_segment_length_payload_only),
    stream_row<TerminateSegmentLengthRounded>(Deviation::terminate_segment_length_rounded),
};

}  // namespace

std::span<const StreamRow> terminate_content_deviants() { return rows; }

}  // namespace rnic::deviants
