// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Permissions of Terminates: whether one is sent, what follows it, and which of several codes it
// names (RFC 5040 sections 4.8, 6.2 and 7, docs/disputes.md).
#include <array>
#include <utility>

#include "reference_rnic/lawful/table.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::lawful {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what varies
using wire::TerminateCause;
namespace cause = wire::cause;

struct NoTerminate : Decisions {
  void react(const Failure&, const Choice<Reaction>&, Reaction& reaction) override {
    reaction.terminate = false;
  }
};

struct ResetsAfterTerminate : Decisions {
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (ending.state == State::terminating) closing = Closing::reset;
  }
};

struct FinAwaitedAfterTerminate : Decisions {
  void closes(const Ending&, const Choice<Closing>& choice, Closing& closing) override {
    if (permits(choice, Closing::none)) closing = Closing::none;
  }
};

struct WaitingMessagesFirst : Decisions {
  void waiting_messages_first(const Choice<bool>&, bool& first) override { first = true; }
};

struct ReadRequestIncluded : Decisions {
  void read_request_included(const Fault&, const Choice<bool>&, bool& included) override {
    included = true;
  }
};

struct TerminateTellsMessageLength : Decisions {
  void terminate(const Fault&, wire::Terminate& terminate) override {
    if (terminate.cause.layer != wire::layer::rdmap || !terminate.segment_length ||
        terminate.ddp_header.size() != wire::untagged_header_size)
      return;
    const auto header = wire::Reader(terminate.ddp_header).read<wire::UntaggedHeader>();
    const std::size_t length =
        *terminate.segment_length - terminate.ddp_header.size() + header.message_offset.value();
    if (header.ddp.last() && std::in_range<std::uint16_t>(length))
      terminate.segment_length = static_cast<std::uint16_t>(length);
  }
};

struct ZerosForAbsentHeaders : Decisions {
  void terminate(const Fault&, wire::Terminate& terminate) override {
    static constexpr std::array<std::byte, sizeof(wire::ReadRequestHeader)> zeros{};
    if (!terminate.m && !terminate.d) {
      terminate.segment_length = 0;
      terminate.ddp_header = wire::Bytes(zeros).first(wire::untagged_header_size);
    }
    if (!terminate.r) terminate.rdmap_header = zeros;
  }
};

/// Reports `from` under another name, where that is also lawful.
template <TerminateCause from, TerminateCause to>
struct Calls : Decisions {
  void cause_named(const Fault& fault, const Choice<TerminateCause>& choice,
                   TerminateCause& named) override {
    if (fault.cause == from && permits(choice, to)) named = to;
  }
};

/// The same for tagged buffers of DDP and for those that RDMAP reads.
template <TerminateCause of_ddp, TerminateCause ddp_name, TerminateCause of_rdmap,
          TerminateCause rdmap_name>
struct CallsBoth : Decisions {
  void cause_named(const Fault& fault, const Choice<TerminateCause>& choice,
                   TerminateCause& named) override {
    if (fault.cause == of_ddp && permits(choice, ddp_name)) named = ddp_name;
    if (fault.cause == of_rdmap && permits(choice, rdmap_name)) named = rdmap_name;
  }
};

using MessageOffsetUnchecked =
    Calls<cause::ddp_untagged_invalid_offset, cause::ddp_untagged_message_too_long>;
using WrongMsnHasNoBuffer =
    Calls<cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_no_buffer>;
using WrongQueueHasNoBuffer =
    Calls<cause::ddp_untagged_invalid_queue, cause::ddp_untagged_no_buffer>;
using WrapIsOutOfBounds = CallsBoth<cause::ddp_tagged_to_wrap, cause::ddp_tagged_base_or_bounds,
                                    cause::rdmap_to_wrap, cause::rdmap_base_or_bounds>;
using OtherStreamIsInvalidStag =
    CallsBoth<cause::ddp_tagged_stag_not_associated, cause::ddp_tagged_invalid_stag,
              cause::rdmap_stag_not_associated, cause::rdmap_invalid_stag>;
using WriteRightsByRdmapCode = Calls<cause::ddp_tagged_invalid_stag, cause::rdmap_access_rights>;
using CannotInvalidateAsOperationError =
    Calls<cause::rdmap_protection_cannot_invalidate, cause::rdmap_operation_cannot_invalidate>;
using UnknownStagCannotBeInvalidated =
    Calls<cause::rdmap_invalid_stag, cause::rdmap_protection_cannot_invalidate>;
using WrongQueueForOpcode =
    Calls<cause::rdmap_unexpected_opcode, cause::ddp_untagged_invalid_queue>;
using UnaskedResponseUnspecified =
    Calls<cause::rdmap_unexpected_opcode, cause::rdmap_operation_unspecified>;
using UnaskedResponseHasInvalidStag =
    Calls<cause::rdmap_unexpected_opcode, cause::ddp_tagged_invalid_stag>;

constexpr Row<Decisions> rows[] = {
    row<Decisions, NoTerminate>(Lawful::no_terminate),
    row<Decisions, ResetsAfterTerminate>(Lawful::resets_after_terminate),
    row<Decisions, FinAwaitedAfterTerminate>(Lawful::fin_awaited_after_terminate),
    row<Decisions, WaitingMessagesFirst>(Lawful::waiting_messages_first),
    row<Decisions, ReadRequestIncluded>(Lawful::read_request_included),
    row<Decisions, TerminateTellsMessageLength>(Lawful::terminate_tells_message_length),
    row<Decisions, ZerosForAbsentHeaders>(Lawful::zeros_for_absent_headers),
    row<Decisions, MessageOffsetUnchecked>(Lawful::message_offset_unchecked),
    row<Decisions, WrongMsnHasNoBuffer>(Lawful::wrong_msn_has_no_buffer),
    row<Decisions, WrongQueueHasNoBuffer>(Lawful::wrong_queue_has_no_buffer),
    row<Decisions, WrapIsOutOfBounds>(Lawful::wrap_is_out_of_bounds),
    row<Decisions, OtherStreamIsInvalidStag>(Lawful::other_stream_is_invalid_stag),
    row<Decisions, WriteRightsByRdmapCode>(Lawful::write_rights_by_rdmap_code),
    row<Decisions, CannotInvalidateAsOperationError>(Lawful::cannot_invalidate_as_operation_error),
    row<Decisions, UnknownStagCannotBeInvalidated>(Lawful::unknown_stag_cannot_be_invalidated),
    row<Decisions, WrongQueueForOpcode>(Lawful::wrong_queue_for_opcode),
    row<Decisions, UnaskedResponseUnspecified>(Lawful::unasked_response_unspecified),
    row<Decisions, UnaskedResponseHasInvalidStag>(Lawful::unasked_response_has_invalid_stag),
};

}  // namespace

std::span<const Row<stream::Decisions>> terminate_variants() { return rows; }

}  // namespace rnic::lawful
