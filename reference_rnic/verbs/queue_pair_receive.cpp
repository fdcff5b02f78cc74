// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receive queue, or the shared one: buffers handed to the stream, and their completions.
#include <algorithm>
#include <utility>

#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

std::expected<void, PostError> QueuePair::post_receive(std::span<const ReceiveRequest> requests) {
  for (const ReceiveRequest& request : requests) {
    const std::size_t i = index_in(requests, request);
    if (attributes_.shared_queue) return std::unexpected(PostError{Error::invalid_parameter, i});
    if (const auto error = fault_in(request, attributes_.max_pieces))
      return std::unexpected(PostError{*error, i});
    if (receives_.size() + taken_.size() +
            (core_.deviates(stream::Deviation::receive_depth_one_too_few) ? 1 : 0) >=
        attributes_.receive_depth)
      return std::unexpected(PostError{Error::queue_full, i});
    receives_.push_back(request);
  }
  if (state_ == QueuePairState::error || state_ == QueuePairState::terminate) flush_receives();
  return {};
}

std::optional<ReceiveRequest> QueuePair::next_receive() {
  if (SharedQueue* shared = core_.shared_queues.find(attributes_.shared_queue)) {
    auto taken = shared->take();
    if (!taken) return std::nullopt;
    if (core_.deviates(stream::Deviation::shared_receive_not_consumed))
      shared->waiting.push_front(taken->request);
    if (taken->limit_passed)
      core_.raise({.kind = AsyncKind::shared_queue_limit,
                   .shared_queue = shared->handle,
                   .detail = "fewer receives wait than the limit"});
    return std::move(taken->request);
  }
  if (receives_.empty()) return std::nullopt;
  ReceiveRequest request = std::move(receives_.front());
  receives_.pop_front();
  return request;
}

std::optional<stream::ReceiveBuffer> QueuePair::take_receive() {
  auto request = next_receive();
  if (!request) return std::nullopt;
  stream::ReceiveBuffer buffer;
  for (const Piece& piece : request->pieces) {
    if (piece.length == 0) continue;
    const auto octets =
        core_.tags.resolve(requester(), piece.stag, piece.offset, piece.length, Need::local_write);
    if (!octets) {
      complete_receive(*request, {.status = Status::local_protection});
      return std::nullopt;
    }
    buffer.pieces.push_back(*octets);
    buffer.capacity += piece.length;
  }
  if (core_.deviates(stream::Deviation::receive_pieces_reversed))
    std::ranges::reverse(buffer.pieces);
  buffer.work_id = next_id_++;
  if (core_.deviates(stream::Deviation::receive_completes_before_placement))
    complete_receive(*request, {.length = static_cast<std::uint32_t>(buffer.capacity)});
  else
    taken_.emplace_back(std::move(*request), buffer.work_id);
  return buffer;
}

auto QueuePair::give_back(std::uint64_t id) -> const Taken* {
  const auto found = std::ranges::find(taken_, id, &Taken::id);
  if (found != taken_.end()) {
    given_back_ = std::move(*found);
    taken_.erase(found);
  }
  return given_back_.id == id ? &given_back_
                              : nullptr;  // the same again only if a deviation delivers twice
}

void QueuePair::message_received(const stream::MessageReceived& news) {
  using stream::Deviation;
  const Taken* taken = give_back(news.work_id);
  if (taken == nullptr) return;  // only a deviation has completed it before
  Completion completion{.status = Status::success,
                        .length = static_cast<std::uint32_t>(news.length),
                        .invalidated = news.invalidated,
                        .immediate = news.immediate,
                        .solicited = is_solicited(news.opcode)};
  if (core_.deviates(Deviation::receive_length_wrong))
    completion.length = static_cast<std::uint32_t>(total_length(taken->request.pieces));
  if (completion.immediate && core_.deviates(Deviation::immediate_data_withheld))
    completion.immediate.reset();
  if (core_.deviates(Deviation::solicited_event_lost)) completion.solicited = false;
  if (news.immediate && core_.deviates(Deviation::immediate_without_completion)) return;
  if (!core_.decisions.conforming()) {
    const bool late =
        core_.deviates(Deviation::receives_complete_out_of_order) ||
        (news.length > 1024 && core_.deviates(Deviation::long_message_delivered_late));
    if (late && !held_back_) {
      completion.id = taken->request.id;
      held_back_ = completion;
      return;
    }
  }
  complete_receive(taken->request, completion);
  if (!core_.decisions.conforming()) {
    if (!held_back_) return;
    const Completion earlier = *std::exchange(held_back_, std::nullopt);
    complete_receive({.id = earlier.id, .pieces = {}}, earlier);
  }
}

void QueuePair::receive_failed(const stream::ReceiveFailed& news) {
  const Taken* taken = give_back(news.work_id);
  if (taken == nullptr) return;  // only a deviation has completed it before
  complete_receive(taken->request,
                   {.status = news.too_long ? Status::local_length : Status::flushed});
}

void QueuePair::complete_receive(const ReceiveRequest& request, Completion completion) {
  if (completion.status == Status::flushed && core_.deviates(stream::Deviation::receive_flush_lost))
    return;
  completion.id = request.id;
  completion.queue_pair = handle_;
  completion.operation = Operation::receive;
  core_.complete(attributes_.receive_completions, completion);
}

void QueuePair::flush_receives() {
  while (!taken_.empty()) {
    const Taken taken = std::move(taken_.front());
    taken_.pop_front();
    complete_receive(taken.request, {.status = Status::flushed});
  }
  while (!receives_.empty()) {
    const ReceiveRequest request = std::move(receives_.front());
    receives_.pop_front();
    complete_receive(request, {.status = Status::flushed});
  }
}

}  // namespace rnic::verbs
