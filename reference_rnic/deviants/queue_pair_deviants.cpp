// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RNICs that are wrong in their work: what is posted, what the stream is given for it, which buffer
// a message fills, and when a queue pair ends.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::deviants {
namespace {

using verbs::Error;
using verbs::SendRequest;
using verbs::Status;

// ---- posting ----

struct UnconnectedWorkSucceeds : verbs::Decisions {
  void post_checked(const verbs::Posting&, std::optional<Error>& refused) override {
    if (refused == Error::invalid_state) refused.reset();
  }
  void work_issued(bool connected, const SendRequest&, bool& completes) override {
    if (!connected) completes = true;
  }
};

/// The stream's deviant of the same deviation executes the work.
struct WorkTakenAfterDisconnect : verbs::Decisions {
  void post_checked(const verbs::Posting& posting, std::optional<Error>& refused) override {
    if (posting.state == verbs::QueuePairState::closing && refused == Error::invalid_state)
      refused.reset();
  }
};

/// The stream's deviant of the same deviation sends the rest of the division.
struct MessageLengthIn32Bits : verbs::Decisions {
  void post_checked(const verbs::Posting& posting, std::optional<Error>& refused) override {
    const std::uint64_t length = verbs::total_length(posting.request.pieces);
    if (length > std::numeric_limits<std::uint32_t>::max() && refused == Error::invalid_parameter)
      refused.reset();
  }
};

struct ReceiveDepthOneTooFew : verbs::Decisions {
  void receives_held(std::uint32_t& depth) override { --depth; }
};

struct SendCompletesBeforeSending : verbs::Decisions {
  void work_issued(bool connected, const SendRequest& request, bool& completes) override {
    if (connected && verbs::is_send(request.operation)) completes = true;
  }
};

struct LongWriteCompletesBeforeSending : verbs::Decisions {
  static constexpr std::size_t longest = 2048;

  void work_issued(bool connected, const SendRequest& request, bool& completes) override {
    if (connected && request.operation == verbs::Operation::write &&
        verbs::total_length(request.pieces) > longest)
      completes = true;
  }
};

struct LateWorkNeverCompletes : verbs::Decisions {
  void post_checked(const verbs::Posting& posting, std::optional<Error>&) override {
    late_.reset();
    if (posting.state == verbs::QueuePairState::error) late_ = posting.queue_pair;
  }
  void work_reported(const verbs::WorkEvent& event,
                     std::vector<verbs::Completion>& completions) override {
    if (late_ != event.queue_pair) return;
    std::erase_if(completions, [](const verbs::Completion& completion) {
      return completion.status == Status::flushed &&
             completion.operation != verbs::Operation::receive;
    });
  }
  /// The queue pair that was posted to last, if it had ended by then.
  std::optional<verbs::QueuePairHandle> late_;
};

struct ChainGoesOn : verbs::Decisions {
  void chain_refused(std::size_t&, bool& goes_on) override { goes_on = true; }
};

struct BadRequestMisnamed : verbs::Decisions {
  void chain_refused(std::size_t& index, bool&) override { index = 0; }
};

struct InlineDataTakenLate : verbs::Decisions {
  void inline_taken(const SendRequest&, bool& taken) override { taken = false; }
};

struct InlineDataOfWritesTakenLate : verbs::Decisions {
  void inline_taken(const SendRequest& request, bool& taken) override {
    if (request.operation == verbs::Operation::write) taken = false;
  }
};

/// Asks for receives of an endpoint's own where it has a shared queue.
struct SharedEndpointNeedsADepth : verbs::Decisions {
  void pair_asked(const verbs::QueuePairAttributes& attributes, bool& made) override {
    if (attributes.receive_depth == 0) made = false;
  }
};

// ---- queries ----

struct SendDepthReportedTooSmall : verbs::Decisions {
  void pair_queried(verbs::QueuePairInfo& info) override { info.attributes.send_depth /= 2; }
};

struct ErrorStateNotReported : verbs::Decisions {
  void pair_queried(verbs::QueuePairInfo& info) override {
    if (info.state == verbs::QueuePairState::error) info.state = verbs::QueuePairState::rts;
  }
};

struct AccessReportedInFull : verbs::Decisions {
  void pair_queried(verbs::QueuePairInfo& info) override {
    info.attributes.access = {.remote_read = true, .remote_write = true, .remote_atomic = true};
  }
};

// ---- what the stream is given ----

struct PlainAtomicsWithMasksExchanged : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    if (!request.add_or_swap_mask) work.add_or_swap_mask = ~work.add_or_swap_mask;
  }
};

struct ThirdPieceLeftOut : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    constexpr std::ptrdiff_t third = 2;
    const auto& pieces = request.pieces;
    if (std::ssize(pieces) <= third || pieces[third].length == 0 || work.gather.empty()) return;
    // Empty pieces are not gathered.
    const auto before = std::count_if(pieces.begin(), pieces.begin() + third,
                                      [](const verbs::Piece& piece) { return piece.length != 0; });
    work.gather.erase(work.gather.begin() + before);
  }
};

struct InlineDataCut : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    if (!request.inline_data.empty() && work.gather.size() > 1) work.gather.resize(1);
  }
};

struct UnsignaledWorkCutToPages : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    constexpr std::size_t page = 4096;
    const std::uint64_t length = verbs::total_length(request.pieces);
    if (request.signaled || length <= page) return;
    std::size_t left = length / page * page;
    for (wire::Bytes& octets : work.gather) {
      octets = octets.first(std::min(left, octets.size()));
      left -= octets.size();
    }
  }
};

