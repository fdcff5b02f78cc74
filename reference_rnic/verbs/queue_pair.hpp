// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue pair: the order of its work, the one completion of each request, and the flush at the
// end.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/fifo.hpp"
#include "reference_rnic/verbs/core.hpp"
#include "reference_rnic/verbs/queue_pair_state.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::verbs {

/// What a queue pair requires of the stream under it.
class StreamLink {
 public:
  virtual ~StreamLink() = default;
  virtual void post(stream::Work&& work, stream::TimePoint now) = 0;
  virtual void posted() = 0;  ///< after one or more post()
  virtual void receives_posted() = 0;
  virtual void close_from_pair() = 0;
  virtual void abort_from_pair() = 0;
  virtual void abandon() = 0;  ///< the queue pair is being destroyed
};

class QueuePair {
 public:
  QueuePair(Core& core, QueuePairHandle handle, const QueuePairAttributes& attributes)
      : core_(core), handle_(handle), attributes_(attributes) {}
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // -- the consumer's side --
  [[nodiscard]] std::expected<void, PostError> post_send(std::span<const SendRequest> requests);
  [[nodiscard]] std::expected<void, PostError> post_receive(
      std::span<const ReceiveRequest> requests);
  /// There are receives again: its own, or those of its shared queue.
  void receives_posted();
  [[nodiscard]] std::expected<void, Error> close();
  void abort();
  [[nodiscard]] std::expected<void, Error> reset();
  [[nodiscard]] QueuePairInfo info() const;
  [[nodiscard]] const QueuePairAttributes& attributes() const { return attributes_; }
  [[nodiscard]] Requester requester() const {
    return {attributes_.domain, handle_, attributes_.access};
  }
  void set_access(const Access& access) { attributes_.access = access; }
  [[nodiscard]] bool uses(CompletionQueueHandle queue) const {
    return attributes_.send_completions == queue || attributes_.receive_completions == queue;
  }

  // -- the stream's side --
  [[nodiscard]] bool attach(StreamLink& link);
  void established() { move(StateInput::established); }
  void closing() { move(StateInput::close_asked); }
  /// True if the stream must not go on after this.
  [[nodiscard]] bool work_done(const stream::WorkDone& event);
  void message_received(const stream::MessageReceived& event);
  void receive_failed(const stream::ReceiveFailed& event);
  void terminate_received(wire::TerminateCause cause);
  void stream_failed(wire::TerminateCause cause, const std::string& detail);
  void stream_lost();
  /// After all other events: after a fault no message can arrive, so receives need not wait for the
  /// peer to close (RFC 5040 section 6.2.1). The stream flushes the sends.
  void flush_after_fault();
  /// Issues what waited for local work, if the stream has executed that.
  void go_on();
  /// Nothing more comes from the stream: work that is still posted is flushed. A stream that has
  /// `closed` has reported the end of all work that it had.
  void stream_ended(bool closed);

  // -- memory for the stream (invalidation.cpp, queue_pair_receive.cpp, queue_pair_send.cpp) --
  [[nodiscard]] std::expected<void, stream::MemoryFault> invalidate_by_peer(std::uint32_t stag);
  [[nodiscard]] std::optional<stream::ReceiveBuffer> take_receive();
  [[nodiscard]] bool perform_local(std::uint64_t work_id);

 private:
  /// A request of the send queue, from posting to its completion.
  struct Sent {
    SendRequest request;
    std::uint64_t id = 0;  ///< for the stream
    std::vector<std::byte> inline_octets{};
    bool done = false;
    Status status = Status::success;
    std::uint32_t length = 0;
    /// Found before the stream got it; it fails when its turn comes.
    std::optional<Status> fault{};
  };
  struct Taken {
    ReceiveRequest request;
    std::uint64_t id = 0;
  };

  void move(StateInput input);
  /// Raises the event that goes with the event.
  void raise(StreamChange change, std::optional<AsyncEvent> event);
  /// Gives the consumer the completion that goes with the event, if any is due.
  void report(WorkEvent event, CompletionQueueHandle queue,
              const std::optional<Completion>& completion);

  // The send queue (queue_pair_send.cpp)
  [[nodiscard]] std::optional<Error> refuse(const SendRequest& request) const;
  [[nodiscard]] std::optional<Error> refuse(const BindRequest& request) const;
  [[nodiscard]] std::optional<Error> refuse(const RegisterRequest& request) const;
  void take_inline(Sent& sent) const;
  void issue();
  void give_to_stream(Sent& sent, stream::TimePoint now);
  [[nodiscard]] stream::Work work_for(Sent& sent);
  [[nodiscard]] std::optional<Status> fill(stream::Work& work, const SendRequest& request);
  [[nodiscard]] std::optional<Status> gather(stream::Work& work, const SendRequest& request);
  [[nodiscard]] Sent* find_sent(std::uint64_t id);
  void store_original(const Sent& sent, std::uint64_t original);
  void finish(Sent& sent, Status status);
  void retire();
  void complete_sent(const Sent& sent);
  void flush_sends(std::size_t first);

  // The receive queue (queue_pair_receive.cpp)
  [[nodiscard]] std::optional<Error> refuse(const ReceiveRequest& request) const;
  [[nodiscard]] std::optional<ReceiveRequest> next_receive();
  [[nodiscard]] std::optional<ReceiveRequest> give_back(std::uint64_t id);
  void complete_receive(const ReceiveRequest& request, Completion completion, bool taken);
  void flush_receives();

  // Work that the RNIC itself executes (fast_registration.cpp, memory_window.cpp, invalidation.cpp)
  [[nodiscard]] bool register_region(const RegisterRequest& request);
  [[nodiscard]] bool bind(const BindRequest& request);
  [[nodiscard]] bool invalidate_locally(std::uint32_t stag);

  Core& core_;
  QueuePairHandle handle_;
  QueuePairAttributes attributes_;
  QueuePairState state_ = QueuePairState::idle;
  StreamLink* link_ = nullptr;
  base::Fifo<Sent> sends_;
  std::size_t issued_ = 0;  ///< of sends_, how many the stream has
  /// Local work that the stream has and has not executed: what follows may depend on it.
  std::optional<std::uint64_t> local_work_;
  bool broken_ = false;  ///< a request failed: those after it are flushed
  base::Fifo<ReceiveRequest> receives_;
  base::Fifo<Taken> taken_;  ///< the stream has their buffers
  std::uint64_t next_id_ = 1;
};

}  // namespace rnic::verbs
