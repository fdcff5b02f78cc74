// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receiving side of untagged messages (RFC 5041 sections 4.3 and 7.1): four queues, each with
// its MSN and its buffer.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "reference_rnic/stream/delivered_message.hpp"
#include "reference_rnic/stream/incoming.hpp"
#include "reference_rnic/stream/read_queue.hpp"

namespace rnic::stream {

class UntaggedReceive {
 public:
  UntaggedReceive(Context& context, SendQueue& send_queue, const ReadQueue& read_queue);

  using Places = std::span<const wire::MutableBytes>;
  /// Checks the segment and returns where its payload goes. Fills in the capacity.
  [[nodiscard]] std::expected<Places, Fault> begin(Incoming& incoming);

  /// Where the last `left` octets of the payload of `incoming`, for which begin() was called, go.
  /// The buffer is ours until it is delivered.
  [[nodiscard]] Places rest(const Incoming& incoming, std::size_t left);

  /// The payload of `incoming`, for which begin() was called, is in place or dropped. Returns the
  /// message that it completes, if any.
  [[nodiscard]] std::optional<DeliveredMessage> end(const Incoming& incoming);

  /// Whether `incoming` begins a message without a receive buffer.
  [[nodiscard]] bool lacks_buffer(const Incoming& incoming);

  /// The receive buffer in use, which can no longer be filled.
  [[nodiscard]] std::optional<ReceiveFailed> give_up();

 private:
  struct QueueState {
    std::uint32_t expected = 1;  ///< MSN of the message in progress or of the next one
    bool open = false;           ///< a message is in progress
    wire::Opcode opcode = wire::Opcode::send;
    /// Of a message that no buffer of the consumer receives: a Request, a Terminate, Immediate Data.
    std::vector<std::byte> own;
    std::size_t capacity = 0;
  };
  [[nodiscard]] QueueState& state_of(const Incoming& incoming);
  [[nodiscard]] std::optional<Fault> open(QueueState& state, const Incoming& incoming);
  [[nodiscard]] std::optional<Fault> open_send(QueueState& state, const Incoming& incoming);
  [[nodiscard]] std::optional<Fault> check_offset(const Incoming& incoming);
  [[nodiscard]] bool has_buffer(const QueueState& state) const {
    return buffer_ && &state == queues_.data();
  }
  [[nodiscard]] bool takes_buffer(const QueueState& state) const;
  void close(QueueState& state);
  void slice(QueueState& state, std::size_t from, std::size_t length);

  Context& context_;
  SendQueue& send_queue_;
  const ReadQueue& read_queue_;
  std::vector<wire::MutableBytes>& places_;  ///< of the segment looked at last
  std::array<QueueState, 4> queues_;
  std::optional<ReceiveBuffer> buffer_;  ///< of the message in progress on the queue of Sends
  bool too_long_ = false;
  /// The buffer that lacks_buffer() has taken for the next message.
  std::optional<ReceiveBuffer> reserved_;
};

}  // namespace rnic::stream
