// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receiving side of untagged messages (RFC 5041 sections 4.3 and 7.1): four queues, each with
// its MSN and its buffer.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/read_queue.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::stream {

class UntaggedReceive {
 public:
  UntaggedReceive(Context& context, SendQueue& send_queue, const ReadQueue& read_queue);

  using Places = std::span<const wire::MutableBytes>;
  /// Checks the segment and says where its payload goes. `rtr`: it is an RTR indication and takes
  /// no receive buffer.
  [[nodiscard]] std::expected<Places, Fault> begin(const IncomingSegment& incoming, bool rtr);

  /// Where the last `left` octets of the payload of `incoming`, begun before, go. The buffer is
  /// ours until it is delivered.
  [[nodiscard]] Places rest(const IncomingSegment& incoming, std::size_t left);

  /// A message whose last segment is in place.
  struct Delivered {
    wire::Queue queue = wire::Queue::send;
    std::size_t length = 0;
    wire::Bytes octets;  ///< of messages that RDMAP itself takes, and of Immediate Data
    std::optional<std::uint64_t> work_id;  ///< of the receive buffer, if the message took one
  };
  /// The payload of `incoming`, begun before, is in place. Yields the message that it completes, if
  /// it does.
  [[nodiscard]] std::optional<Delivered> end(const IncomingSegment& incoming);

  /// A message that is not taken counts all the same; only a deviation goes on behind one.
  void skip(const IncomingSegment& incoming);

  /// The receive buffer in use, which will not be filled any more.
  [[nodiscard]] std::optional<ReceiveFailed> give_up();

 private:
  struct QueueState {
    std::uint32_t expected = 1;  ///< MSN of the message in progress or of the next one
    bool open = false;           ///< a message is in progress
    wire::Opcode opcode = wire::Opcode::send;
    std::optional<ReceiveBuffer> buffer;
    std::array<std::byte, wire::max_terminate_size> own{};  ///< no other of our own is longer
    std::size_t capacity = 0;
    std::size_t next_offset = 0;  ///< behind the segment that came last
    bool spoiled = false;         ///< a deviation does not deliver what is in progress
  };
  [[nodiscard]] QueueState& state_of(const IncomingSegment& incoming);
  [[nodiscard]] std::optional<Fault> open(QueueState& state, const IncomingSegment& incoming,
                                          bool rtr);
  [[nodiscard]] std::optional<Fault> open_send(QueueState& state, const IncomingSegment& incoming,
                                               bool rtr);
  [[nodiscard]] std::optional<Fault> check_offset(const QueueState& state,
                                                  const IncomingSegment& incoming);
  void note_oddities(QueueState& state, const IncomingSegment& incoming);
  void slice(QueueState& state, std::size_t from, std::size_t length);

  Context& context_;
  SendQueue& send_queue_;
  const ReadQueue& read_queue_;
  std::array<QueueState, 4> queues_;
  std::vector<wire::MutableBytes> places_;
  bool too_long_ = false;
};

}  // namespace rnic::stream
