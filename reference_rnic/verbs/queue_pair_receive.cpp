// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receive queue, or the shared one: buffers given to the stream, and their completions.
#include <algorithm>
#include <utility>

#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

std::expected<void, PostError> QueuePair::post_receive(std::span<const ReceiveRequest> requests) {
  const auto result = core_.post_list(
      requests, [this](const ReceiveRequest& request) { return refuse(request); },
      [this](const ReceiveRequest& request) { receives_.push_back(request); });
  if (state_ == QueuePairState::error || state_ == QueuePairState::terminate) flush_receives();
  receives_posted();
  return result;
}

std::optional<Error> QueuePair::refuse(const ReceiveRequest& request) const {
  if (attributes_.shared_queue) return Error::invalid_parameter;
  if (const auto error = fault_in(request, attributes_.max_pieces)) return error;
  const bool full =
      receives_.size() + taken_.size() >= core_.receives_held(attributes_.receive_depth);
  return full ? std::optional(Error::queue_full) : std::nullopt;
}

void QueuePair::receives_posted() {
  if (link_ != nullptr) link_->receives_posted();
}

std::optional<ReceiveRequest> QueuePair::next_receive() {
  if (SharedQueue* shared = core_.shared_queues.find(attributes_.shared_queue)) {
    bool last = false, limit_reported = true;
    core_.decisions.ask(&Decisions::shared_receive_taken, last, limit_reported);
    auto taken = shared->take(last);
    if (!taken) return std::nullopt;
    // sec.resources.shared-receive-overuse-detected
    if (taken->limit_passed && limit_reported)
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
      complete_receive(*request, {.status = Status::local_protection}, false);
      return std::nullopt;
    }
    buffer.pieces.push_back(*octets);
    buffer.capacity += piece.length;
  }
  buffer.work_id = next_id_++;
  // rdmap.send.consumes-one-buffer
  bool leaves = true;
  core_.decisions.ask(&Decisions::receive_taken, buffer, leaves);
  if (SharedQueue* shared = core_.shared_queues.find(attributes_.shared_queue);
      shared != nullptr && !leaves)
    shared->waiting.push_front(*request);
  report({.moment = WorkEvent::Moment::receive_taken, .id = request->id, .room = buffer.capacity},
         attributes_.receive_completions, std::nullopt);
  taken_.emplace_back(std::move(*request), buffer.work_id);
  return buffer;
}

std::optional<ReceiveRequest> QueuePair::give_back(std::uint64_t id) {
  const auto found = std::ranges::find(taken_, id, &Taken::id);
  if (found == taken_.end()) return std::nullopt;
  ReceiveRequest request = std::move(found->request);
  taken_.erase(found);
  return request;
}

void QueuePair::message_received(const stream::MessageReceived& event) {
  const auto request = give_back(event.work_id);
  if (!request) return;
  complete_receive(*request,
                   {.status = Status::success,
                    .length = static_cast<std::uint32_t>(event.length),
                    .invalidated = event.invalidated,
                    .immediate = event.immediate,
                    .solicited = is_solicited(event.opcode)},
                   true);
}

void QueuePair::receive_failed(const stream::ReceiveFailed& event) {
  const auto request = give_back(event.work_id);
  if (!request) return;
  complete_receive(*request, {.status = event.too_long ? Status::local_length : Status::flushed},
                   true);
}

void QueuePair::complete_receive(const ReceiveRequest& request, Completion completion, bool taken) {
  completion.id = request.id;
  completion.queue_pair = handle_;
  completion.operation = Operation::receive;
  report({.id = request.id, .room = total_length(request.pieces), .taken = taken},
         attributes_.receive_completions, completion);
}

void QueuePair::flush_receives() {
  while (!taken_.empty()) {
    const Taken taken = std::move(taken_.front());
    taken_.pop_front();
    complete_receive(taken.request, {.status = Status::flushed}, true);
  }
  while (!receives_.empty()) {
    const ReceiveRequest request = std::move(receives_.front());
    receives_.pop_front();
    complete_receive(request, {.status = Status::flushed}, false);
  }
}

}  // namespace rnic::verbs