/// What lies after the first page boundary in a piece is taken from the piece's start.
struct PageBoundaryRepeats : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    constexpr std::uint64_t page = 4096;
    stream::GatherList repeated;
    auto gathered = work.gather.begin();
    for (const verbs::Piece& piece : request.pieces) {
      if (piece.length == 0 || gathered == work.gather.end()) continue;
      const wire::Bytes octets = *gathered++;
      const std::size_t in_page =
          piece.length > page ? octets.size() : std::min(octets.size(), page - piece.offset % page);
      repeated.push_back(octets.first(in_page));
      if (in_page < octets.size()) repeated.push_back(octets.first(octets.size() - in_page));
    }
    work.gather = std::move(repeated);
  }
};

struct FenceOfSendsOnly : verbs::Decisions {
  void work_made(const SendRequest& request, stream::Work& work) override {
    if (!verbs::is_send(request.operation)) work.fence = false;
  }
};

struct AtomicOriginalWithheld : verbs::Decisions {
  void atomic_answered(std::uint64_t& original) override { original = 0; }
};

// ---- receives ----

struct ReceivePiecesReversed : verbs::Decisions {
  void receive_taken(stream::ReceiveBuffer& buffer, bool&) override {
    std::ranges::reverse(buffer.pieces);
  }
};

struct FirstLimitKept : verbs::Decisions {
  void limit_armed(verbs::SharedQueueHandle, std::uint32_t former, std::uint32_t& limit) override {
    if (former != 0) limit = former;
  }
};

struct SharedQueueArmsOnce : verbs::Decisions {
  void limit_armed(verbs::SharedQueueHandle queue, std::uint32_t, std::uint32_t& limit) override {
    if (!armed_.insert(queue).second) limit = 0;
  }

 private:
  std::set<verbs::SharedQueueHandle> armed_;
};

struct SharedReceiveNotConsumed : verbs::Decisions {
  void receive_taken(stream::ReceiveBuffer&, bool& leaves) override { leaves = false; }
};

// ---- ends ----

struct OverflowHitsAllStreams : verbs::Decisions {
  void pair_ending(PairEnd why, bool& ends) override {
    if (why == PairEnd::overflowed) ends = true;
  }
};

struct AbortLeavesTheConnection : verbs::Decisions {
  void pair_ending(PairEnd why, bool& ends) override {
    if (why == PairEnd::aborted) ends = false;
  }
};

constexpr RnicRow rows[] = {
    rnic_row<UnconnectedWorkSucceeds>(Deviation::unconnected_work_succeeds),
    rnic_row<WorkTakenAfterDisconnect>(Deviation::work_taken_after_disconnect),
    rnic_row<MessageLengthIn32Bits>(Deviation::message_length_in_32_bits),
    rnic_row<ReceiveDepthOneTooFew>(Deviation::receive_depth_one_too_few),
    rnic_row<SendCompletesBeforeSending>(Deviation::send_completes_before_sending),
    rnic_row<LongWriteCompletesBeforeSending>(Deviation::long_write_completes_before_sending),
    rnic_row<LateWorkNeverCompletes>(Deviation::late_work_never_completes),
    rnic_row<ChainGoesOn>(Deviation::chain_goes_on),
    rnic_row<BadRequestMisnamed>(Deviation::bad_request_misnamed),
    rnic_row<SharedEndpointNeedsADepth>(Deviation::shared_endpoint_needs_a_depth),
    rnic_row<InlineDataTakenLate>(Deviation::inline_data_taken_late),
    rnic_row<InlineDataOfWritesTakenLate>(Deviation::inline_data_of_writes_taken_late),
    rnic_row<InlineDataCut>(Deviation::inline_data_cut),
    rnic_row<SendDepthReportedTooSmall>(Deviation::send_depth_reported_too_small),
    rnic_row<ErrorStateNotReported>(Deviation::error_state_not_reported),
    rnic_row<AccessReportedInFull>(Deviation::access_reported_in_full),
    rnic_row<PlainAtomicsWithMasksExchanged>(Deviation::plain_atomics_with_masks_exchanged),
    rnic_row<ThirdPieceLeftOut>(Deviation::third_piece_left_out),
    rnic_row<UnsignaledWorkCutToPages>(Deviation::unsignaled_work_cut_to_pages),
    rnic_row<PageBoundaryRepeats>(Deviation::page_boundary_repeats),
    rnic_row<FenceOfSendsOnly>(Deviation::fence_of_sends_only),
    rnic_row<AtomicOriginalWithheld>(Deviation::atomic_original_withheld),
    rnic_row<ReceivePiecesReversed>(Deviation::receive_pieces_reversed),
    rnic_row<FirstLimitKept>(Deviation::first_limit_kept),
    rnic_row<SharedQueueArmsOnce>(Deviation::shared_queue_arms_once),
    rnic_row<SharedReceiveNotConsumed>(Deviation::shared_receive_not_consumed),
    rnic_row<OverflowHitsAllStreams>(Deviation::overflow_hits_all_streams),
    rnic_row<AbortLeavesTheConnection>(Deviation::abort_leaves_the_connection),
};

}  // namespace

std::span<const RnicRow> queue_pair_deviants() { return rows; }

}  // namespace rnic::deviants
